// Less memory on the GPUs never makes plans much faster, also if tiles no longer fit, and
// no plan exceeds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "backends/fluid/simulation.hpp"
#include "backends/host/run/host_executor.hpp"
#include "plan/memory_needs.hpp"
#include "plan/validate.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/plan_interpreter.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

/// Instrumented plans take minutes.
#if defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

using Draws = std::mt19937;

template <class T>
T one_of(Draws& random, std::initializer_list<T> values) {
  return std::data(values)[random() % values.size()];
}

Topology with_capacity(const Topology& machine, std::span<const MemoryId> gpus,
                       double bytes) {
  auto limited = machine.description();
  for (const MemoryId gpu : gpus) limited.memories[gpu.index()].capacity = Bytes{bytes};
  return Topology{std::move(limited)};
}

/// A product of 3 to 7 tiles along each side, with matrices on a host, on a GPU that does
/// not compute, or on one that `computes`.
GemmProblem random_product(Draws& random, const Topology& machine, size_t gpus,
                           int64_t tile, bool computes) {
  const auto side = [&] {
    return tile * int64_t(3 + random() % 5) + one_of<int64_t>(random, {0, 0, tile / 3});
  };
  const auto trans = [&] { return one_of(random, {Trans::no, Trans::no, Trans::yes}); };
  const MemoryId host = machine.hosts().front();
  const auto place = [&]() -> Layout {
    return one_of(random, {host, host, computes ? machine.gpus()[random() % gpus] : host,
                           gpus < machine.gpus().size() ? machine.gpus()[gpus] : host});
  };
  GemmProblem p;
  p.m = side(), p.n = side(), p.k = side();
  p.dtype = one_of(random, {DType::f64, DType::f32});
  p.trans_a = trans(), p.trans_b = trans();
  p.beta = one_of<double>(random, {0, 1});
  p.place_a = place(), p.place_b = place(), p.place_c = place();
  return p;
}

/// A policy that simulates plans of different sizes of memory, and no other variants.
Policy random_order(Draws& random, int64_t tile) {
  Policy policy = preset("tilerail");
  policy.device_choice = DeviceChoice::all, policy.effort = Effort::fixed;
  policy.choices.tile = tile;
  for (const std::string& option :
       {one_of<std::string>(random, {"order=fifo", "order=fewest-fetches", "order=eta",
                                     "order=eta-all", "order=steps"}),
        one_of<std::string>(random, {"batch=tree", "batch=chain", "batch=off"}),
        one_of<std::string>(random, {"c-tiles=eager", "c-tiles=lazy"}),
        one_of<std::string>(random, {"write-backs=in-order", "write-backs=with-next",
                                     "write-backs=own-queues"}),
        one_of<std::string>(random, {"tile-rows=side", "tile-rows=all"}),
        one_of<std::string>(random, {"tile-depth=side", "tile-depth=growing",
                                     "tile-depth=columns", "tile-depth=all"})})
    apply_override(policy, option);
  return policy;
}

PlanSimulator fluid(const Topology& machine) {
  const auto of = [&machine](const Plan& plan) {
    return PlanCost{makespan_of(simulate_fluid(plan, machine)), {}};
  };
  return {of, Seconds{4e-6}};
}

bool evicts(const Plan& plan) {
  return std::ranges::find(plan.origin.decisions, PlanDecision{"tiles", "evicted"}) !=
         plan.origin.decisions.end();
}

/// Sizes of memory, from a size for all tiles down to the least size for the slots.
std::vector<double> capacities(const GemmProblem& problem, const Topology& machine,
                               std::span<const MemoryId> gpus, const Policy& policy,
                               double slots) {
  constexpr int steps = 20;
  const double fraction = policy.choices.memory_fraction;
  const Plan plan = plan_gemm(problem, machine, gpus, policy);
  const double most = 2 * double(std::ranges::max(plan.peak_bytes)) / fraction,
               least = slots / fraction;
  double matrices = 0;
  const auto needs = memory_needs(plan, machine);
  for (const MemoryId gpu : gpus)
    matrices = std::max(matrices, needs[gpu.index()].matrices);
  std::vector<double> all;
  for (int step = 0; step <= steps; ++step)
    all.push_back(matrices + most * std::pow(least / most, double(step) / steps));
  return all;
}

TEST(Capacity, LessIsNotFaster) {
  constexpr int problems = is_sanitized ? 3 : 30;
  constexpr double tolerance = 0.01, slots = 5;  // slots: of the smallest capacity
  constexpr double by_estimate = 0.06;  // automatic tiles of other sizes are estimated
  int evicted = 0, fitted = 0;
  for (int number = 0; number < problems; ++number) {
    Draws random{unsigned(1000 + number)};
    const Topology machine = test::shipped(one_of<std::string>(
        random, {"karolina-hgx-a100", "hgx-h200-4", "clx-ai", "meluxina-a100",
                 "summit-node", "two-gpu", "pcie-tree-8", "hgx-h100-2"}));
    const size_t count = 1 + random() % std::min<size_t>(4, machine.gpus().size());
    const auto gpus = std::span{machine.gpus()}.first(count);
    const int64_t tile = one_of<int64_t>(random, {512, 1024});
    const bool automatic = number % 5 == 4;
    const GemmProblem problem =
        random_product(random, machine, count, automatic ? tile / 4 : tile, true);
    const Policy policy = random_order(random, automatic ? 0 : tile);
    double slowest = 0;  // of larger capacities
    for (const double capacity :
         capacities(problem, machine, gpus, policy,
                    slots * double(tile * tile * element_size(problem.dtype)) /
                        (automatic ? 16 : 1))) {
      const Topology limited = with_capacity(machine, gpus, capacity);
      const Plan plan = plan_gemm(problem, limited, gpus, policy, fluid(limited));
      ASSERT_NO_THROW(validate(plan, limited));
      for (const MemoryId gpu : gpus)
        ASSERT_LE(double(plan.peak_bytes[gpu.index()]),
                  policy.choices.memory_fraction * capacity);
      ++(evicts(plan) ? evicted : fitted);
      const double seconds = makespan_of(simulate_fluid(plan, limited)).value;
      EXPECT_GE(seconds, (1 - (automatic ? by_estimate : tolerance)) * slowest)
          << number << " capacity " << capacity << " " << name_of(policy) << " "
          << machine.name() << " gpus " << count;
      slowest = std::max(slowest, seconds);
    }
  }
  EXPECT_GT(evicted, 5 * problems);
  EXPECT_GT(fitted, problems);
}

TEST(Capacity, NoTilesInArenasEndTheSearchOfSizes) {
  const Topology machine = test::shipped("hgx-h200-1");
  GemmProblem problem;
  problem.m = problem.n = problem.k = 1024;
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  Policy policy = preset("tilerail");
  policy.effort = Effort::fixed, policy.choices.tile = 1024;
  int simulations = 0;
  PlanSimulator counted = fluid(machine);
  counted.of = [&, of = counted.of](const Plan& plan) { return ++simulations, of(plan); };
  plan_gemm(problem, machine, machine.gpus(), policy, counted);
  EXPECT_LT(simulations, 10);
}

TEST(Capacity, LittleIsEnoughForRightResults) {
  constexpr int64_t tile = 16;
  for (int number = 0; number < 12; ++number) {
    Draws random{unsigned(number)};
    const int64_t slots = 5 + 3 * (number % 4);
    const std::vector<int64_t> capacities(3, slots * tile * tile * 8);
    const Topology machine = test_machine(capacities);
    GemmProblem problem =
        random_product(random, machine, machine.gpus().size(), tile, false);
    problem.dtype = DType::f64;
    Policy policy = random_order(random, tile);
    policy.effort = Effort::fast, policy.choices.memory_fraction = 1;
    const Plan plan = plan_gemm(problem, machine, machine.gpus(), policy);
    EXPECT_TRUE(evicts(plan));
    Matrices data = integer_matrices(plan.gemm(), uint64_t(number));
    const std::vector<double> expected = reference(plan.gemm(), data);
    HostExecutor host{machine, {}};
    host.set_matrices({data.a.data(), data.b.data(), data.c.data()});
    host.execute(plan);
    EXPECT_EQ(data.c, expected) << number;
  }
}

}  // namespace
}  // namespace tilerail::testing
