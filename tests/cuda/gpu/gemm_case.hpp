#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "model/problem.hpp"

namespace tilerail::test {

/// Elements of a dtype as doubles, and back with one rounding.
double to_double(const std::byte* element, DType dtype);
void from_double(double value, std::byte* element, DType dtype);

/// n x n x n in f64, all matrices on the host.
GemmProblem square(int64_t n, double alpha = 1, double beta = 1);

/// Sizes from 1 to `longest` (k from `least_k`), any type, transposes, special and other
/// scalars, minimal and larger leading dimensions; all matrices on the host.
GemmProblem random_problem(std::mt19937_64& random, int longest, int least_k);

/// The random matrices of one problem, in host memory and at the places of the problem; C
/// and its copy are poisoned if beta == 0.
class CudaGemmCase {
 public:
  /// `problem` must come from `checked`; `executor` provides the devices.
  CudaGemmCase(const GemmProblem& problem, const CudaExecutor& executor, uint64_t seed);
  ~CudaGemmCase();
  CudaGemmCase(const CudaGemmCase&) = delete;
  CudaGemmCase& operator=(const CudaGemmCase&) = delete;

  Matrices matrices() const { return {a_.there, b_.there, c_.there}; }

  /// Restores C before the first run.
  void reset_c();

  /// Empty if every element of C is within its bound and nothing else was written, else
  /// the error.
  ///   |C - Ref| <= (gamma(k + 2, u32 or u64) + (steps + 1) u + 2 u_in) S,
  ///   S = |alpha| |op(A)| |op(B)| + |beta C|:
  /// sums in f64 or f32, one rounding to the dtype after each of `steps` products along k
  /// and at the end, and inputs rounded to TF32's mantissa for tf32.
  std::string mismatch(int64_t steps);

  /// rms(C - Ref) / rms(round(Ref) - Ref); `round` rounds to the dtype.
  double relative_error();

 private:
  struct Matrix {
    int64_t rows = 0, cols = 0, ld = 0;
    std::vector<std::byte> host;
    std::byte* there = nullptr;
    bool pinned = false;
  };
  void fill(const Matrix& matrix) const;
  Matrix make(int64_t rows, int64_t cols, int64_t ld, MemoryId place, bool poison);
  std::vector<double> values(const Matrix& matrix, bool absolute) const;
  /// Ref, or S: |alpha| |op(A)| |op(B)| + |beta C|; of m x n elements.
  std::vector<double> product(bool absolute) const;
  void fetch(const Matrix& matrix, std::vector<std::byte>& bytes) const;

  GemmProblem problem_;
  const CudaExecutor& executor_;
  std::mt19937_64 random_;
  Matrix a_, b_, c_;
};

}  // namespace tilerail::test
