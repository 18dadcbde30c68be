#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/hardware.hpp"

namespace tilerail::api {

/// Inputs that a caller has told to keep on GPUs between calls, and the copies that GPUs
/// have of them. docs/model.md#kept-copies
class KeptMatrices {
 public:
  /// Gives each of these GPUs a copy of the matrix as it is now. What was kept and shares
  /// elements with it is given up first, since it may have changed, too. Throws
  /// MemoryShortage, and then keeps nothing of it.
  void keep(Hardware& hardware, const Matrix& matrix, std::span<const MemoryId> gpus);
  /// Throws InputError for an address that is not kept.
  void release(const void* data);

  /// The same part of the copies as a part of what is kept.
  struct Part {
    int64_t ld = 0;
    std::vector<tilerail::Matrices::Copy>
        copies;  // in the order of the GPUs that were asked for
    std::optional<tilerail::Matrices::Copy> on(MemoryId gpu) const;
  };
  /// Of a matrix that is part of one that each of these GPUs has a copy of: same
  /// elements, same leading dimension.
  std::optional<Part> part(const Matrix& matrix, std::span<const MemoryId> gpus) const;
  /// Whether it has elements in common with what is kept.
  bool overlaps(const Matrix& matrix) const;

 private:
  struct Kept {
    Matrix original;
    int64_t ld = 0;  // of the copies
    struct Owned {
      MemoryId gpu;
      std::shared_ptr<void> data;
    };
    std::vector<Owned> copies;
  };

  std::vector<Kept> kept_;
};

}  // namespace tilerail::api
