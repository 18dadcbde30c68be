#include <gtest/gtest.h>

#include <functional>

#include "api/lru_cache.hpp"
#include "api/page_ranges.hpp"
#include "api/signature.hpp"

namespace tilerail::api {
namespace {

TEST(LruCache, TheLeastRecentlyUsedEntryIsEvicted) {
  LruCache<int, int> cache{2};
  cache.insert(1, 10);
  cache.insert(2, 20);
  EXPECT_EQ(*cache.find(1), 10);  // 2 is now the least recently used
  cache.insert(3, 30);
  EXPECT_EQ(cache.find(2), nullptr);
  EXPECT_EQ(*cache.find(1), 10);
  EXPECT_EQ(*cache.find(3), 30);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(LruCache, HoldsTheLatestEntryEvenWithCapacityZero) {
  LruCache<int, int> cache{0};
  cache.insert(1, 10) = 11;
  EXPECT_EQ(*cache.find(1), 11);
  cache.insert(2, 20);
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_EQ(cache.size(), 1u);
}

GemmProblem problem() {
  GemmProblem p;
  p.m = 4, p.n = 5, p.k = 6;
  p.alpha = 2, p.beta = 3;
  p.lda = 4, p.ldb = 6, p.ldc = 4;
  p.place_a = p.place_b = p.place_c = MemoryId{0};
  return p;
}

Signature of(const GemmProblem& p) {
  return signature_of(p, {MemoryId{1}, MemoryId{2}}, "tilerail");
}

TEST(Signature, OnlyWhetherAlphaAndBetaAreZeroCounts) {
  GemmProblem p = problem();
  p.alpha = -7, p.beta = 1;
  EXPECT_EQ(of(p), of(problem()));
  p.beta = 0;
  EXPECT_NE(of(p), of(problem()));
  p = problem();
  p.alpha = 0;
  EXPECT_NE(of(p), of(problem()));
}

TEST(Signature, EverythingThatAPlanDependsOnCounts) {
  const std::vector<std::function<void(GemmProblem&)>> changes{
      [](auto& p) { p.m = 3; },
      [](auto& p) { p.n = 3; },
      [](auto& p) { p.k = 3; },
      [](auto& p) { p.dtype = DType::f32; },
      [](auto& p) { p.trans_a = Trans::yes; },
      [](auto& p) { p.trans_b = Trans::yes; },
      [](auto& p) { p.lda = 9; },
      [](auto& p) { p.ldb = 9; },
      [](auto& p) { p.ldc = 9; },
      [](auto& p) { p.place_a = MemoryId{1}; },
      [](auto& p) { p.place_b = MemoryId{1}; },
      [](auto& p) { p.place_c = MemoryId{1}; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    GemmProblem p = problem();
    changes[i](p);
    EXPECT_NE(of(p), of(problem())) << "change " << i;
  }
  EXPECT_NE(signature_of(problem(), {MemoryId{1}}, "tilerail"), of(problem()));
  EXPECT_NE(signature_of(problem(), {MemoryId{1}, MemoryId{2}}, "gemmex"), of(problem()));
}

TEST(CoveringPages, RangesThatShareAPageOrTouchBecomeOne) {
  const std::vector<AddressRange> ranges{
      {5000, 5001}, {100, 200}, {300, 4096}, {8192, 8192}, {20000, 24577}};
  // Pages of 4096: [4096, 8192) touches [0, 4096); [20000, 24577) needs [16384, 28672);
  // an empty range needs none.
  const std::vector<AddressRange> expected{{0, 8192}, {16384, 28672}};
  EXPECT_EQ(covering_pages(ranges, 4096), expected);
}

}  // namespace
}  // namespace tilerail::api
