#include "check/row_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>
#include <vector>

#include "check/elements.hpp"
#include "check/rounding.hpp"
#include "model/base/indices.hpp"
#include "model/base/threads.hpp"

namespace tilerail {
namespace {

double value_at(const std::byte* matrix, int64_t index, DType dtype) {
  return with_element(dtype, [&](auto value) {
    std::memcpy(&value, matrix + index * element_size(dtype), sizeof value);
    return double(value);
  });
}

double largest_of(DType dtype) {
  return with_element(dtype, [](auto zero) {
    return double(std::numeric_limits<decltype(zero)>::max());
  });
}

class Checker {
 public:
  Checker(const GemmProblem& p, const MatrixBytes& matrices, int64_t every, uint64_t seed)
      : p_{p}, m_{matrices}, precision_{p} {
    std::mt19937_64 random{seed};
    for (int64_t begin = 0; begin < p.m; begin += every) {
      const int64_t count = std::min(every, p.m - begin);
      rows_.push_back(begin + int64_t(random() % uint64_t(count)));
    }
    const auto depth = size_t(p.k);
    a_.resize(rows_.size() * depth);
    for (const auto r : indices(rows_))
      for (int64_t k = 0; k < p.k; ++k)
        a_[r * depth + size_t(k)] = value_at(
            m_.a, p.trans_a == Trans::no ? rows_[r] + k * p.lda : k + rows_[r] * p.lda,
            p.dtype);
    result_.rows = int64_t(rows_.size());
  }

  RowCheck run() {
    share_work(usable_cores().size(), [this](size_t) {
      std::vector<double> b(size_t(p_.k));
      for (int64_t j = next_++; j < p_.n; j = next_++) column(j, b);
    });
    return result_;
  }

 private:
  void column(int64_t j, std::vector<double>& b) {
    for (int64_t k = 0; k < p_.k; ++k)
      b[size_t(k)] =
          p_.has_b()
              ? value_at(m_.b, p_.trans_b == Trans::no ? k + j * p_.ldb : j + k * p_.ldb,
                         p_.dtype)
              : 1;
    for (const auto r : indices(rows_)) element(r, j, b);
  }

  void element(size_t r, int64_t j, const std::vector<double>& b) {
    const double* a = a_.data() + r * size_t(p_.k);
    double sum = 0, absolute = 0, largest = 0;
    for (int64_t k = 0; k < p_.k; ++k) {
      const double product = a[k] * b[size_t(k)];
      sum += product, absolute += std::abs(product);
      largest = std::max(largest, std::abs(sum));
    }
    const int64_t index = rows_[r] + j * p_.ldc;
    const double in = p_.beta == 0 ? 0 : value_at(m_.c_in, index, p_.dtype),
                 before = p_.beta / unit_ * in;
    const double expected = stored(p_.alpha * sum + p_.beta * in),
                 computed = value_at(m_.c, index, p_.dtype);
    const double factor = std::abs(p_.alpha / unit_);
    absolute *= factor, largest = factor * largest + std::abs(before);
    const double gamma = element_bound(p_, precision_.sums);
    const double bound = gamma * (absolute + std::abs(before)) +
                         2 * precision_.inputs * absolute +
                         3 * precision_.stores * largest;
    note(residual_of(computed / unit_, expected / unit_, bound), rows_[r], j, computed,
         expected);
  }

  /// Values above the type's largest become infinite.
  double stored(double value) const {
    const double most = largest_of(p_.dtype);
    return std::abs(value) > most
               ? std::copysign(std::numeric_limits<double>::infinity(), value)
               : value;
  }

  void note(double residual, int64_t row, int64_t col, double computed, double expected) {
    if (residual <= worst_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock{mutex_};
    if (residual <= result_.residual) return;
    worst_ = residual;
    result_.residual = residual, result_.row = row, result_.col = col;
    result_.computed = computed, result_.expected = expected;
  }

  const GemmProblem& p_;
  const MatrixBytes& m_;
  Precision precision_;
  double unit_ = unit_of(p_);
  std::vector<int64_t> rows_;
  std::vector<double> a_;  // the checked rows of op(A)
  std::atomic<int64_t> next_{0};
  std::atomic<double> worst_{0};
  std::mutex mutex_;
  RowCheck result_;
};

}  // namespace

std::string RowCheck::summary() const {
  return fmt::format(
      "{} rows: largest difference {:.3g} of its bound at ({}, {}): {:.17g}, expected "
      "{:.17g}",
      rows, residual, row, col, computed, expected);
}

RowCheck check_rows(const GemmProblem& problem, const MatrixBytes& matrices,
                    int64_t every, uint64_t seed) {
  if (problem.m == 0 || problem.n == 0) return {};
  return Checker{problem, matrices, every, seed}.run();
}

}  // namespace tilerail
