// Products of several matrices by the API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "api/handle.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"
#include "tests/support/expect_error.hpp"
#include "tilerail/tilerail.h"

namespace tilerail::api {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Whole numbers from -2 to 2, whose products and sums are exact in f32 too.
template <class Element>
std::vector<Element> whole_numbers(std::int64_t size, std::mt19937_64& random) {
  std::vector<Element> values(static_cast<std::size_t>(size));
  for (Element& value : values) value = static_cast<Element>(std::uniform_int_distribution<int>{-2, 2}(random));
  return values;
}

/// A chain on matrices with padding, op(F1) being sizes[0] x sizes[1].
template <class Element>
class ChainCall {
 public:
  ChainCall(const std::vector<std::int64_t>& sizes, const std::string& trans, Element alpha, Element beta,
            unsigned seed = 1)
      : sizes_{sizes}, alpha_{alpha}, beta_{beta} {
    std::mt19937_64 random{seed};
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      const bool transposed = trans[i] != 'N';
      const std::int64_t rows = sizes[i + transposed], cols = sizes[i + !transposed];
      const auto ld = std::max<std::int64_t>(1, rows) + static_cast<std::int64_t>(i);
      matrices.push_back(whole_numbers<Element>(ld * cols, random));
      factors.push_back({trans[i], rows, cols, matrices.back().data(), ld});
    }
    result = before_ = whole_numbers<Element>(ld() * sizes.back(), random);
  }

  std::int64_t ld() const { return sizes_.front() + 2; }

  void call(Context& context, ChainInfo* info = nullptr) {
    gemm_chain(context, alpha_, factors, beta_, result.data(), ld(), {.info = info});
  }

  void expect_right() const {
    const std::vector<double> product = product_of_all();
    for (std::int64_t j = 0; j < sizes_.back(); ++j)
      for (std::int64_t i = 0; i < ld(); ++i) {
        const auto at = static_cast<std::size_t>(i + j * ld());
        const double was = before_[at];
        const double expected = i >= sizes_.front() ? was : alpha_ * product[at_of(i, j, sizes_.front())] + beta_ * was;
        ASSERT_EQ(result[at], expected) << i << ", " << j;
      }
  }

  std::vector<Factor<Element>> factors;
  std::vector<std::vector<Element>> matrices;
  std::vector<Element> result;

 private:
  static std::size_t at_of(std::int64_t i, std::int64_t j, std::int64_t ld) {
    return static_cast<std::size_t>(i + j * ld);
  }

  /// From left to right.
  std::vector<double> product_of_all() const {
    const std::int64_t m = sizes_.front();
    std::vector<double> product(static_cast<std::size_t>(m * m), 0);
    for (std::int64_t i = 0; i < m; ++i) product[at_of(i, i, m)] = 1;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const Factor<Element>& factor = factors[f];
      std::vector<double> next(static_cast<std::size_t>(m * sizes_[f + 1]), 0);
      for (std::int64_t j = 0; j < sizes_[f + 1]; ++j)
        for (std::int64_t p = 0; p < sizes_[f]; ++p) {
          const bool plain = factor.trans == 'N';
          const double value = factor.data[plain ? at_of(p, j, factor.ld) : at_of(j, p, factor.ld)];
          for (std::int64_t i = 0; i < m; ++i) next[at_of(i, j, m)] += product[at_of(i, p, m)] * value;
        }
      product = std::move(next);
    }
    return product;
  }

  std::vector<std::int64_t> sizes_;
  Element alpha_, beta_;
  std::vector<Element> before_;
};

class Chain : public ::testing::Test {
 protected:
  MemoryId gpu(int number) const { return *machine_.find_gpu(number); }
  ChainInfo call(ChainCall<double>& chain) {
    ChainInfo info;
    chain.call(context_, &info);
    chain.expect_right();
    EXPECT_EQ(log_->held, 0) << "intermediates are freed";
    return info;
  }

  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  Topology machine_ = FakeHardware::machine();
  Context context_{fake_session(log_)};
};

template <class Element>
void expect_random_chains_right(Context& context, Log& log) {
  std::mt19937_64 random{7};
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>{low, high}(random); };
  for (int i = 0; i < 60; ++i) {
    const int factors = pick(2, 5);
    std::vector<std::int64_t> sizes;
    std::string trans;
    for (int f = 0; f <= factors; ++f) sizes.push_back(pick(1, 24));
    for (int f = 0; f < factors; ++f) trans += "NTC"[pick(0, 2)];
    ChainCall<Element> chain{sizes, trans, static_cast<Element>(pick(1, 3)), static_cast<Element>(pick(0, 2)),
                             static_cast<unsigned>(i)};
    for (const auto& matrix : chain.matrices)
      if (const int place = pick(-1, 1); place >= 0) log.on_device[matrix.data()] = place;
    if (const int place = pick(-1, 1); place >= 0) log.on_device[chain.result.data()] = place;
    ChainInfo info;
    chain.call(context, &info);
    chain.expect_right();
    ASSERT_EQ(info.products.size() + 1, chain.factors.size());
    ASSERT_EQ(log.held, 0);
    log.on_device.clear();
  }
}

TEST_F(Chain, IsRightForRandomChainsInF64) { expect_random_chains_right<double>(context_, *log_); }
TEST_F(Chain, IsRightForRandomChainsInF32) { expect_random_chains_right<float>(context_, *log_); }

TEST_F(Chain, MultipliesTheSmallFirstAndTellsWhere) {
  ChainCall<double> chain{{300, 8, 300, 16}, "NNN", 2, 1};
  const ChainInfo info = call(chain);
  EXPECT_EQ(info.order, "(A (B C))");
  ASSERT_EQ(info.products.size(), 2U);
  EXPECT_EQ(info.products[0].factors, "B C");
  EXPECT_THAT(info.products[0].place, HasSubstr("gpu"));
  EXPECT_EQ(info.products[1].factors, "A (B C)");
  EXPECT_EQ(info.products[1].place, "host");
  EXPECT_GT(info.products[0].seconds, 0);
  EXPECT_THAT(info.products[1].plan.devices, ElementsAre(0, 1));
  EXPECT_EQ(log_->allocations, 1);
}

TEST_F(Chain, BindsNothingAnewForTheSameShapeAndPlaces) {
  ChainCall<double> one{{300, 8, 300, 16}, "NNN", 2, 1}, other{{300, 8, 300, 16}, "NNN", 3, 1, 5};
  call(one);
  const int binds = log_->binds;
  call(other);
  EXPECT_EQ(log_->binds, binds) << "the same products in the same places";
}

/// B and C lie on gpu0, and there is room for three tiles of 64, but not for B C, which has 128 KiB.
TEST_F(Chain, TakesTheNextPlaceWhereMemoryIsShort) {
  constexpr std::int64_t few = 100'000;
  const auto place_of_first = [&] {
    ChainCall<double> chain{{300, 128, 300, 128}, "NNN", 2, 1};
    log_->on_device = {{chain.factors[1].data, 0}, {chain.factors[2].data, 0}};
    return call(chain).products[0].place;
  };
  EXPECT_EQ(place_of_first(), "gpu0");
  log_->room[gpu(0)] = few;
  EXPECT_EQ(place_of_first(), "gpu1");
  log_->room[gpu(1)] = few;
  EXPECT_EQ(place_of_first(), "host");
  EXPECT_EQ(log_->host_pages, HostPages::spread) << "page-locked";
}

TEST_F(Chain, ReadsCopiesOfFactorsThatAreKept) {
  ChainCall<double> chain{{300, 8, 300, 16}, "NNN", 2, 1};
  const std::vector<double> original = chain.matrices[1];
  context_.keep(chain.factors[1].data, 8, 300, chain.factors[1].ld);
  std::ranges::fill(chain.matrices[1], std::numeric_limits<double>::quiet_NaN());  // nobody may read it now
  chain.call(context_);
  chain.matrices[1] = original;
  chain.factors[1].data = chain.matrices[1].data();
  chain.expect_right();
}

TEST_F(Chain, MayHaveOneMatrixAsSeveralFactors) {
  ChainCall<double> power{{20, 20, 20, 20}, "NTN", 1, 1};
  for (auto& factor : power.factors) factor.data = power.factors[0].data, factor.ld = power.factors[0].ld;
  EXPECT_EQ(call(power).products.size(), 2U);
}

TEST_F(Chain, ScalesWhereThereIsNothingToMultiply) {
  ChainCall<double> none{{30, 8, 0, 16}, "NNN", 2, 3};
  EXPECT_EQ(call(none).order, "");
  ChainCall<double> zero{{30, 8, 20, 16}, "NTN", 0, 3};
  for (auto& factor : zero.factors) factor.data = nullptr;
  gemm_chain(context_, 0.0, zero.factors, 3.0, zero.result.data(), zero.ld());
  for (std::size_t i = 0; i < zero.factors.size(); ++i) zero.factors[i].data = zero.matrices[i].data();
  zero.expect_right();
  ChainCall<double> empty{{0, 8, 20, 16}, "NNN", 1, 1};
  EXPECT_EQ(call(empty).order, "");
}

TEST_F(Chain, NamesTheFactorThatIsWrong) {
  ChainCall<double> good{{30, 8, 20, 16}, "NTN", 2, 3};
  const auto refused = [&](auto change, const std::vector<std::string>& words) {
    ChainCall<double> chain = good;
    for (std::size_t i = 0; i < 3; ++i) chain.factors[i].data = chain.matrices[i].data();
    change(chain);
    expect_input_error([&] { chain.call(context_); }, words);
    log_->on_device.clear();
  };
  refused([](auto& c) { c.factors[1].trans = 'X'; }, {"factor 2 (B)", "expected 'N', 'T' or 'C'"});
  refused([](auto& c) { c.factors[2].data = nullptr; }, {"factor 3 (C)", "null"});
  refused([](auto& c) { c.factors[0].ld = 0; }, {"factor 1 (A)", "ld = 0"});
  refused([](auto& c) { c.factors[0].ld = 29; }, {"factor 1 (A)", "ld = 29", "30"});
  refused([](auto& c) { c.factors[1].trans = 'N'; }, {"factor 2 (B)", "op(B) has 20 rows", "8"});
  refused([](auto& c) { c.factors.resize(1); }, {"1 factors", "2 to 12"});
  refused([](auto& c) { c.factors[1].data = c.result.data() + 5; }, {"overlaps factor 2 (B)"});
  refused([](auto& c) { c.factors[0].data = reinterpret_cast<const double*>(1); }, {"factor 1 (A)", "aligned"});
  refused([&](auto& c) { log_->on_device[c.factors[2].data] = 7; }, {"factor 3 (C)", "CUDA device 7"});
  refused([&](auto& c) { context_.keep(c.result.data(), 30, 16, c.ld()); }, {"result", "kept"});
  EXPECT_EQ(log_->allocations, 0) << "nothing began";
}

TEST_F(Chain, FreesIntermediatesWhereAProductFails) {
  ChainCall<double> chain{{300, 8, 300, 16}, "NNN", 2, 1};
  context_.set_override("devices=all");
  log_->failures = 1;
  EXPECT_THROW(chain.call(context_), std::runtime_error);
  EXPECT_GT(log_->allocations, 0);
  EXPECT_EQ(log_->held, 0);
  call(chain);
}

TEST(CInterface, MultipliesChains) {
  const auto log = std::make_shared<Log>();
  tilerail_context handle{Context{fake_session(log)}};
  ChainCall<double> chain{{300, 8, 300, 16}, "NTN", 2, 1};
  std::vector<std::int64_t> rows, cols, lds;
  std::vector<const void*> factors;
  for (const auto& factor : chain.factors)
    rows.push_back(factor.rows), cols.push_back(factor.cols), lds.push_back(factor.ld), factors.push_back(factor.data);
  const auto multiply = [&](int count, const char* trans, tilerail_dtype_t dtype = TILERAIL_F64) {
    return tilerail_gemm_chain(&handle, dtype, count, trans, rows.data(), cols.data(), factors.data(), lds.data(), 2, 1,
                               chain.result.data(), chain.ld(), nullptr);
  };
  EXPECT_EQ(multiply(-1, "NTN"), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(multiply(3, nullptr), TILERAIL_INVALID_VALUE);
  EXPECT_STREQ(tilerail_last_error(&handle), "trans is null: expected 3 values");
  EXPECT_EQ(multiply(3, "NTN", TILERAIL_DTYPE_MAX), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(multiply(3, "N?N"), TILERAIL_INVALID_VALUE);
  EXPECT_THAT(tilerail_last_error(&handle), HasSubstr("factor 2 (B)"));
  ASSERT_EQ(multiply(3, "NTN"), TILERAIL_SUCCESS) << tilerail_last_error(&handle);
  chain.expect_right();
  EXPECT_THAT(tilerail_plan_origin(&handle), HasSubstr("(A (B C)): B C to gpu"));
  EXPECT_THAT(tilerail_plan_origin(&handle), HasSubstr(", A (B C) to host"));
}

}  // namespace
}  // namespace tilerail::api
