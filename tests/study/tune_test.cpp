// Tuned plans that several processes find at the same time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "study/planning/plan_cache.hpp"
#include "study/sweep/keys.hpp"
#include "study/tune/tune.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::study {
namespace {

/// What stays of a plan that takes so long, which another process puts into the file while this one is searching.
double kept_beside(double seconds) {
  Sweep sweep;
  set_key(sweep.base, "gemm", "64"), set_key(sweep.base, "topology", TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml");
  const Topology machine = machine_of_tune(sweep);
  const std::vector<TuneTask> tasks = tune_tasks(sweep, machine);
  const std::string file = ::testing::TempDir() + "tune-test-plans-" + std::to_string(::getpid()) + ".toml";
  std::filesystem::remove(file);
  TuneSettings settings;
  settings.budget = 200, settings.version = program_version();
  Workers workers;
  workers.ended = [&](size_t, size_t) {
    update_plan_cache(file, owner_of(machine), [&](PlanCache& cache) {
      TunedPlan other;
      other.decisions = {{"tile", "64"}}, other.preset = "gemmex", other.plan_hash = "0123456789abcdef";
      other.seconds = seconds, other.version = program_version();
      cache.plans.try_emplace(tasks.front().key, other);
    });
  };
  const std::vector<TuneResult> results = tune(tasks, machine, file, settings, workers);
  EXPECT_EQ(results.at(0).error, "");
  const PlanCache cache = load_plan_cache(file);
  EXPECT_EQ(cache.plans.at(tasks.front().key), results[0].tuned);
  std::filesystem::remove(file);
  return results[0].tuned->seconds;
}

TEST(Tune, KeepsWhatAnotherProcessHasFoundWhereThatIsBetter) {
  EXPECT_EQ(kept_beside(1e-9), 1e-9);
  EXPECT_LT(kept_beside(1e3), 1);
}

}  // namespace
}  // namespace tilerail::study
