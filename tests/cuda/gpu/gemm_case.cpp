#include "tests/cuda/gpu/gemm_case.hpp"

#include <cblas.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::test {
namespace {

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

}  // namespace

double to_double(const std::byte* element, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return *reinterpret_cast<const double*>(element);
    case DType::f16:
      return double(__half2float(*reinterpret_cast<const __half*>(element)));
    case DType::bf16:
      return double(__bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(element)));
    default:
      return double(*reinterpret_cast<const float*>(element));
  }
}

void from_double(double value, std::byte* element, DType dtype) {
  switch (dtype) {
    case DType::f64:
      *reinterpret_cast<double*>(element) = value;
      return;
    case DType::f16:
      *reinterpret_cast<__half*>(element) = __float2half(float(value));
      return;
    case DType::bf16:
      *reinterpret_cast<__nv_bfloat16*>(element) = __float2bfloat16(float(value));
      return;
    default:
      *reinterpret_cast<float*>(element) = float(value);
  }
}

GemmProblem square(int64_t n, double alpha, double beta) {
  GemmProblem p;
  p.m = p.n = p.k = n;
  p.alpha = alpha, p.beta = beta;
  return checked(p);
}

GemmProblem random_problem(std::mt19937_64& random, int longest, int least_k) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>{low, high}(random);
  };
  const auto one_of = [&](const auto& values) {
    return values[size_t(pick(0, int(values.size()) - 1))];
  };
  const std::array scalars{0.0, 1.0, -1.0, 0.375};
  GemmProblem p;
  p.m = pick(1, longest), p.n = pick(1, longest), p.k = pick(least_k, longest);
  p.dtype =
      one_of(std::array{DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
  p.trans_a = pick(0, 1) ? Trans::yes : Trans::no;
  p.trans_b = pick(0, 1) ? Trans::yes : Trans::no;
  p.alpha = one_of(scalars), p.beta = one_of(scalars);
  p.lda = std::max<int64_t>(1, p.rows_a()) + pick(0, 1) * pick(0, 9);
  p.ldb = std::max<int64_t>(1, p.rows_b()) + pick(0, 1) * pick(0, 9);
  p.ldc = p.m + pick(0, 1) * pick(0, 9);
  return checked(p);
}

CudaGemmCase::CudaGemmCase(const GemmProblem& problem, const CudaExecutor& executor,
                           uint64_t seed)
    : problem_{problem}, executor_{executor}, random_{seed} {
  const GemmProblem& p = problem_;
  a_ = make(p.rows_a(), p.cols_a(), p.lda, p.place_a.home(), false);
  b_ = make(p.rows_b(), p.cols_b(), p.ldb, p.place_b.home(), false);
  c_ = make(p.m, p.n, p.ldc, p.place_c.home(), p.beta == 0);
}

CudaGemmCase::~CudaGemmCase() {
  for (const Matrix* matrix : {&a_, &b_, &c_})
    matrix->pinned ? cudaFreeHost(matrix->there) : cudaFree(matrix->there);
}

CudaGemmCase::Matrix CudaGemmCase::make(int64_t rows, int64_t cols, int64_t ld,
                                        MemoryId place, bool poison) {
  Matrix made{rows, cols, ld, {}, nullptr, executor_.topology().is_host(place)};
  const int64_t element = element_size(problem_.dtype);
  made.host.assign(size_t(ld * cols * element), std::byte{0xFF});
  std::uniform_real_distribution<double> uniform{-1, 1};
  for (int64_t j = 0; j < cols && !poison; ++j)
    for (int64_t i = 0; i < rows; ++i)
      from_double(uniform(random_), &made.host[size_t((i + j * ld) * element)],
                  problem_.dtype);
  void* memory = nullptr;
  const size_t bytes = std::max<size_t>(made.host.size(), 1);
  if (made.pinned) {
    cuda::check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "allocating");
  } else {
    const cuda::DeviceScope scope{executor_.ordinal(place)};
    cuda::check(cudaMalloc(&memory, bytes), "allocating");
  }
  made.there = static_cast<std::byte*>(memory);
  fill(made);
  return made;
}

std::vector<double> CudaGemmCase::values(const Matrix& matrix, bool absolute) const {
  std::vector<double> all(size_t(matrix.rows * matrix.cols));
  for (int64_t j = 0; j < matrix.cols; ++j) {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const auto at = size_t((i + j * matrix.ld) * element_size(problem_.dtype));
      const double value = to_double(&matrix.host[at], problem_.dtype);
      all[size_t(i + j * matrix.rows)] = absolute ? std::abs(value) : value;
    }
  }
  return all;
}

void CudaGemmCase::fetch(const Matrix& matrix, std::vector<std::byte>& bytes) const {
  bytes.resize(matrix.host.size());
  cuda::check(cudaMemcpy(bytes.data(), matrix.there, bytes.size(), cudaMemcpyDefault),
              "fetching");
}

/// A copy from pageable memory can return before its data has arrived, and streams of a
/// run do not wait for it.
void CudaGemmCase::fill(const Matrix& matrix) const {
  cuda::check(
      cudaMemcpy(matrix.there, matrix.host.data(), matrix.host.size(), cudaMemcpyDefault),
      "filling a matrix");
  cuda::check(cudaDeviceSynchronize(), "filling a matrix");
}

void CudaGemmCase::reset_c() { fill(c_); }

std::vector<double> CudaGemmCase::product(bool absolute) const {
  const GemmProblem& p = problem_;
  std::vector<double> result =
      p.beta == 0 ? std::vector<double>(size_t(p.m * p.n)) : values(c_, absolute);
  const auto scale = [&](double x) { return absolute ? std::abs(x) : x; };
  const std::vector<double> va = values(a_, absolute), vb = p.has_b()
                                                                ? values(b_, absolute)
                                                                : std::vector<double>{1};
  const auto flag = [](Trans t) { return t == Trans::no ? CblasNoTrans : CblasTrans; };
  const auto n = [](int64_t size) { return int(std::max<int64_t>(size, 1)); };
  if (p.m > 0 && p.n > 0)
    cblas_dgemm(CblasColMajor, flag(p.trans_a), flag(p.trans_b), int(p.m), int(p.n),
                int(p.k), scale(p.alpha), va.data(), n(p.rows_a()), vb.data(),
                n(p.rows_b()), scale(p.beta), result.data(), n(p.m));
  return result;
}

double CudaGemmCase::relative_error() {
  std::vector<std::byte> c, once(8);
  fetch(c_, c);
  const std::vector<double> exact = product(false);
  double of_plan = 0, of_one = 0;
  for (int64_t j = 0; j < problem_.n; ++j)
    for (int64_t i = 0; i < problem_.m; ++i) {
      const double right = exact[size_t(i + j * problem_.m)];
      from_double(right, once.data(), problem_.dtype);
      const auto at = size_t((i + j * problem_.ldc) * element_size(problem_.dtype));
      of_plan += std::pow(to_double(&c[at], problem_.dtype) - right, 2);
      of_one += std::pow(to_double(once.data(), problem_.dtype) - right, 2);
    }
  return std::sqrt(of_plan / of_one);
}

std::string CudaGemmCase::mismatch(int64_t steps) {
  const GemmProblem& p = problem_;
  std::vector<std::byte> a, b, c;
  fetch(a_, a);
  fetch(b_, b);
  fetch(c_, c);
  if (a != a_.host) return "A was written";
  if (b != b_.host) return "B was written";
  const std::vector<double> expected = product(false), magnitude = product(true);
  const double u = unit_roundoff(p.dtype),
               sums = p.dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double inputs = p.dtype == DType::tf32 ? 0x1p-10 : 0;
  const double bound = 2 * (double(p.k + 2) * sums + double(steps + 1) * u + inputs);
  const int64_t element = element_size(p.dtype);
  for (int64_t j = 0; j < p.n; ++j) {
    for (int64_t i = 0; i < p.ldc; ++i) {
      const auto at = size_t((i + j * p.ldc) * element);
      if (i >= p.m) {
        if (std::memcmp(&c[at], &c_.host[at], size_t(element)) != 0)
          return "padding of C was written";
        continue;
      }
      const auto e = size_t(i + j * p.m);
      const double error = std::abs(to_double(&c[at], p.dtype) - expected[e]);
      const double smallest =
          p.dtype == DType::f16 ? 0x1p-24 * double(steps + 1) : 0;  // subnormal
      if (!(error <= bound * magnitude[e] + smallest))
        return "C(" + std::to_string(i) + ", " + std::to_string(j) +
               ") = " + std::to_string(to_double(&c[at], p.dtype)) + ", expected " +
               std::to_string(expected[e]) + " within " +
               std::to_string(bound * magnitude[e]);
    }
  }
  return {};
}

}  // namespace tilerail::test
