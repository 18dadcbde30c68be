#include "tests/api/gpu/api_case.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/cuda/gpu/gemm_case.hpp"

namespace tilerail::test {
namespace {

double unit_roundoff(DType dtype) {
  return dtype == DType::f64    ? 0x1p-53
         : dtype == DType::f16  ? 0x1p-11
         : dtype == DType::bf16 ? 0x1p-8
                                : 0x1p-24;
}

char letter(Trans trans) { return trans == Trans::no ? 'N' : 'T'; }

/// alpha op(A) op(B) + beta C in f64.
std::vector<double> product(const GemmProblem& p, std::vector<double> a,
                            std::vector<double> b, std::vector<double> c,
                            bool magnitudes) {
  const auto size = [](double x) { return std::abs(x); };
  double alpha = p.alpha, beta = p.beta;
  if (p.beta == 0) std::fill(c.begin(), c.end(), 0);
  if (magnitudes) {
    for (auto* values : {&a, &b, &c})
      std::transform(values->begin(), values->end(), values->begin(), size);
    alpha = size(alpha), beta = size(beta);
  }
  const auto flag = [](Trans t) { return t == Trans::no ? CblasNoTrans : CblasTrans; };
  const auto extent = [](int64_t n) { return int(n); };
  const auto leading = [](int64_t n) { return int(std::max<int64_t>(n, 1)); };
  if (p.m > 0 && p.n > 0)
    cblas_dgemm(CblasColMajor, flag(p.trans_a), flag(p.trans_b), extent(p.m), extent(p.n),
                extent(p.k), alpha, a.data(), leading(p.rows_a()), b.data(),
                leading(p.rows_b()), beta, c.data(), leading(p.m));
  return c;
}

}  // namespace

ApiCase::ApiCase(const GemmProblem& given, Where wa, Where wb, Where wc, uint64_t seed)
    : problem{given} {
  std::mt19937_64 random{seed};
  const GemmProblem& p = problem;
  const auto make = [&](int64_t rows, int64_t cols, int64_t ld, Where where,
                        bool poison) {
    places_ += std::string{places_.empty() ? "" : ", "} + name_of(where.kind) + " " +
               std::to_string(where.device);
    return std::make_unique<PlacedMatrix>(rows, cols, ld, p.dtype, where.kind,
                                          where.device, poison, random);
  };
  a = make(p.rows_a(), p.cols_a(), p.lda, wa, false);
  b = make(p.rows_b(), p.cols_b(), p.ldb, wb, false);
  c = make(p.m, p.n, p.ldc, wc, p.beta == 0);
}

template <class Element, class Scalar>
void ApiCase::call_typed(Context& context, const GemmOptions& options) {
  const GemmProblem& p = problem;
  gemm(context, letter(p.trans_a), letter(p.trans_b), p.m, p.n, p.k,
       static_cast<Scalar>(p.alpha), a->data<Element>(), p.lda, b->data<Element>(), p.ldb,
       static_cast<Scalar>(p.beta), c->data<Element>(), p.ldc, options);
}

void ApiCase::call(Context& context, void* stream, GemmTimes* times, bool wait) {
  GemmOptions options;
  options.stream = stream, options.times = times, options.wait = wait;
  switch (problem.dtype) {
    case DType::f64:
      return call_typed<double, double>(context, options);
    case DType::f16:
      return call_typed<Half, float>(context, options);
    case DType::bf16:
      return call_typed<BFloat16, float>(context, options);
    case DType::tf32:
      options.tf32 = true;
      [[fallthrough]];
    case DType::f32:
      return call_typed<float, float>(context, options);
  }
}

std::string ApiCase::mismatch(int64_t steps) const {
  const GemmProblem& p = problem;
  if (a->fetch() != a->given) return "A was written";
  if (b->fetch() != b->given) return "B was written";
  const std::vector<std::byte> now = c->fetch();
  for (int64_t j = 0; j < p.n; ++j) {
    const auto padding = size_t((p.m + j * p.ldc) * element_size(p.dtype));
    const auto bytes = size_t((p.ldc - p.m) * element_size(p.dtype));
    if (std::memcmp(now.data() + padding, c->given.data() + padding, bytes) != 0)
      return "padding of C was written";
  }
  const std::vector<double> va = a->values(a->given), vb = b->values(b->given),
                            vc = c->values(c->given);
  const std::vector<double> expected = product(p, va, vb, vc, false),
                            scale = product(p, va, vb, vc, true);
  const double u = unit_roundoff(p.dtype), sums = p.dtype == DType::f64 ? u : 0x1p-24;
  const auto roundings = double(steps + 1);
  const double inputs = p.dtype == DType::tf32 ? 0x1p-10 : 0;
  const double relative = 2 * (double(p.k + 2) * sums + roundings * u + inputs);
  const double absolute = p.dtype == DType::f16 ? roundings * 0x1p-24 : 0;
  const std::vector<double> computed = c->values(now);
  for (size_t e = 0; e < computed.size(); ++e)
    if (!(std::abs(computed[e] - expected[e]) <= relative * scale[e] + absolute))
      return "C[" + std::to_string(e) + "] = " + std::to_string(computed[e]) +
             ", expected " + std::to_string(expected[e]) + " within " +
             std::to_string(relative * scale[e] + absolute);
  return {};
}

std::string ApiCase::describe() const {
  const GemmProblem& p = problem;
  return std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
         " " + std::string{to_string(p.dtype)} + " " + letter(p.trans_a) +
         letter(p.trans_b) + " alpha " + std::to_string(p.alpha) + " beta " +
         std::to_string(p.beta) + " lds " + std::to_string(p.lda) + " " +
         std::to_string(p.ldb) + " " + std::to_string(p.ldc) + " in " + places_;
}

}  // namespace tilerail::test
