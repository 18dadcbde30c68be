// Work on several threads, also if they cannot be started.
#include "model/base/threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <stdexcept>
#include <vector>

#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(Threads, EveryPartIsDoneOnceHoweverManyThreadsStart) {
  for (const int limit : {0, 1, 3, 100}) {
    const ThreadLimit few{limit};
    std::vector<std::atomic<int>> done(20);
    share_work(done.size(), [&](size_t part) { ++done[part]; });
    for (const auto& times : done) EXPECT_EQ(times, 1) << "with " << limit << " threads";
  }
  share_work(0, [](size_t) { FAIL(); });
}

TEST(Threads, WithoutMoreThreadsTheCallerDoesAllParts) {
  const ThreadLimit none{0};
  std::vector<std::thread::id> by(5);
  share_work(by.size(), [&](size_t part) { by[part] = std::this_thread::get_id(); });
  EXPECT_THAT(by, Each(std::this_thread::get_id()));
}

TEST(Threads, AnExceptionOfAPartReachesTheCallerAfterAllThreadsHaveEnded) {
  for (const int limit : {0, 2}) {
    const ThreadLimit few{limit};
    std::atomic<int> running{0};
    EXPECT_THROW(share_work(8,
                            [&](size_t part) {
                              ++running;
                              if (part == 3)
                                --running, throw std::runtime_error{"part 3"};
                              --running;
                            }),
                 std::runtime_error);
    EXPECT_EQ(running, 0);
  }
  EXPECT_THROW(run_together(3,
                            [](size_t i) {
                              if (i == 2) throw std::runtime_error{"thread 2"};
                            }),
               std::runtime_error);
}

TEST(Threads, WorkThatNeedsAllThreadsReportsAMissingThread) {
  std::atomic<int> ran{0};
  run_together(4, [&](size_t) { ++ran; });
  EXPECT_EQ(ran, 4);
  for (const int limit : {0, 2}) {
    const ThreadLimit few{limit};
    ran = 0;
    expect_input_error([&] { run_together(4, [&](size_t) { ++ran; }); },
                       {"no more threads", "ulimit -u"});
    EXPECT_EQ(ran, limit) << "those that were started have ended";
  }
  EXPECT_NO_THROW(start_thread([] {}).join()) << "the limit ends with its object";
}

TEST(Threads, UsableCoresAreTheCoresThatTheProcessMayUse) {
  const std::vector<int> before = usable_cores();
  ASSERT_FALSE(before.empty());
  std::vector<int> during;
  std::thread{[&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(before.back(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    during = usable_cores();
  }}.join();
  EXPECT_THAT(during, ElementsAre(before.back()));
}

TEST(Threads, TheCallerComputesAResultIfNoThreadCanBeStarted) {
  const auto whose = [] { return std::this_thread::get_id(); };
  EXPECT_NE(in_background(whose).get(), std::this_thread::get_id());
  const ThreadLimit none{0};
  EXPECT_EQ(in_background(whose).get(), std::this_thread::get_id());
}

}  // namespace
}  // namespace tilerail
