// The bound on machines whose copies and kernels change speed under contention, computed
// by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "cost/bound.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;

class BoundOnMachines : public ::testing::Test {
 protected:
  /// h -- s0 -- g0, g1 ... over links of 100 GB/s without latency; GPUs of 1000 TFLOP/s,
  /// one copy per direction.
  explicit BoundOnMachines(int gpus = 2) : d{memories_and_switches(gpus, 1)} {
    d.kernels[0].gemm = {gemms(DType::f64, {{1, 1000}})};
    host = add_links(d, "h", "s0", 100);
    for (size_t gpu = 1; gpu < d.memories.size(); ++gpu) {
      add_links(d, "s0", d.memories[gpu].name, 100);
      d.memories[gpu].processor->engines.h2d = d.memories[gpu].processor->engines.d2h = 1;
    }
  }
  /// On the first `gpus` GPUs, in milliseconds.
  double bound(const GemmProblem& p, size_t gpus) const {
    const Topology machine{d};
    return 1e3 * lower_bound(checked(p), machine, std::span{machine.gpus()}.first(gpus))
                     .time.value;
  }
  static GemmProblem gemm(int64_t m, int64_t n, int64_t k, double beta) {
    GemmProblem p;
    p.m = m, p.n = n, p.k = k, p.beta = beta;
    return p;
  }
  /// Copies 8192 x 8192 doubles of C and almost nothing else.
  static GemmProblem writing() { return gemm(8192, 8192, 1, 0); }
  static GemmProblem reading_and_writing() { return gemm(8192, 8192, 1, 1); }
  static constexpr double c_bytes = 8.0 * 8192 * 8192;
  static void expect_near(double milliseconds, double seconds) {
    EXPECT_NEAR(milliseconds, 1e3 * seconds, 1e3 * 5e-4 * seconds);
  }

  Topology::Description d;
  std::pair<LinkId, LinkId> host;  // to s0 and back
};

TEST_F(BoundOnMachines, AnEngineIsFasterIfCopiesInItsDirectionRaiseTheCapacity) {
  add_group(d, "memory", {host.first}, {host.second}).capacity =
      capacity({{1, 10}, {2, 60}});
  expect_near(bound(writing(), 2), c_bytes / 60e9);
}

TEST_F(BoundOnMachines, AnEngineIsFasterIfOppositeCopiesRaiseTheCapacity) {
  CapacityGroup& group = add_group(d, "memory", {host.first}, {host.second});
  group.capacity = capacity(10), group.both_busy = capacity({{1, 20}, {2, 60}, {3, 30}});
  expect_near(bound(reading_and_writing(), 1), 2 * c_bytes / 60e9);
}

TEST_F(BoundOnMachines, TheCapacityOfBothDirectionsDoesNotLimitOneDirection) {
  CapacityGroup& group = add_group(d, "memory", {host.first}, {host.second});
  group.capacity = capacity(40), group.both_busy = capacity(20);
  expect_near(bound(writing(), 1), c_bytes / 40e9);
}

TEST_F(BoundOnMachines, AnEngineHasTheRateOfOneCopy) {
  d.links[host.second.index()].per_flow = Rate{10e9};
  expect_near(bound(writing(), 1), c_bytes / 10e9);
  expect_near(bound(writing(), 2), c_bytes / 20e9);
  for (Memory& memory : d.memories)
    if (memory.processor) memory.processor->engines.d2h = 4;
  expect_near(bound(writing(), 2), c_bytes / 80e9);
}

TEST_F(BoundOnMachines, AnEngineAddsTheCapsOfAllPartsOfACopy) {
  d.vertices.push_back({"s1", VertexKind::network_switch, "s"});
  const auto [to_rail, from_rail] = add_links(d, "g0", "s1", 100);
  const auto [to_host, from_host] = add_links(d, "s1", "h", 100);
  const LinkId g0_to_s0 = host.second.index() == 1 ? LinkId{3} : LinkId{0};
  d.routes = {{MemoryId{1}, MemoryId{0}, {g0_to_s0, host.second}, "s"},
              {MemoryId{1}, MemoryId{0}, {to_rail, to_host}, "s"}};
  for (const LinkId link : {host.second, to_host})
    d.links[link.index()].per_flow = Rate{5e9};
  expect_near(bound(writing(), 1), c_bytes / 10e9);
}

// 2.147 ms of kernels: no slowdown at a duty below 0.6, a factor of 5/3 at a duty of 1.
TEST_F(BoundOnMachines, PausesAreNotPaidTwice) {
  d.kernels[0].memory_bandwidth = Rate{1e12};
  d.kernels[0].gemm[0].points = {{1, FlopRate{1e12}}};
  d.kernels[0].gemm[0].sustained = {{0.6, 1.0}, {1.0, 5.0 / 3}};
  for (Link& link : d.links) link.latency = Seconds{400e-6}, link.bandwidth = Rate{1e15};
  const GemmProblem from_host = gemm(1024, 1024, 1024, 0);
  const double work = 2.0 * 1024 * 1024 * 1024 / 1e12;
  expect_near(bound(from_host, 1), work + 4 * 400e-6);
  GemmProblem in_place = from_host;
  in_place.place_a = in_place.place_b = in_place.place_c = MemoryId{1};
  expect_near(bound(in_place, 1), work / 0.6 / 1.01);
}

/// Local work of a GPU: 1 TB/s, a launch of 1 us, GEMMs at 10 GFLOP/s or 10 TFLOP/s.
class BoundOfKernels : public BoundOnMachines {
 protected:
  BoundOfKernels() : BoundOnMachines{1} {
    d.kernels[0].launch = Seconds{1e-6};
    d.kernels[0].memory_bandwidth = Rate{1e12};
    slow();
  }
  void slow() { d.kernels[0].gemm[0].points = {{1, FlopRate{10e9}}}; }
  void fast() { d.kernels[0].gemm[0].points = {{1, FlopRate{10e12}}}; }
  double in_place(GemmProblem p, double alpha, double beta) {
    p.place_a = p.place_b = p.place_c = MemoryId{1}, p.alpha = alpha, p.beta = beta;
    return bound(p, 1);
  }
};

TEST_F(BoundOfKernels, AnAxpyReadsAndWrites) {
  constexpr double bytes = 8e8;
  expect_near(in_place(axpy_problem(100'000'000), 1, 1), 3 * bytes / 1e12);
  expect_near(in_place(axpy_problem(100'000'000), 1, 0), 2 * bytes / 1e12);
  expect_near(in_place(axpy_problem(100'000'000), 0, 2), 2 * bytes / 1e12);
  d.kernels[0].memory_bandwidth = std::nullopt;
  expect_near(in_place(axpy_problem(100'000'000), 1, 1), 1e-6);
}

TEST_F(BoundOfKernels, ScalingReadsCOnlyIfBetaIsNotZero) {
  expect_near(in_place(writing(), 0, 2), 2 * c_bytes / 1e12);
  expect_near(in_place(writing(), 0, 0), c_bytes / 1e12);
}

TEST_F(BoundOfKernels, AVectorIsReadOrMultiplied) {
  const GemmProblem gemv = gemv_problem(8192, 8192, Trans::no),
                    dot = dot_problem(100'000'000);
  expect_near(in_place(gemv, 1, 0), 2.0 * 8192 * 8192 / 10e9);
  expect_near(in_place(dot, 1, 0), 2e8 / 10e9);
  fast();
  expect_near(in_place(gemv, 1, 0), 8.0 * 8192 * 8192 / 1e12);
  expect_near(in_place(dot, 1, 0), 2 * 8e8 / 1e12);
}

TEST_F(BoundOfKernels, LoadDoesNotSlowVectors) {
  d.kernels[0].gemm[0].sustained = {{0.0, 3.0}};
  expect_near(in_place(gemv_problem(8192, 8192, Trans::no), 1, 0),
              2.0 * 8192 * 8192 / 10e9);
  // Tiles of a product may be single columns.
  expect_near(in_place(gemm(512, 512, 512, 0), 1, 0), 2.0 * 512 * 512 * 512 / 10e9);
  fast();
  expect_near(in_place(gemm(512, 512, 512, 0), 1, 0),
              3 * 2.0 * 512 * 512 * 512 / 10e12 / 1.01);
}

TEST_F(BoundOfKernels, NoKernelIsShorterThanALaunch) {
  expect_near(in_place(gemm(1, 1, 1, 0), 1, 0), 1e-6);
  expect_near(in_place(gemm(8, 8, 8, 0), 0, 2), 1e-6);
}

TEST_F(BoundOfKernels, WithoutALaunchOrLatencyFewBytesBind) {
  d.kernels[0].launch = Seconds{0};
  fast();
  expect_near(bound(gemm(1, 1, 1, 0), 1), 16 / 100e9);  // A and B in one direction
  expect_near(in_place(gemm(1, 1, 1, 0), 1, 0), 24 / 1e12);
  d.kernels[0].memory_bandwidth = std::nullopt;
  EXPECT_EQ(in_place(gemm(1, 1, 1, 0), 0, 2), 0);
}

TEST_F(BoundOfKernels, TheBindingResourceExplainsTheLargestShareOfTheTime) {
  const auto kernels = ::testing::FieldsAre(TimeUse::kernels, "g0", 0);
  const auto latency = ::testing::FieldsAre(TimeUse::latency, "", 0);
  const auto binding = [&](const GemmProblem& p) {
    const Topology machine{d};
    return lower_bound(checked(p), machine, machine.gpus()).binding;
  };
  EXPECT_THAT(binding(gemm(1024, 1024, 1024, 0)), kernels);
  for (Link& link : d.links)
    link.bandwidth = Rate{1e15};  // so that no kernel is too small to be named
  EXPECT_THAT(binding(gemm(1024, 1024, 1024, 0)), kernels);
  for (Link& link : d.links) link.latency = Seconds{10e-6};
  EXPECT_THAT(binding(gemm(1024, 1024, 1024, 0)), kernels);
  EXPECT_THAT(binding(gemm(1, 1, 1, 0)), latency);
  EXPECT_THAT(binding(gemm(32, 32, 32, 0)), latency);  // 6.6 us of kernels in 46.6 us
}

}  // namespace
}  // namespace tilerail
