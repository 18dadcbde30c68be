// Kernels that take longer on a busy device, and copies that share both directions
// unequally, on two-gpu.

#include <cmath>
#include <utility>

#include "model/machine/concurrent_rates.hpp"
#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

constexpr double product_time =
    2.0 * 1024 * 1024 * 1024 / 1e12;  // s, a 1024^3 GEMM alone

/// Times of GEMMs grow by half from a duty of one half to a duty of 1.
Topology loaded() {
  return two_gpu([](auto& d) {
    for (GemmCurve& curve : d.kernels[0].gemm) curve.sustained = {{0.5, 1.0}, {1.0, 1.5}};
  });
}

/// A plan whose problem has GEMMs.
HandPlan plan_on(const Topology& machine) {
  HandPlan p{machine};
  p.plan.gemm().m = p.plan.gemm().n = p.plan.gemm().k = 1024;
  return p;
}

TEST(SimLoad, ADeviceThatIsAlwaysBusyIsSlowest) {
  const Topology machine = loaded();
  HandPlan p = plan_on(machine);
  const OpId first = p.gemm(gpu0, 1024, 1024, 1024),
             second = p.gemm(gpu0, 1024, 1024, 1024);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, first, 0, 1.5 * product_time);
  expect_times(t, second, 1.5 * product_time, 3 * product_time);
}

// Load takes effect after five products, so it never slows a first call of three
// products, and always a third call.
TEST(SimLoad, LoadSlowsLaterCallsAndNotTheFirstCall) {
  auto d = loaded().description();
  d.kernels[0].gemm[0].sustained_after = Seconds{5 * product_time};
  const Topology machine{std::move(d)};
  HandPlan p = plan_on(machine);
  for (int i = 0; i < 3; ++i) p.gemm(gpu0, 1024, 1024, 1024);
  const auto makespan = [&](double calls_before) {
    return SimExecutor{machine, SimOptions{.calls_before = calls_before}}
        .execute(p.plan)
        .makespan()
        .value;
  };
  EXPECT_NEAR(makespan(0), 3 * product_time, 1e-9);
  EXPECT_NEAR(makespan(2), 1.5 * 3 * product_time, 1e-9);
  // With P = product_time: T = 3 P / ((1 - s) + s / 1.5) with s = 2 - 5 P / T:
  // T (1 - s / 3) = 3 P, T / 3 + 5 / 3 P = 3 P.
  EXPECT_NEAR(makespan(1), 4 * product_time, 0.01 * product_time);
}

TEST(SimLoad, AnIdleDeviceIsNotSlowedByABusyDevice) {
  const Topology machine = loaded();
  HandPlan p = plan_on(machine);
  for (int i = 0; i < 4; ++i) p.gemm(gpu0, 1024, 1024, 1024);
  const OpId alone = p.gemm(gpu1, 1024, 1024, 1024);  // duty of at most a quarter
  expect_times(SimExecutor{machine}.execute(p.plan), alone, 0, product_time);
}

// A pause p, then kernels that take f t: the duty of the device is d = f t / (p + f t).
// With p = t / 2 and f = 1 + (d - 1/2) this is d (1 + d) = 1/2 + d: d = sqrt(1/2), f =
// 1/2 + sqrt(1/2).
TEST(SimLoad, TheFactorAgreesWithTheLoadThatItCauses) {
  const Topology machine = loaded();
  HandPlan p = plan_on(machine);
  const double rate = 10e9, pause = product_time / 2;
  const auto bytes = int64_t((pause - 10 * us) * rate / 8) * 8;
  const OpId copy = p.copy(host, gpu0, bytes),
             kernel = p.gemm(gpu0, 1024, 1024, 1024, {copy});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  EXPECT_NEAR(t.ops[kernel.index()].start, pause, 1e-3 * pause);
  const double taken = t.ops[kernel.index()].end - t.ops[kernel.index()].start;
  EXPECT_NEAR(taken / product_time, 0.5 + std::sqrt(0.5), 5e-3);
}

// Pauses of 18.4 times the kernel: a duty of 0.0515 at first, and each pass adds about
// 0.03 to a factor that agrees with its load only near 2.1.
TEST(SimLoad, TheFactorIsNotTooSmallIfTheLoadFollowsSlowly) {
  const Topology machine = two_gpu([](auto& d) {
    for (GemmCurve& curve : d.kernels[0].gemm)
      curve.sustained = {{0.05, 1}, {0.1, 2.05}, {1, 21}};
  });
  HandPlan p = plan_on(machine);
  const OpId copy = p.copy(host, gpu0, int64_t(18.4 * product_time * 10e9 / 8) * 8);
  const OpId kernel = p.gemm(gpu0, 1024, 1024, 1024, {copy});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  const double end = t.ops[kernel.index()].end, taken = end - t.ops[kernel.index()].start;
  const double duty = taken / end,
               right = machine.kernels_of(gpu0).gemm[0].load_factor(duty);
  EXPECT_GE(taken / product_time, right / 1.002);
  EXPECT_LE(taken / product_time, right * 1.3);
}

TEST(SimLoad, AKernelThatFillsAQuarterOfADeviceLoadsItByAQuarter) {
  auto d = loaded().description();
  d.kernels[0].gemm[0].points = {{256, FlopRate{0.25e12}}, {512, FlopRate{1e12}}};
  const Topology machine{std::move(d)};
  HandPlan p = plan_on(machine);
  const OpId alone = p.gemm(gpu0, 256, 256, 2048);
  expect_times(SimExecutor{machine}.execute(p.plan), alone, 0,
               2.0 * 256 * 256 * 2048 / 0.25e12);
}

TEST(SimLoad, OnlyGemmsAreSlower) {
  const Topology machine = loaded();
  HandPlan p = plan_on(machine);
  const OpId axpby = p.axpby(gpu0, 1024, 1024, Scalar::one, Scalar::one);
  const Timeline with = SimExecutor{machine}.execute(p.plan),
                 without = SimExecutor{two_gpu()}.execute(p.plan);
  EXPECT_EQ(with.ops[axpby.index()].end, without.ops[axpby.index()].end);
}

TEST(SimLoad, AResultOfOneRowOrColumnIsNeverSlower) {
  const Topology machine = loaded();
  for (const auto& [m, n] : {std::pair{1024, 1}, std::pair{1, 1024}}) {
    HandPlan p = plan_on(machine);
    const OpId vector = p.gemm(gpu0, m, n, 1024);
    const Timeline with = SimExecutor{machine}.execute(p.plan),
                   without = SimExecutor{two_gpu()}.execute(p.plan);
    EXPECT_EQ(with.ops[vector.index()].end, without.ops[vector.index()].end);
  }
}

TEST(SimLoad, AProductOfAnyRoutineIsSlower) {
  const Topology machine = loaded();
  HandPlan p = plan_on(machine);
  p.plan.gemm().routine = Routine::gemv, p.plan.gemm().n = 1;
  const OpId product = p.gemm(gpu0, 1024, 1024, 1024);
  expect_times(SimExecutor{machine}.execute(p.plan), product, 0, 1.5 * product_time);
}

/// End of a product of 1024^3 alone on its device, with C on columns of 8 bytes, which
/// have this factor.
double end_of_unaligned(double factor) {
  const Topology machine = two_gpu([=](auto& d) {
    for (GemmCurve& curve : d.kernels[0].gemm)
      curve.sustained = {{0.5, 1.0}, {1.0, 1.5}}, curve.alignment = {{8, factor}};
  });
  HandPlan p = plan_on(machine);
  const OpId product = p.gemm(gpu0, 1024, 1024, 1024);
  Buffer& c = p.plan.buffers[p.plan.result(p.plan.op(product)).buffer.index()];
  c.ld = 1025;
  p.plan.peak_bytes[gpu0.index()] = c.ld * c.cols * 8;
  return SimExecutor{machine}.execute(p.plan).ops[product.index()].end;
}

// The device is always busy: 1.5 times as long, which is more than 1.4 for waiting for
// operands, but less than 2.
TEST(SimLoad, OnlyTheLargerOfMisalignmentAndLoadCounts) {
  expect_time(end_of_unaligned(1.4), 1.5 * product_time);
  expect_time(end_of_unaligned(2), 2 * product_time);
}

/// 8 GB/s for both directions of the uplink, with a share of a quarter for copies from
/// the host; `change` edits it further.
Topology shared(const std::function<void(Topology::Description&)>& change = {}) {
  return two_gpu([&](auto& d) {
    if (change) change(d);
    remove_engine_limits(d);
    CapacityGroup group;
    group.name = "uplink", group.source = "round";
    group.forward = {link_named(d, "host->pcie0")},
    group.backward = {link_named(d, "pcie0->host")};
    group.both_busy = CapacityCurve{{{1, Rate{8e9}}}};
    group.forward_share = 0.25;
    d.groups.push_back(group);
  });
}

TEST(SimLoad, BothDirectionsGetTheSharesOfTheDescription) {
  const Topology machine = shared();
  HandPlan p{machine};
  // 2 and 6 GB/s for 4 ms; then the other 12 MB of the first at its full 10 GB/s.
  const OpId in = p.copy(host, gpu0, 20 * MB), out = p.copy(gpu1, host, 24 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, out, 0, 10 * us + 4 * ms);
  expect_times(t, in, 0, 10 * us + 4 * ms + 1.2 * ms);
}

// Copies from the host use 1 of their 2 GB/s: the other direction gets 7 instead of 6,
// and 28 MB take 4 ms.
TEST(SimLoad, OneDirectionGetsTheRestOfACappedOppositeCopy) {
  const Topology machine = shared([](auto& d) {
    d.links[link_named(d, "pcie0->gpu0").index()].per_flow = Rate{1e9};
  });
  HandPlan p{machine};
  const OpId in = p.copy(host, gpu0, 10 * MB), out = p.copy(gpu1, host, 28 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, out, 0, 10 * us + 4 * ms);
  expect_times(t, in, 0, 10 * us + 10 * ms);
}

// The same, capped by columns of 1 KiB that move at a tenth of 10 GB/s: 10000 of them
// take 10.24 ms.
TEST(SimLoad, OneDirectionGetsTheRestOfAStridedOppositeCopy) {
  const Topology machine = shared([](auto& d) {
    d.strided = {.points = {{Bytes{1024}, 0.1}}, .source = "round"};
  });
  HandPlan p{machine};
  const OpId in = p.copy(host, gpu0, 128, 10'000, 256, {}, 0),
             out = p.copy(gpu1, host, 28 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, out, 0, 10 * us + 4 * ms);
  expect_times(t, in, 0, 10 * us + 10.24 * ms);
}

TEST(SimLoad, RatesEqualConcurrentRates) {
  const Topology machine = shared();
  const std::pair<MemoryId, MemoryId> flows[] = {
      {host, gpu0}, {host, gpu1}, {gpu0, host}, {gpu1, host}};
  const auto rates = concurrent_rates(machine, flows);
  HandPlan p{machine};
  // The bytes of each copy fill 8 ms: all end together.
  for (size_t i = 0; i < 4; ++i)
    p.copy(flows[i].first, flows[i].second, int64_t(rates[i].value * 8 * ms));
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  for (int i = 0; i < 4; ++i) expect_times(t, OpId{i}, 0, 10 * us + 8 * ms);
}

}  // namespace
}  // namespace tilerail::testing
