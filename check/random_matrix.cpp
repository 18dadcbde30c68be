#include "check/random_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "check/blas.hpp"
#include "check/elements.hpp"
#include "model/base/error.hpp"
#include "model/base/threads.hpp"

namespace tilerail {
namespace {

constexpr int poison_byte = 0xFF;  // all bytes set: a NaN in every type

/// The index-th number of a seed's sequence, uniform in [-1, 1].
/// Source: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
/// Generators, 2014).
double uniform(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return double(z >> 11) * 0x1p-52 - 1.0;
}

/// Calls work(begin, end) for slices of [0, cols) on all cores; small matrices stay on
/// the caller's core.
void for_columns(int64_t cols, int64_t bytes,
                 const std::function<void(int64_t, int64_t)>& work) {
  constexpr int64_t worth_a_thread = 1 << 20;
  const int64_t parts = std::clamp(std::min(bytes / worth_a_thread, cols), int64_t{1},
                                   int64_t(usable_cores().size()));
  share_work(size_t(parts), [&](size_t part) {
    const auto p = int64_t(part);
    work(cols * p / parts, cols * (p + 1) / parts);
  });
}

}  // namespace

RandomMatrix::RandomMatrix(int64_t rows, int64_t cols, int64_t ld, DType dtype,
                           uint64_t seed)
    : rows_{rows}, cols_{cols}, ld_{ld}, dtype_{dtype}, seed_{seed} {
  host::require_executable(dtype);
  constexpr double most = 0x1p62;
  const double wanted = double(ld) * double(cols) * double(element_size(dtype));
  constexpr int64_t page_bytes = 4096;
  if (wanted < most) {
    const int64_t pages = ld * cols * element_size(dtype) / page_bytes + 1;
    data_.reset(static_cast<std::byte*>(
        std::aligned_alloc(page_bytes, size_t(pages * page_bytes))));
  }
  if (!data_) {
    throw InputError{"matrix", fmt::format("{} x {} {}", ld, cols, to_string(dtype)),
                     "needs more memory than this machine has"};
  }
  fill();
}

std::byte* RandomMatrix::element(int64_t row, int64_t col) const {
  return data_.get() + (row + col * ld_) * element_size(dtype_);
}

double RandomMatrix::original(int64_t row, int64_t col) const {
  const double value = uniform(seed_, uint64_t(row + col * rows_));
  return with_element(
      dtype_, [&](auto zero) { return double(static_cast<decltype(zero)>(value)); });
}

double RandomMatrix::at(int64_t row, int64_t col) const {
  return with_element(dtype_, [&](auto zero) {
    return double(*reinterpret_cast<const decltype(zero)*>(element(row, col)));
  });
}

void RandomMatrix::fill() {
  for_columns(cols_, ld_ * cols_ * element_size(dtype_),
              [this](int64_t begin, int64_t end) {
                for (int64_t j = begin; j < end; ++j) {
                  for (int64_t i = 0; i < rows_; ++i)
                    with_element(dtype_, [&](auto value) {
                      value = static_cast<decltype(value)>(original(i, j));
                      std::memcpy(element(i, j), &value, sizeof value);
                    });
                  std::memset(element(rows_, j), poison_byte,
                              size_t((ld_ - rows_) * element_size(dtype_)));
                }
              });
}

void RandomMatrix::fill_poison() {
  std::memset(data_.get(), poison_byte, size_t(ld_ * cols_ * element_size(dtype_)));
}

bool RandomMatrix::elements_untouched() const {
  for (int64_t j = 0; j < cols_; ++j) {
    for (int64_t i = 0; i < rows_; ++i) {
      if (at(i, j) != original(i, j)) return false;
    }
  }
  return true;
}

bool RandomMatrix::padding_untouched() const {
  const int64_t bytes = (ld_ - rows_) * element_size(dtype_);
  for (int64_t j = 0; j < cols_; ++j) {
    const std::byte* padding = element(rows_, j);
    if (!std::all_of(padding, padding + bytes,
                     [](std::byte b) { return b == std::byte{poison_byte}; }))
      return false;
  }
  return true;
}

}  // namespace tilerail
