// Tasks in several threads.
#include "study/parallel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/threads.hpp"

namespace tilerail::study {
namespace {

TEST(Parallel, EachTaskIsDoneOnceAndCounted) {
  for (const size_t count : {size_t{1}, size_t{3}, size_t{200}, size_t{1} << 50}) {
    std::array<std::atomic<int>, 150> done{};
    std::vector<size_t> ended;
    const auto note = [&](size_t so_many, size_t all) {
      EXPECT_EQ(all, done.size());
      ended.push_back(so_many);
    };
    in_parallel({.count = count, .ended = note}, done.size(),
                [&](size_t task) { ++done[task]; });
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
    ASSERT_EQ(ended.size(), done.size());
    for (size_t i = 0; i < ended.size(); ++i) EXPECT_EQ(ended[i], i + 1);
  }
  in_parallel({.count = 2}, 0, [](size_t) { FAIL(); });
}

TEST(Parallel, AnErrorLeavesOutTasksThatHaveNotBegun) {
  std::atomic<int> begun{0};
  const auto fail = [&](size_t) {
    ++begun;
    throw HardwareError{"no GPU"};
  };
  EXPECT_THROW(in_parallel({.count = 3}, 1000, fail), HardwareError);
  EXPECT_LE(begun, 3);
}

TEST(Parallel, NoTaskBeginsAfterAStopRequest) {
  std::atomic<int> done{0};
  const Workers workers{.count = 1, .stop_asked = [&] { return done >= 5; }};
  in_parallel(workers, 1000, [&](size_t) { ++done; });
  EXPECT_EQ(done, 5);
}

TEST(Parallel, TasksRunWithoutThreadsThatCannotBeStarted) {
  const ThreadLimit none{0};
  std::atomic<int> done{0};
  in_parallel({.count = 8}, 20, [&](size_t) { ++done; });
  EXPECT_EQ(done, 20);
}

}  // namespace
}  // namespace tilerail::study
