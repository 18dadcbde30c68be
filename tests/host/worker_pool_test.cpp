// Threads of the host backend on plain variables: the thread sanitizer checks that each
// access is ordered.

#include "backends/host/run/worker_pool.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "model/base/threads.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::host {
namespace {

using ::testing::Each;

TEST(WorkerPool, EveryThreadRunsEveryJobOnce) {
  constexpr int jobs = 500;
  WorkerPool pool{{2, 1, 3}};
  std::vector<int> runs(6, 0);
  for (int job = 0; job < jobs; ++job)
    pool.run([&](WorkerId id) { ++runs[size_t(id.overall)]; });
  EXPECT_THAT(runs, Each(jobs));
}

TEST(WorkerPool, ThreadsAreNumberedWithinTheirDeviceAndOverall) {
  WorkerPool pool{{2, 1, 3}};
  std::vector<WorkerId> ids(6);
  pool.run([&](WorkerId id) { ids[size_t(id.overall)] = id; });
  int overall = 0;
  for (int device = 0; device < pool.devices(); ++device) {
    for (int worker = 0; worker < pool.workers(device); ++worker, ++overall) {
      EXPECT_EQ(ids[size_t(overall)].device, device);
      EXPECT_EQ(ids[size_t(overall)].worker, worker);
    }
  }
}

TEST(WorkerPool, AJobStartsOnceAndBeforeAnyOfItsThreads) {
  constexpr int jobs = 500;
  WorkerPool pool{{2, 2}};
  int started = 0;
  std::vector<int> seen(4, 0);
  for (int job = 1; job <= jobs; ++job) {
    pool.run([&](WorkerId id) { seen[size_t(id.overall)] = started; },
             [&] { ++started; });
    ASSERT_THAT(seen, Each(job));
  }
}

TEST(WorkerPool, ThreadsThatCannotBeStartedAreAnErrorAndTheOthersEnd) {
  for (const int started : {0, 1, 5}) {
    const ThreadLimit few{started};
    expect_input_error(
        [] {
          WorkerPool{{2, 1, 3}};
        },
        {std::to_string(started) + " of 6 worker threads", "no more threads",
         "ulimit -u"});
  }
  const ThreadLimit enough{6};
  EXPECT_EQ((WorkerPool{{2, 1, 3}}.size()), 6);
}

}  // namespace
}  // namespace tilerail::host
