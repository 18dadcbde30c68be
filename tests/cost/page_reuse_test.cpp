// Copies whose pages are still in the cache of a device, by the estimate of hand-made
// plans.
#include <gtest/gtest.h>

#include "tests/cost/cost_draft.hpp"

namespace tilerail {
namespace {

using namespace cost_test;

// 128 rows of doubles, 1 KiB per column, from a taller matrix: a quarter of 10 GB/s. The
// pages of the next rows are cached, except where a column touches a new line of the
// cache, 1 KiB of 64.
TEST(Estimate, NarrowColumnsMoveFasterFromKnownPages) {
  constexpr double cold = 128 * 8 * 1e5 / 2.5e9, known = 128 * 8 * 1e5 / 5e9,
                   next = 1 / (1 + 1.0 / 64);
  struct Second {
    int64_t row;
    int kernels;  // before the copy: products of 8 MB by 8 MB, which fill 40 MB of the
                  // cache
    bool alike;   // of the same matrices into others, which fill 8 MB more
    double share;
  };
  for (const Second& second : {Second{0, 0, false, 1},
                               {128, 0, false, next},
                               {128 + 4096, 0, false, next / 2},
                               {128 + 8192, 0, false, 0},
                               {0, 1, false, 1},
                               {0, 2, false, 0},
                               {0, 2, true, 1},
                               {0, 3, true, 0},
                               {128, 1, false, next},
                               {128, 2, false, 0}}) {
    Draft d;
    const View tall = d.matrix(host, 65536, 100'000, 65536);
    OpId last = d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000));
    View a = d.matrix(gpu, 1000, 1000), b = d.matrix(gpu, 1000, 1000);
    double kernels = 0;
    for (int i = 0; i < second.kernels; ++i) {
      last = d.gemm(a, b, d.matrix(gpu, 1000, 1000), {last});
      kernels += d.cost(last);
      if (!second.alike) a = d.matrix(gpu, 1000, 1000), b = d.matrix(gpu, 1000, 1000);
    }
    d.copy({tall.buffer, second.row, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000),
           {last});
    EXPECT_NEAR(d.estimate(),
                cold + kernels + (1 - second.share) * cold + second.share * known, 1e-8)
        << second.row << " after " << second.kernels;
  }
}

// Two products fill 40 MB and 24 MB more, although the first shares its factors with a
// product before the copy: that product does not matter, and nothing is left of the 50
// MB.
TEST(Estimate, KernelsAfterACopyEvictPagesAlsoWithEarlierFactors) {
  constexpr double cold = 128 * 8 * 1e5 / 2.5e9, known = 128 * 8 * 1e5 / 5e9;
  for (const bool more : {false, true}) {
    Draft d;
    const View tall = d.matrix(host, 65536, 100'000, 65536),
               a = d.matrix(gpu, 1000, 1000), b = d.matrix(gpu, 1000, 1000);
    const auto columns = [&](OpId after) {
      return d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000),
                    {after});
    };
    OpId last = d.gemm(a, b, d.matrix(gpu, 1000, 1000));
    double kernels = d.cost(last);
    const auto product = [&](const View& factor) {
      last = d.gemm(a, factor, d.matrix(gpu, 1000, 1000), {last});
      kernels += d.cost(last);
    };
    last = columns(last);
    product(b);
    if (more) product(d.matrix(gpu, 1000, 1000));
    columns(last);
    EXPECT_NEAR(d.estimate(), cold + kernels + (more ? cold : known), 1e-8);
  }
}

// Pages of tiles 64 KiB above or below are not cached, nor pages of the other device.
TEST(Estimate, PagesAreKnownFromTheLastCopyOfTheirColumnsToThatDevice) {
  constexpr double cold = 128 * 8 * 1e5 / 2.5e9;
  Draft d;
  const View tall = d.matrix(host, 65536, 100'000, 65536);
  OpId last;
  for (const int64_t row : {0, 8320, 16640, 0})
    last = d.copy({tall.buffer, row, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000));
  last = d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(MemoryId{2}, 128, 100'000),
                {last});
  EXPECT_NEAR(d.estimate(), 5 * cold, 1e-8);
  d.copy({tall.buffer, 0, 0, 128, 100'000}, d.matrix(gpu, 128, 100'000), {last});
  EXPECT_NEAR(d.estimate(), 5.5 * cold, 1e-8);
}

}  // namespace
}  // namespace tilerail
