// No plan is simulated to be faster than the bound, on random problems, machines and
// policies; and no bound is higher on a machine with a faster part.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "backends/fluid/simulation.hpp"
#include "cost/bound.hpp"
#include "model/kernels/kernel_limits.hpp"
#include "model/machine/topology_writer.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

/// Tolerances of a simulation: dates are sums of many terms, and dates within 1 ps are
/// simultaneous.
constexpr double rounding = 1e-9, picosecond = 1e-12;

void check_bound(const Case& c, const Topology& machine) {
  RC_LOG() << describe(c) << " on " << machine.name() << std::endl;
  Policy policy = c.policy;
  if (*rc::gen::inRange(0, 4) == 0) apply_override(policy, "warm=on");
  const Plan plan = plan_gemm(c.problem, machine, c.devices, policy);
  const Bound bound = lower_bound(plan, machine);
  const double simulated = makespan_of(simulate_fluid(plan, machine)).value;
  RC_LOG() << "bound " << bound.time.value << " s (" << bound.binding.name
           << "), simulated " << simulated << " s\n";
  RC_ASSERT(bound.time.value >= 0);
  constexpr size_t few = 8;
  RC_ASSERT(bound.is_exact || c.devices.size() > few);
  const double merged = picosecond * double(plan.ops.size());
  RC_ASSERT(simulated >= bound.time.value * (1 - rounding) - merged);
}

/// RapidCheck draws numbers from the lower part of their range, especially at first; this
/// draws from the whole range. It can call `draw` again after this function has returned.
template <class Draw>
auto over_whole_ranges(Draw draw) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::exec(draw));
}

TEST(LowerBound, HoldsForSmallProblemsOnSmallMachines) {
  EXPECT_TRUE(rc::check("no plan of a small problem is faster than its bound", [] {
    const int gpus = *rc::gen::inRange(1, 9);
    const Case c =
        random_case(gpus, {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
    check_bound(c, random_machine(c, gpus));
  }));
}

TEST(LowerBound, HoldsOnShippedMachines) {
  EXPECT_TRUE(
      rc::check("no plan is faster than its bound on the machines that are shipped", [] {
        const Topology machine =
            test::shipped(*rc::gen::elementOf(test::shipped_names()));
        check_bound(random_case_on(machine), machine);
      }));
}

/// Latencies near the time of a GPU's multiplications, and wide links: GPUs are idle for
/// part of the time.
Topology with_pauses(const Topology& machine, const GemmProblem& p) {
  auto d = machine.description();
  const KernelLimits limits = kernel_limits(machine.kernels_of(machine.gpus()[0]), p);
  const Seconds work = limits.rate ? p.flops() / *limits.rate : Seconds{1e-6};
  const Seconds latency = std::min(Seconds{10}, pick({0.03, 0.1, 0.3, 1.0}) * work);
  for (Link& link : d.links) link.latency = latency, link.bandwidth = Rate{1e15};
  return Topology{std::move(d)};
}

/// Copies between GPUs that are much slower than over the hosts, or the other way round.
Topology with_slow_peers(const Topology& machine, const GemmProblem&) {
  auto d = machine.description();
  const bool peers = pick({true, false});
  for (Link& link : d.links) {
    const bool between = d.vertices[link.from.index()].kind == VertexKind::gpu &&
                         d.vertices[link.to.index()].kind == VertexKind::gpu;
    if (between == peers) link.bandwidth = pick({0.001, 0.03}) * link.bandwidth;
  }
  return Topology{std::move(d)};
}

/// Sometimes more than 16, for which the bound does not distinguish pairs of GPUs.
int random_count_of_gpus() {
  return *rc::gen::weightedOneOf<int>(
      {{50, rc::gen::element(1, 1, 1, 2, 2, 3, 4, 6)}, {1, rc::gen::inRange(17, 21)}});
}

TEST(LowerBound, HoldsOnMachinesOfRandomFigures) {
  EXPECT_TRUE(rc::check("no plan is faster than its bound on any machine", [] {
    const Topology machine = over_whole_ranges([] {
      return random_topology(pick({1, 1, 1, 2, 3}), random_count_of_gpus());
    });
    RC_LOG() << to_toml(machine.description()) << std::endl;
    const auto draw = [machine] { return random_case_in_few_tiles(machine); };
    for (int problem = 0; problem < 3; ++problem)
      check_bound(over_whole_ranges(draw), machine);
    for (const auto change : {with_pauses, with_slow_peers}) {
      const Case changed = over_whole_ranges(draw);
      check_bound(changed, over_whole_ranges([change, machine, changed] {
                    return change(machine, changed.problem);
                  }));
    }
  }));
}

template <class T>
T& one_of(std::vector<T>& values) {
  return values[*rc::gen::inRange<size_t>(0, values.size())];
}

Rate& random_rate(CapacityCurve& curve) { return one_of(curve.points).rate; }

/// Adds links in both directions between two nodes, in addition to existing ones.
void add_link(Topology::Description& d) {
  const size_t from = *rc::gen::inRange<size_t>(0, d.vertices.size());
  const size_t to =
      (from + *rc::gen::inRange<size_t>(1, d.vertices.size())) % d.vertices.size();
  Link link{"",
            VertexId{from},
            VertexId{to},
            Rate{pick({1e9, 20e9, 400e9, 1e14})},
            Seconds{pick({0.0, 1e-6, 1e-3})},
            {},
            "s"};
  d.links.push_back(link);
  std::swap(link.from, link.to);
  d.links.push_back(link);
}

/// The same machine with one more link, or with one better figure.
Topology faster(const Topology& machine) {
  auto d = machine.description();
  const double factor = pick({1.001, 1.5, 10.0, 1000.0});
  constexpr Rate most{1e15};  // the limit of a description
  const auto raise = [&](Rate& rate) {
    rate = std::max(rate, std::min(factor * rate, most));
  };
  Link& link = one_of(d.links);
  KernelTimes& kernels = one_of(d.kernels);
  switch (pick({0, 1, 1, 1, 2, 3, 4, 5, 6, 7})) {
    case 0:
      add_link(d);
      break;
    case 1:
      raise(link.bandwidth);
      break;
    case 2:
      if (link.per_flow) raise(*link.per_flow);
      break;
    case 3:
      link.latency = link.latency / factor;
      break;
    case 4:
      if (!d.groups.empty())
        if (CapacityGroup& group = one_of(d.groups); group.capacity)
          raise(random_rate(*group.capacity));
      break;
    case 5:
      if (!d.groups.empty())
        if (CapacityGroup& group = one_of(d.groups); group.both_busy)
          raise(random_rate(*group.both_busy));
      break;
    case 6:
      if (auto& processor = one_of(d.memories).processor)
        if (auto& peer = processor->engines.peer) peer = *peer + 1;
      break;
    case 7:
      if (kernels.memory_bandwidth) raise(*kernels.memory_bandwidth);
      break;
  }
  return Topology{std::move(d)};
}

TEST(LowerBound, IsNoHigherOnAFasterMachine) {
  EXPECT_TRUE(rc::check("a link more, or a better figure, never raises the bound", [] {
    const Topology machine = over_whole_ranges([] {
      return random_topology(pick({1, 1, 2, 3}), *rc::gen::inRange(1, 7));
    });
    const Topology better = over_whole_ranges([machine] { return faster(machine); });
    const Case c =
        over_whole_ranges([machine] { return random_case_in_few_tiles(machine); });
    RC_LOG() << describe(c) << "\n"
             << to_toml(machine.description()) << "\n"
             << to_toml(better.description());
    constexpr double precise = 2e-5;  // precision of bisection, and of its programs
    const Bound now = lower_bound(checked(c.problem), machine, c.devices);
    const Bound then = lower_bound(checked(c.problem), better, c.devices);
    RC_LOG() << now.time.value << " s (" << now.binding.name << "), " << then.time.value
             << " s (" << then.binding.name << ")\n";
    RC_ASSERT(now.is_exact && then.is_exact);
    RC_ASSERT(then.time.value <= now.time.value * (1 + precise));
  }));
}

}  // namespace
}  // namespace tilerail::testing
