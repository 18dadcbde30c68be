// Capacity groups over two-gpu's links between host and pcie0 (12 GB/s each way; a single
// copy gets 10 GB/s).

#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

using Points = std::vector<CapacityCurve::Point>;

/// two-gpu without engine limits and with one group over its uplink.
Topology grouped(const Points& capacity, const Points& both_busy) {
  return two_gpu([&](auto& d) {
    remove_engine_limits(d);
    CapacityGroup group;
    group.name = "uplink";
    group.forward = {link_named(d, "host->pcie0")};
    group.backward = {link_named(d, "pcie0->host")};
    if (!capacity.empty()) group.capacity = CapacityCurve{capacity};
    if (!both_busy.empty()) group.both_busy = CapacityCurve{both_busy};
    group.source = "round";
    d.groups.push_back(group);
  });
}

TEST(SimGroups, BothDirectionsShareOneCapacity) {
  const Topology machine = grouped({{1, Rate{8e9}}}, {});
  HandPlan p{machine};
  // 4 GB/s each for 5 ms; then the other 20 MB of the second, at 8 GB/s.
  const OpId in = p.copy(host, gpu0, 20 * MB), out = p.copy(gpu1, host, 40 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, in, 0, 10 * us + 5 * ms);
  expect_times(t, out, 0, 10 * us + 7.5 * ms);
}

TEST(SimGroups, BothBusyAppliesOnlyWhileBothDirectionsRun) {
  const Topology machine = grouped({}, {{1, Rate{8e9}}});
  HandPlan p{machine};
  // As above, but alone the second copy gets its full 10 GB/s: 20 MB in 2 ms.
  const OpId in = p.copy(host, gpu0, 20 * MB), out = p.copy(gpu1, host, 40 * MB);
  // Two copies in one direction are not limited by it: 6 GB/s each of the uplink.
  const OpId x = p.copy(host, gpu0, 12 * MB, {in, out}, 0),
             y = p.copy(host, gpu1, 12 * MB, {in, out}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, in, 0, 10 * us + 5 * ms);
  expect_times(t, out, 0, 10 * us + 7 * ms);
  expect_times(t, x, 10 * us + 7 * ms, 20 * us + 9 * ms);
  expect_times(t, y, 10 * us + 7 * ms, 20 * us + 9 * ms);
}

TEST(SimGroups, BothBusyReplacesTheCapacity) {
  const Topology machine = grouped({{1, Rate{6e9}}}, {{1, Rate{10e9}}});
  HandPlan p{machine};
  // 5 GB/s each while both run, 4 ms; then 20 MB at the 6 GB/s of one direction.
  const OpId in = p.copy(host, gpu0, 20 * MB), out = p.copy(gpu1, host, 40 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, in, 0, 10 * us + 4 * ms);
  expect_times(t, out, 0, 10 * us + 4 * ms + 20.0 / 6 * ms);
}

TEST(SimGroups, CapacityFollowsTheNumberOfCopies) {
  // 4 GB/s for one copy, 9 for three; linear between them, so 6.5 for two; 9 for four and
  // more.
  const Topology machine = grouped({{1, Rate{4e9}}, {3, Rate{9e9}}}, {});
  HandPlan p{machine};
  // Four copies of 9, 18, 27 and 36 MB at 2.25 GB/s: 4 ms. Three at 3: 3 ms more. Two
  // at 3.25: 9/3.25 ms more. The last 9 MB at 4: 2.25 ms more.
  for (int i = 0; i < 4; ++i) p.copy(host, gpu0, (i + 1) * 9 * MB, {}, i);
  const double ends[] = {4 * ms, 7 * ms, 7 * ms + 9 / 3.25 * ms,
                         7 * ms + 9 / 3.25 * ms + 2.25 * ms};
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  for (int i = 0; i < 4; ++i) expect_times(t, OpId{i}, 0, 10 * us + ends[i]);
}

TEST(SimGroups, ACopyThatPaysItsLatencyDoesNotCountYet) {
  const Topology machine = grouped({{1, Rate{8e9}}, {2, Rate{4e9}}}, {});
  HandPlan p{machine};
  // Copy 1 starts when copy 0 ends, at 1.01 ms, and copy 2 has flowed since 10 us: it is
  // alone only during the latency of copy 1. From 10 us: 2 GB/s each. Copy 0 (2 MB) ends
  // at 1.01 ms; then 10 us at 8 GB/s: 0.08 MB; then 2 GB/s each again: copy 1 (2 MB) ends
  // 1 ms later, at 2.02 ms. By then copy 2 has 2 + 0.08 + 2 MB of 8.08: the last 4 take
  // 0.5 ms.
  const OpId zero = p.copy(host, gpu0, 2 * MB, {}, 0),
             one = p.copy(host, gpu0, 2 * MB, {}, 0);
  const OpId two = p.copy(host, gpu1, 8'080'000, {}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, zero, 0, 1.01 * ms);
  expect_times(t, one, 1.01 * ms, 2.02 * ms);
  expect_times(t, two, 0, 2.52 * ms);
}

TEST(SimGroups, ACopyOverTwoLinksOfAGroupCountsOnce) {
  const Topology machine = two_gpu([](auto& d) {
    CapacityGroup group;
    group.name = "board";
    group.forward = {link_named(d, "host->pcie0"), link_named(d, "pcie0->gpu0")};
    group.capacity = CapacityCurve{{{1, Rate{8e9}}, {2, Rate{2e9}}}};
    group.source = "round";
    d.groups.push_back(group);
  });
  HandPlan p{machine};
  const OpId copy = p.copy(host, gpu0, 8 * MB);
  expect_times(SimExecutor{machine}.execute(p.plan), copy, 0, 1.01 * ms);
}

}  // namespace
}  // namespace tilerail::testing
