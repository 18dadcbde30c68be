#include "model/machine/topology_toml.hpp"
#include "sched/choose/device_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "cost/estimate.hpp"
#include "model/base/files.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

using Sets = std::vector<std::vector<MemoryId>>;

std::vector<MemoryId> ids(std::initializer_list<int> values) {
  std::vector<MemoryId> all;
  for (const int value : values) all.push_back(MemoryId{value});
  return all;
}

GemmProblem placed(int a, int b, int c) {
  GemmProblem problem = cube(64);
  problem.place_a = MemoryId{a}, problem.place_b = MemoryId{b},
  problem.place_c = MemoryId{c};
  return problem;
}

TEST(DeviceSubsets, TakeTheFirstAndEvenlySpacedOnes) {
  const auto all = ids({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(device_subsets(placed(0, 0, 0), all, 4),
            (Sets{ids({1, 2, 3, 4}), ids({1, 3, 5, 7})}));
  EXPECT_EQ(device_subsets(placed(0, 0, 0), all, 1), Sets{ids({1})});
  EXPECT_EQ(device_subsets(placed(0, 0, 0), all, 8), Sets{all});
}

TEST(DeviceSubsets, KeepTheGpusWithMatrices) {
  const auto all = ids({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(device_subsets(placed(6, 0, 6), all, 3),
            (Sets{ids({1, 2, 6}), ids({1, 3, 6})}));
  EXPECT_EQ(device_subsets(placed(2, 4, 6), all, 3), Sets{ids({2, 4, 6})});
}

TEST(DeviceSubsets, PreferTheHomeOfCWhenNotAllHomesFit) {
  const auto all = ids({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(device_subsets(placed(2, 4, 6), all, 1), Sets{ids({6})});
  EXPECT_EQ(device_subsets(placed(2, 4, 6), all, 2), Sets{ids({2, 6})});
}

TEST(DeviceSubsets, LeaveOutHomesThatAreNotAmongTheDevices) {
  EXPECT_EQ(device_subsets(placed(7, 7, 7), ids({1, 2}), 1), Sets{ids({1})});
}

TEST(Search, TheSearchedTileIsNearTheBest) {
  // The returned plan is estimated at most 0.5 % slower than the best plan of a single
  // tile.
  const Topology machine = shipped("hgx-h200");
  const Resources resources{machine};
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{16384, 16384, 16384}, {3000, 3000, 30000}}) {
    GemmProblem problem;
    problem.m = m, problem.n = n, problem.k = k;
    Policy policy = any_preset("tilerail");
    const auto estimate = [&] {
      return estimate_plan(plan_gemm(problem, machine, machine.gpus(), policy), machine,
                           resources)
          .makespan.value;
    };
    const double searched = estimate();
    double best = searched;
    for (const int64_t tile : {1024, 1536, 2048, 3072, 4096, 6144, 8192})
      policy.choices.tile = tile, best = std::min(best, estimate());
    EXPECT_LE(searched, 1.005 * best) << m;
  }
}

TEST(Search, FewerGpusAreTakenIfMoreWouldOnlyWait) {
  const Topology machine = shipped("hgx-h200");
  const Resources resources{machine};
  const MemoryId fifth = machine.gpus()[4];
  const auto planned = [&](int64_t n, MemoryId place, size_t gpus,
                           std::string_view devices, std::string_view tile) {
    GemmProblem problem = cube(n);
    problem.place_a = problem.place_b = problem.place_c = place;
    return plan_gemm(problem, machine, {machine.gpus().data(), gpus},
                     policy("tilerail", {"devices=" + std::string{devices},
                                         "tile=" + std::string{tile}}));
  };
  EXPECT_EQ(planned(512, fifth, 8, "search", "search").devices, std::vector{fifth});
  EXPECT_EQ(planned(512, fifth, 8, "search", "512").devices, std::vector{fifth});
  EXPECT_EQ(planned(512, fifth, 8, "all", "search").devices.size(), 8u);
  EXPECT_EQ(planned(16384, fifth, 8, "search", "search").devices.size(), 8u);
  EXPECT_EQ(planned(16384, machine.hosts()[0], 8, "search", "search").devices.size(), 8u);
  EXPECT_TRUE(planned(0, fifth, 8, "search", "search").ops.empty());
  // More GPUs are estimated at most 0.5 % slower than fewer.
  for (const int64_t n : {300, 1500, 3000, 6000})
    for (const MemoryId place : {machine.hosts()[0], machine.gpus()[0]}) {
      double before = 1e9;
      for (const size_t gpus : {1, 2, 4, 8}) {
        const double now =
            estimate_plan(planned(n, place, gpus, "search", "search"), machine, resources)
                .makespan.value;
        EXPECT_LE(now, 1.005 * before) << n << " on " << gpus;
        before = now;
      }
    }
}

TEST(Search, OfAGivenTileTriesFewerGpusUnlessPlansAreLong) {
  const Topology machine = shipped("clx-ai");
  GemmProblem problem = cube(1024);
  const auto plan = [&](const char* tile) {
    return plan_gemm(problem, machine, machine.gpus(),
                     policy("tilerail", {tile, "effort=fast"}));
  };
  const Plan of_few = plan("tile=256"), of_many = plan("tile=32");
  EXPECT_GT(of_few.origin.candidates.size(), 1u);
  EXPECT_GT(of_many.ops.size(), 16384u);
  EXPECT_EQ(of_many.origin.candidates.size(), 1u);
}

/// two-gpu with its second GPU on a separate host, without a route to the first GPU's
/// host.
Topology split_machine() {
  std::string text = read_file(TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml");
  const auto replace = [&](const std::string& old, const std::string& with) {
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), old.size(), with);
  };
  replace("to = [\"gpu0\", \"gpu1\"]", "to = \"gpu0\"");
  replace("from = \"gpu0\"", "from = \"host1\"");
  replace(
      "[[switch]]",
      "[[memory]]\nname = \"host1\"\nkind = \"host\"\nsource = \"round\"\n\n[[switch]]");
  return read_topology(text, "split.toml");
}

TEST(Search, GpusThatDoNotReachTheMatricesAreLeftOut) {
  const Topology machine = split_machine();
  const MemoryId host = *machine.find_memory("host"),
                 host1 = *machine.find_memory("host1");
  const MemoryId gpu0 = *machine.find_memory("gpu0"), gpu1 = *machine.find_memory("gpu1");
  for (const std::string_view choice : {"devices=search", "devices=best"}) {
    for (const auto& [place, gpu] :
         {std::pair{host, gpu0}, {host1, gpu1}, {gpu1, gpu1}}) {
      GemmProblem problem = cube(256);
      problem.place_a = problem.place_b = problem.place_c = place;
      EXPECT_EQ(plan_gemm(problem, machine, machine.gpus(), policy("tilerail", {choice}))
                    .devices,
                std::vector{gpu});
    }
    GemmProblem nowhere = cube(256);  // no GPU has routes to both A and B
    nowhere.place_b = host1;
    expect_input_error(
        [&] {
          plan_gemm(nowhere, machine, machine.gpus(), policy("tilerail", {choice}));
        },
        {"no route"});
  }
  expect_input_error(
      [&] { plan_gemm(cube(256), machine, machine.gpus(), policy("gemmex")); },
      {"no route"});
}

}  // namespace
}  // namespace tilerail::testing
