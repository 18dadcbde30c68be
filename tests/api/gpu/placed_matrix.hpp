#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "model/problem.hpp"

namespace tilerail::test {

/// Every kind of memory in which a caller can store a matrix.
enum class MemoryKind {
  pageable,
  pinned,
  registered,
  managed,
  device,
  default_pool,
  own_pool
};
inline constexpr MemoryKind memory_kinds[] = {
    MemoryKind::pageable, MemoryKind::pinned, MemoryKind::registered,
    MemoryKind::managed,  MemoryKind::device, MemoryKind::default_pool,
    MemoryKind::own_pool};
const char* name_of(MemoryKind kind);

/// A column-major matrix in memory of one kind. `given` is its initial content: random
/// elements (or NaNs, if poisoned) and NaNs in the padding rows.
class PlacedMatrix {
 public:
  PlacedMatrix(int64_t rows, int64_t cols, int64_t ld, DType dtype, MemoryKind kind,
               int device, bool poison, std::mt19937_64& random);
  ~PlacedMatrix();
  PlacedMatrix(const PlacedMatrix&) = delete;
  PlacedMatrix& operator=(const PlacedMatrix&) = delete;

  template <class Element>
  Element* data() const {
    return static_cast<Element*>(data_);
  }
  size_t bytes() const { return given.size(); }
  std::vector<std::byte> fetch() const;
  /// Elements of `bytes` without padding, as doubles.
  std::vector<double> values(const std::vector<std::byte>& bytes) const;

  const int64_t rows, cols, ld;
  const DType dtype;
  std::vector<std::byte> given;

 private:
  void allocate(size_t bytes);

  MemoryKind kind_;
  int device_;
  void* data_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace tilerail::test
