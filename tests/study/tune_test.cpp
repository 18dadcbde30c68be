// Tuning tasks and their stored results.
#include "study/tune/tune.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "study/planning/plan_cache.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::study {
namespace {

class Tune : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(file_); }
  void TearDown() override { std::filesystem::remove(file_); }

  static Sweep sweep(const std::vector<std::string>& axes) {
    JobText base;
    base.problem.gemm = "64";
    base.machine.topology = TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml";
    return sweep_of(base, axes);
  }

  const std::string file_ =
      ::testing::TempDir() + "tune-test-plans-" + std::to_string(::getpid()) + ".toml";
};

TEST_F(Tune, PointsWithOnePlanAreOneTask) {
  const Sweep points = sweep({"m=64,48", "alpha=1,2"});
  EXPECT_EQ(tune_tasks(points, machine_of_tune(points)).size(), 2u);
}

TEST_F(Tune, EveryTaskHasAResultInTheFile) {
  const Sweep points = sweep({"m=64,48"});
  const Topology machine = machine_of_tune(points);
  const std::vector<TuneTask> tasks = tune_tasks(points, machine);
  size_t ended = 0;
  const Workers workers{.count = 2, .ended = [&](size_t done, size_t) { ended = done; }};
  const std::vector<TuneResult> results =
      tune(tasks, machine, file_, {.effort = Effort::fast}, workers);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(ended, 2u);
  const PlanCache cache = load_plan_cache(file_);
  for (const TuneResult& result : results) {
    EXPECT_EQ(result.error, "");
    ASSERT_TRUE(result.tuned);
    EXPECT_EQ(cache.plans.at(result.key), result.tuned);
    EXPECT_LE(result.tuned->seconds, *result.planned_s);
  }
  EXPECT_TRUE(
      tune(tasks, machine, file_, {.effort = Effort::fast}, workers).front().known);
}

}  // namespace
}  // namespace tilerail::study
