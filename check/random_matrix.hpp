#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "model/problem.hpp"

namespace tilerail {

/// A column-major matrix whose elements are uniform in [-1, 1] and depend
/// only on seed, row and column, so originals are available without a copy. The padding
/// (rows beyond `rows`, if ld > rows) contains NaNs: reads of it spoil the result, writes
/// to it are detected.
class RandomMatrix {
 public:
  /// Allocates and fills. All cores touch pages first, which spreads them over the NUMA
  /// nodes. Throws InputError for tf32, or if memory is short.
  RandomMatrix(int64_t rows, int64_t cols, int64_t ld, DType dtype, uint64_t seed);

  void fill();         // the random elements, and NaNs in the padding
  void fill_poison();  // NaNs everywhere

  /// Whether every element has its value from fill().
  bool elements_untouched() const;
  /// Whether the padding has its value from fill() or fill_poison().
  bool padding_untouched() const;

  void* data() const { return data_.get(); }
  double at(int64_t row, int64_t col) const;        // current value
  double original(int64_t row, int64_t col) const;  // value from fill()
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
