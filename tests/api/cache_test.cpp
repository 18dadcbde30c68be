#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>

#include "api/page_ranges.hpp"
#include "api/shared_cache.hpp"
#include "api/signature.hpp"

namespace tilerail::api {
namespace {

class Cache : public ::testing::Test {
 protected:
  /// Whether the value of `key` had to be made.
  static bool makes(SharedCache<int, int>& cache, int key) {
    bool made = false;
    EXPECT_EQ(cache.get(key,
                        [&] {
                          made = true;
                          return 10 * key;
                        }),
              10 * key);
    return made;
  }
};

TEST_F(Cache, TheLeastRecentlyUsedEntryIsEvicted) {
  SharedCache<int, int> cache{2};
  EXPECT_TRUE(makes(cache, 1));
  EXPECT_TRUE(makes(cache, 2));
  EXPECT_FALSE(makes(cache, 1));  // 2 is now the least recently used
  EXPECT_TRUE(makes(cache, 3));
  EXPECT_FALSE(makes(cache, 1));
  EXPECT_FALSE(makes(cache, 3));
  EXPECT_TRUE(makes(cache, 2));
  EXPECT_EQ(cache.size(), 2u);
}

TEST_F(Cache, HoldsTheLatestEntryEvenWithCapacityZero) {
  SharedCache<int, int> cache{0};
  EXPECT_TRUE(makes(cache, 1));
  EXPECT_FALSE(makes(cache, 1));
  EXPECT_TRUE(makes(cache, 2));
  EXPECT_TRUE(makes(cache, 1));
  EXPECT_EQ(cache.size(), 1u);
}

TEST_F(Cache, KeepsNoErrors) {
  SharedCache<int, int> cache{2};
  EXPECT_THROW(cache.get(1, []() -> int { throw std::runtime_error{"no value"}; }),
               std::runtime_error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_TRUE(makes(cache, 1));
}

TEST_F(Cache, ThreadsThatWaitForAValueGetItOrItsError) {
  SharedCache<int, int> cache{2};
  std::latch is_making{1}, requested{1};
  std::atomic<int> made = 0;
  const auto fails = [&]() -> int {
    ++made;
    is_making.count_down();
    requested.wait();
    throw std::runtime_error{"no value"};
  };
  std::thread first{[&] { EXPECT_THROW(cache.get(1, fails), std::runtime_error); }};
  is_making.wait();
  EXPECT_TRUE(makes(cache, 2)) << "another value does not wait";
  std::thread second{[&] {
    requested.count_down();  // it waits from now on, or finds no entry and makes one
    try {
      cache.get(1, [&] {
        ++made;
        return 10;
      });
      EXPECT_EQ(made, 2);
    } catch (const std::runtime_error&) {
      EXPECT_EQ(made, 1);
    }
  }};
  first.join();
  second.join();
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
