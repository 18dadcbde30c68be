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
  /// Drops kept matrices that share elements with this one: they may have changed, too.
  void drop(const Matrix& matrix);
  /// Adds a matrix with its copies on these GPUs, of this leading dimension.
  void add(const Matrix& matrix, int64_t ld, std::span<const MemoryId> gpus,
           std::vector<std::shared_ptr<void>> copies);
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
