#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/hardware.hpp"

namespace tilerail::api {

/// Inputs that a caller keeps on GPUs between calls, and their copies.
/// docs/model.md#kept-copies
class KeptMatrices {
 public:
  /// Gives each of these GPUs a copy of the matrix in its present state. First drops kept
  /// matrices that share elements with it, because they may have changed, too. Throws
  /// MemoryShortage, and then keeps nothing of it.
  void keep(Hardware& hardware, const Matrix& matrix, std::span<const MemoryId> gpus);
  /// Throws InputError for an address that is not kept.
  void release(const void* data);

  /// A part of a kept matrix, in each of its copies.
  struct Part {
    int64_t ld = 0;
    std::vector<tilerail::Matrices::Copy> copies;  // in the order of the requested GPUs
    std::optional<tilerail::Matrices::Copy> on(MemoryId gpu) const;
  };
  /// The part that equals this matrix, with the same elements and leading dimension, if
  /// each of these GPUs has a copy of it.
  std::optional<Part> part(const Matrix& matrix, std::span<const MemoryId> gpus) const;
  /// Whether it shares elements with a kept matrix.
  bool overlaps(const Matrix& matrix) const;

 private:
  struct KeptMatrix {
    Matrix original;
    int64_t ld = 0;  // of the copies
    struct Replica {
      MemoryId gpu;
      std::shared_ptr<void> data;
    };
    std::vector<Replica> copies;
  };

  std::vector<KeptMatrix> kept_;
};

}  // namespace tilerail::api
