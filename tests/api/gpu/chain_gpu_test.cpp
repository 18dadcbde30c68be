// Products of several matrices on GPUs: random chains in all memories, with all types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "api/cuda/pointers.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "tests/api/gpu/api_fixture.hpp"
#include "tests/api/gpu/placed_matrix.hpp"
#include "tests/support/test_seed.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail {
namespace {

using test::MemoryKind;
using test::PlacedMatrix;
using test::tile;

/// A dense matrix of doubles.
struct Dense {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> values;
  double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

Dense product(const Dense& a, const Dense& b) {
  Dense c{a.rows, b.cols, std::vector<double>(static_cast<std::size_t>(a.rows * b.cols), 0)};
  for (std::int64_t j = 0; j < b.cols; ++j)
    for (std::int64_t p = 0; p < a.cols; ++p)
      for (std::int64_t i = 0; i < a.rows; ++i)
        c.values[static_cast<std::size_t>(i + j * a.rows)] += a.at(i, p) * b.at(p, j);
  return c;
}

Dense transposed(const Dense& a) {
  Dense t{a.cols, a.rows, {}};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.cols; ++j) t.values.push_back(a.at(i, j));
  return t;
}

Dense magnitudes(Dense a) {
  std::ranges::transform(a.values, a.values.begin(), [](double x) { return std::abs(x); });
  return a;
}

struct ChainCase {
  DType dtype = DType::f64;
  std::vector<std::int64_t> sizes;
  std::string trans;
  float alpha = 1, beta = 0;
  std::vector<std::unique_ptr<PlacedMatrix>> factors;
  std::unique_ptr<PlacedMatrix> result;

  template <class Element, class Scalar>
  void call_typed(Context& context, const ChainOptions& options) const {
    std::vector<Factor<Element>> all;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const PlacedMatrix& factor = *factors[i];
      all.push_back({trans[i], factor.rows, factor.cols, factor.data<Element>(), factor.ld});
    }
    gemm_chain(context, Scalar{alpha}, all, Scalar{beta}, result->data<Element>(), result->ld, options);
  }

  void call(Context& context, ChainInfo* info) const {
    const ChainOptions options{.tf32 = dtype == DType::tf32, .info = info};
    if (dtype == DType::f64) return call_typed<double, double>(context, options);
    if (dtype == DType::f16) return call_typed<Half, float>(context, options);
    if (dtype == DType::bf16) return call_typed<BFloat16, float>(context, options);
    call_typed<float, float>(context, options);
  }

  Dense factor(std::size_t i) const {
    const PlacedMatrix& stored = *factors[i];
    const Dense dense{stored.rows, stored.cols, stored.values(stored.given)};
    return trans[i] == 'N' ? dense : transposed(dense);
  }

  /// Each product adds (k + 2) u_s + (steps + 1) u + u_in, as ApiCase::mismatch has it, relative to the product of the
  /// magnitudes of all factors, whatever the order. What f16 loses below its smallest normal number, 2^-25 a rounding,
  /// grows by the factors that follow: by no more than the product of all inner sizes.
  void expect_right() const {
    const double u = dtype == DType::f64    ? 0x1p-53
                     : dtype == DType::f16  ? 0x1p-11
                     : dtype == DType::bf16 ? 0x1p-8
                                            : 0x1p-24;
    const double sums = dtype == DType::f64 ? u : 0x1p-24, inputs = dtype == DType::tf32 ? 0x1p-10 : 0;
    Dense expected = factor(0), scale = magnitudes(expected);
    double relative = 0, absolute = dtype == DType::f16 ? 0x1p-24 * std::abs(alpha) : 0;
    for (std::size_t i = 1; i < factors.size(); ++i) {
      const Dense next = factor(i);
      expected = product(expected, next), scale = product(scale, magnitudes(next));
      const auto k = static_cast<double>(next.rows), steps = std::ceil(k / tile) + 1;
      relative += 2 * ((k + 2) * sums + (steps + 1) * u + inputs), absolute *= k * (steps + 1);
    }
    const std::vector<double> old = result->values(result->given), now = result->values(result->fetch());
    for (std::size_t e = 0; e < now.size(); ++e) {
      const double was = beta == 0 ? 0 : beta * old[e], bound = std::abs(alpha) * scale.values[e] + std::abs(was);
      ASSERT_NEAR(now[e], alpha * expected.values[e] + was, relative * bound + absolute) << "element " << e;
    }
  }
};

class ChainOnGpus : public test::ApiOnGpus {
 protected:
  ChainCase random_chain(std::mt19937_64& random) const {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>{low, high}(random); };
    const auto placed = [&](std::int64_t rows, std::int64_t cols, DType dtype, bool poison) {
      const MemoryKind kind = test::memory_kinds[pick(0, std::size(test::memory_kinds) - 1)];
      return std::make_unique<PlacedMatrix>(rows, cols, rows + pick(0, 3), dtype, kind, pick(0, gpus_ - 1), poison,
                                            random);
    };
    ChainCase chain;
    chain.dtype = dtypes[static_cast<std::size_t>(pick(0, dtypes.size() - 1))];
    const int factors = pick(2, 5);
    for (int i = 0; i <= factors; ++i) chain.sizes.push_back(pick(1, 200));
    chain.alpha = static_cast<float>(pick(1, 3)), chain.beta = static_cast<float>(pick(0, 1));
    for (std::size_t i = 0; i + 1 < chain.sizes.size(); ++i) {
      chain.trans += "NT"[pick(0, 1)];
      const bool plain = chain.trans.back() == 'N';
      chain.factors.push_back(placed(chain.sizes[i + !plain], chain.sizes[i + plain], chain.dtype, false));
    }
    chain.result = placed(chain.sizes.front(), chain.sizes.back(), chain.dtype, chain.beta == 0);
    return chain;
  }
};

TEST_F(ChainOnGpus, RandomChainsAreRightInAllMemoriesWithAllTypes) {
  Context context{in_tiles()};
  const std::uint64_t seed = test::test_seed();
  std::mt19937_64 random{seed};
  for (int i = 0; i < 60; ++i) {
    const ChainCase chain = random_chain(random);
    ChainInfo info;
    ASSERT_NO_THROW(chain.call(context, &info)) << "seed " << seed << ", chain " << i;
    chain.expect_right();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ", chain " << i << ", order " << info.order;
    ASSERT_EQ(info.products.size() + 1, chain.factors.size());
  }
}

TEST_F(ChainOnGpus, FreesWhatLiesBetween) {
  Context context{in_tiles()};
  std::mt19937_64 random{3};
  ChainCase chain;
  chain.sizes = {2000, 100, 2000, 500}, chain.trans = "NNN";
  for (std::size_t i = 0; i < 3; ++i)
    chain.factors.push_back(std::make_unique<PlacedMatrix>(chain.sizes[i], chain.sizes[i + 1], chain.sizes[i],
                                                           DType::f64, MemoryKind::device, 0, false, random));
  chain.result = std::make_unique<PlacedMatrix>(2000, 500, 2000, DType::f64, MemoryKind::device, 0, true, random);
  const auto free_bytes = [] {
    std::size_t free = 0, all = 0;
    cuda::check(cudaMemGetInfo(&free, &all), "asking for free memory");
    return free;
  };
  chain.call(context, nullptr);  // which opens devices
  const std::size_t before = free_bytes();
  ChainInfo info;
  chain.call(context, &info);
  EXPECT_EQ(free_bytes(), before);
  chain.expect_right();
  EXPECT_EQ(info.order, "(A (B C))");
}

}  // namespace
}  // namespace tilerail
