// The bound for copies over hosts, for partial sums, and for pages of several hosts.
// Computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cost/bound.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using namespace small_machine;

GemmProblem cube(int64_t side, DType dtype) {
  GemmProblem p;
  p.m = p.n = p.k = side, p.dtype = dtype;
  return p;
}

/// Six GPUs, each with a link of 25 GB/s to the host, and slow links of 3.5 GB/s between
/// GPUs.
Topology slow_peers() {
  auto d = memories_and_switches(6, 0);
  d.kernels[0].gemm = {gemms(DType::f32, {{1024, 1000}})};
  for (int gpu = 0; gpu < 6; ++gpu) {
    const std::string name = "g" + std::to_string(gpu);
    add_links(d, "h", name, 25);
    for (int other = 0; other < gpu; ++other)
      add_links(d, "g" + std::to_string(other), name, 3.5);
  }
  return Topology{std::move(d)};
}

// A, B and C are 1.07 GB each. In the 112.0 ms of a plan whose copies between GPUs go
// over the host, 2.8 GB can leave a GPU over its link to the host, whereas its links to
// its peers carry 1.07 GB in 61 ms.
TEST(BoundOfFlows, CopiesBetweenGpusCanPassTheHost) {
  const Topology machine = slow_peers();
  GemmProblem p = cube(16384, DType::f32);
  p.place_a = memory(machine, "g0"), p.place_b = memory(machine, "g1"),
  p.place_c = memory(machine, "g2");
  const Bound bound = lower_bound(checked(p), machine, machine.gpus());
  EXPECT_LT(bound.time.value, 0.1120);
  EXPECT_GT(bound.time.value, (1 - 1e-4) * 4.0 * 16384 * 16384 / (25e9 + 5 * 3.5e9))
      << "A leaves g0 once";
  EXPECT_TRUE(bound.is_exact);
}

/// Two sockets, each with a host of 300 GB/s and four GPUs of 60 TFLOP/s; 100 GB/s
/// between the sockets, and links of `gpus` GB/s to the GPUs.
Topology two_sockets(double gpus) {
  auto d = unlinked("h0", "g", 8, {"s0", "s1"});
  add_host(d, "h1");
  d.kernels[0].gemm = {gemms(DType::f64, {{1024, 60}})};
  for (const std::string socket : {"0", "1"}) {
    const auto [out, in] = add_links(d, "h" + socket, "s" + socket, 300);
    add_group(d, "memory " + socket, {out}, {in}).capacity = capacity(300);
  }
  add_links(d, "s0", "s1", 100);
  for (int gpu = 0; gpu < 8; ++gpu)
    add_links(d, gpu < 4 ? "s0" : "s1", "g" + std::to_string(gpu), gpus);
  return Topology{std::move(d)};
}

Bound of_interleaved(const Topology& machine) {
  GemmProblem p = cube(16384, DType::f64);
  p.place_a = p.place_b = p.place_c = memory(machine, "h*");
  return lower_bound(checked(p), machine, machine.gpus());
}

// Shares of an eighth each touch at least a quarter of each matrix, in the mean of the
// three. A GPU receives A, B, its part of the old C and other sums: in total as many sums
// as leave GPUs for destinations other than the home. With equal shares, 3/4 of the 2.147
// GB go over 54.81 GB/s, 29.4 ms. Shares up to 0.18, the most that a GPU can multiply in
// this time, lie on a chord below that. If sums left a GPU without entering another, it
// would be 21.5 ms.
TEST(BoundOfFlows, SumsThatLeaveAGpuEnterAnother) {
  const Bound bound = of_interleaved(two_sockets(54.81));
  EXPECT_GT(bound.time.value, 26e-3);
  EXPECT_LT(bound.time.value, 29.4e-3);
}

TEST(BoundOfFlows, FasterLinksNeverRaiseTheBound) {
  constexpr double precise = 1e-5;
  double last = of_interleaved(two_sockets(30)).time.value;
  for (const double rate :
       {40.0, 54.0, 54.8, 54.9, 70.0, 99.0, 100.0, 101.0, 150.0, 1000.0}) {
    const Bound bound = of_interleaved(two_sockets(rate));
    EXPECT_TRUE(bound.is_exact);
    EXPECT_LE(bound.time.value, last * (1 + precise)) << rate;
    last = bound.time.value;
  }
}

// Copies of 100 GB/s between g0 and g1 without a source: A, B and C are on the host, with
// 1 GB/s to both.
TEST(BoundOfFlows, GpusForwardOnlyBytesFromTheHome) {
  auto d = memories_and_switches(3, 2);
  d.kernels[0].gemm = {gemms(DType::f64, {{1024, 1000}})};
  add_links(d, "h", "s0", 1), add_links(d, "s0", "g0", 100);
  add_links(d, "s0", "s1", 0.01);
  add_links(d, "s1", "g1", 100), add_links(d, "s1", "g2", 100),
      add_links(d, "g1", "g2", 100);
  const Topology machine{std::move(d)};
  GemmProblem p = cube(1024, DType::f64);
  p.beta = 0;
  const Bound all = lower_bound(checked(p), machine, machine.gpus());
  const Bound far =
      lower_bound(checked(p), machine, std::span{machine.gpus()}.subspan(1));
  EXPECT_NEAR(far.time.value, 2 * 8.0 * 1024 * 1024 / 0.01e9, 1e-4 * far.time.value);
  EXPECT_GT(all.time.value, 0.95 * 2 * 8.0 * 1024 * 1024 / 1e9);
}

// 137 GFLOP at 1 TFLOP/s, with a load factor of 1.25 at a duty of 1 and no slowdown up to
// 0.9, which a plan with pauses achieves.
TEST(BoundOfFlows, KernelsCanPauseToAvoidSlowdownByLoad) {
  auto d = memories_and_switches(1, 0);
  d.kernels[0].gemm = {gemms(DType::f64, {{1024, 1}})};
  d.kernels[0].gemm[0].sustained = {{0.9, 1.0}, {1.0, 1.25}};
  d.kernels[0].memory_bandwidth =
      Rate{1e12};  // slow single columns, which load does not slow down
  add_links(d, "h", "g0", 1e6);
  const Topology machine{std::move(d)};
  const GemmProblem p = checked(cube(4096, DType::f64));
  const double work = 2.0 * 4096 * 4096 * 4096 / 1e12;
  EXPECT_NEAR(lower_bound(p, machine, machine.gpus()).time.value, work / 0.9 / 1.01,
              1e-4 * work);
}

}  // namespace
}  // namespace tilerail
