#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "model/problem.hpp"

namespace tilerail {

/// A column-major matrix of f64 or f32 in memory whose elements are uniform in [-1, 1]
/// and depend on the seed, the row and the column only: what was put there can be told
/// again later without a copy. The rows beyond `rows` of each column (padding, when ld >
/// rows) hold NaNs: reading them spoils a result, writing them shows.
class RandomMatrix {
 public:
  /// Allocates and fills. Pages are first touched from all cores, which spreads them over
  /// the NUMA nodes. Throws InputError when the dtype is neither f64 nor f32 or the
  /// memory is not to be had.
  RandomMatrix(int64_t rows, int64_t cols, int64_t ld, DType dtype, uint64_t seed);

  void fill();         // the random elements, and NaNs in the padding
  void fill_poison();  // NaNs everywhere

  /// Whether every element is as fill() made it.
  bool elements_untouched() const;
  /// Whether the padding is as fill() or fill_poison() made it.
  bool padding_untouched() const;

  void* data() const { return data_.get(); }
  double at(int64_t row, int64_t col) const;        // as it is now
  double original(int64_t row, int64_t col) const;  // as fill() makes it
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t ld() const { return ld_; }
  DType dtype() const { return dtype_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::byte* element(int64_t row, int64_t col) const;

  int64_t rows_, cols_, ld_;
  DType dtype_;
  uint64_t seed_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace tilerail
