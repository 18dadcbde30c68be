// The planner's models of links against the simulator, on every machine of topologies/:
// packed copies only, without issue cost, with as many simultaneous copies as there are
// pairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "cost/clock.hpp"
#include "cost/estimate.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/transport/router.hpp"
#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

struct Copy {
  MemoryId src, dst;
  int64_t bytes;
};
using Copies = std::vector<Copy>;

/// Seconds until the last of some copies arrives, if all can start at 0.
struct Ends {
  double simulated, estimated, by_clock;
};

Ends ends_of(const Topology& machine, const Copies& copies) {
  const Resources resources{machine};
  HandPlan p{machine};
  p.plan.devices.assign(machine.gpus().begin(), machine.gpus().end());
  Clock clock{resources, machine, {.devices = p.plan.devices.size(), .per_link = true}};
  double by_clock = 0;
  for (const auto& [src, dst, bytes] : copies) {
    p.copy(src, dst, bytes);
    const Bytes size{double(bytes)};
    const Clock::Arrival arrival = clock.estimate(clock.hop(src, dst), size, 1, {});
    clock.commit(clock.hop(src, dst), size, arrival);
    by_clock = std::max(by_clock, arrival.last.value);
  }
  double simulated = 0;
  for (const OpTime& time : SimExecutor{machine}.execute(p.plan).ops)
    simulated = std::max(simulated, time.end);
  return {simulated, estimate_plan(p.plan, machine, resources).makespan.value, by_clock};
}

class LinkModels : public ::testing::TestWithParam<std::string> {
 protected:
  LinkModels()
      : machine_{without_engines(GetParam())},
        gpus_{machine_.gpus().begin(), machine_.gpus().end()} {}

  static Topology without_engines(const std::string& name) {
    auto d = test::shipped(name).description();
    d.issue = {};
    remove_engine_limits(d);
    return Topology{std::move(d)};
  }

  /// Each resource alone bounds the time from below, because all bytes on it move at its
  /// rate for many copies. If several resources bound a pattern in turn, or some copies
  /// end earlier than others, the pattern takes longer. The estimate includes which
  /// direction is done first and is at most 3.5 % short (a grid on the PCIe tree). A load
  /// does not: it is 12.3 % short for a grid on two H200, where write-backs get 62 % of
  /// the host's memory.
  static void expect_load_no_shorter(double load, double simulated) {
    EXPECT_GE(load, simulated / 1.125);
  }
  static void expect_no_shorter(const Ends& ends) {
    EXPECT_GE(ends.estimated, ends.simulated / 1.04);
    expect_load_no_shorter(ends.by_clock, ends.simulated);
  }

  /// Upper limits for both models, relative to the simulation: the largest ratio of all
  /// machines, rounded up. One copy alone can exceed its share of a group: both models
  /// are 15 % off on CLX-AI, and the clock, which takes every link and group at its rate
  /// for many copies, 19 % on MeluXina. The clock is 2.24 times off for a ring on HGX
  /// H200, and at most 16 % on the other machines.
  static void expect_no_longer(const Ends& ends, double estimate, double clock) {
    EXPECT_LE(ends.estimated, ends.simulated * estimate);
    EXPECT_LE(ends.by_clock, ends.simulated * clock);
  }

  Topology machine_;
  std::vector<MemoryId> gpus_;
  static constexpr int64_t bytes = 512 * MB;
};

TEST_P(LinkModels, AgreeOnACopyAlone) {
  for (size_t s = 0; s < machine_.memories().size(); ++s)
    for (size_t d = 0; d < machine_.memories().size(); ++d) {
      const MemoryId src{s}, dst{d};
      if (s == d || !machine_.has_route(src, dst)) continue;
      SCOPED_TRACE(machine_.memory(src).name + "->" + machine_.memory(dst).name);
      const Ends ends = ends_of(machine_, {{src, dst, bytes}});
      // Planning uses the end of a capacity curve.
      const auto steady = [&](const auto& use) {
        const auto& capacity = machine_.group(use.group).capacity;
        return !capacity || capacity->points.size() == 1;
      };
      if (std::ranges::all_of(machine_.groups_on(src, dst), steady))
        expect_time(ends.estimated, ends.simulated);
      EXPECT_GE(ends.estimated, ends.simulated * (1 - 1e-9));
      EXPECT_GE(ends.by_clock, ends.simulated * (1 - 1e-9));
      expect_no_longer(ends, 1.16, 1.2);
    }
}

TEST_P(LinkModels, AgreeOnFetchesAndWriteBacksOfAllGpus) {
  const MemoryId host = machine_.hosts()[0];
  Copies in, out, both;
  for (const MemoryId gpu : gpus_) {
    in.push_back({host, gpu, bytes}), out.push_back({gpu, host, bytes});
    both.push_back(in.back()), both.push_back(out.back());
  }
  for (const Copies& copies : {in, out, both}) {
    const Ends ends = ends_of(machine_, copies);
    expect_no_shorter(ends);
    expect_no_longer(ends, 1 + 1e-9, 1.42);
  }
}

TEST_P(LinkModels, AgreeOnARingOfAllGpus) {
  Copies ring;
  for (size_t i = 0; i < gpus_.size(); ++i) {
    const MemoryId src = gpus_[i], dst = gpus_[(i + 1) % gpus_.size()];
    if (src != dst && machine_.has_route(src, dst)) ring.push_back({src, dst, bytes});
  }
  if (ring.empty()) GTEST_SKIP() << "one GPU";
  const Ends ends = ends_of(machine_, ring);
  expect_no_shorter(ends);
  expect_no_longer(ends, 1.07, 2.25);
}

// Rows of blocks, one per GPU, from the host: each GPU fetches its rows of A, all of B
// and its rows of C, and writes its rows of C.
TEST_P(LinkModels, AgreeOnTheTrafficOfAGrid) {
  const auto gpus = int64_t(gpus_.size());
  GemmProblem problem;
  problem.m = 1024 * gpus, problem.n = 8192, problem.k = 256, problem.beta = 1;
  problem.place_a = problem.place_b = problem.place_c = machine_.hosts()[0];
  const int64_t block = 8 * problem.m / gpus * problem.n;
  Copies copies;
  for (const MemoryId gpu : gpus_) {
    copies.push_back({problem.place_a.home(), gpu,
                      8 * problem.k * (problem.m / gpus + problem.n) + block});
    copies.push_back({gpu, problem.place_c.home(), block});
  }
  const GridTraffic traffic =
      grid_traffic(problem, Resources{machine_}, gpus_, {int(gpus), 1}, false);
  const Ends ends = ends_of(machine_, copies);
  expect_no_shorter(ends);
  expect_no_longer(ends, 1 + 1e-9, 1.09);
  expect_load_no_shorter(traffic.bottleneck.value, ends.simulated);
  EXPECT_LE(traffic.bottleneck.value, ends.simulated * 1.09);
}

// A relay helps if a copy to a third GPU and one on from there take less time than the
// copy itself.
TEST_P(LinkModels, FindFasterRelays) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = 8192;
  problem.place_a = problem.place_b = problem.place_c = machine_.hosts()[0];
  std::vector<MemoryId> ends = gpus_;
  ends.push_back(problem.place_a.home());
  std::map<std::pair<MemoryId, MemoryId>, double> alone;
  for (const MemoryId src : ends)
    for (const MemoryId dst : ends)
      if (src != dst && machine_.has_route(src, dst))
        alone[{src, dst}] = ends_of(machine_, {{src, dst, bytes}}).simulated;
  const auto faster_over = [&](const auto& direct, MemoryId via) {
    const auto to = alone.find({direct.first.first, via}),
               from = alone.find({via, direct.first.second});
    return to != alone.end() && from != alone.end() &&
           to->second + from->second < direct.second;
  };
  const bool faster = std::ranges::any_of(alone, [&](const auto& direct) {
    return std::ranges::any_of(gpus_,
                               [&](MemoryId via) { return faster_over(direct, via); });
  });
  EXPECT_EQ(relays_help(problem, Resources{machine_}, gpus_), faster);
}

std::vector<std::string> machines() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator{TILERAIL_SOURCE_DIR "/topologies"})
    if (file.path().extension() == ".toml") names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Every, LinkModels, ::testing::ValuesIn(machines()),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tilerail::testing
