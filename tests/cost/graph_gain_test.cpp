#include "cost/issue_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

Topology two_gpus(Seconds per_op) {
  Topology::Description d = test::shipped("two-gpu").description();
  d.issue.per_op = per_op;
  return Topology{std::move(d)};
}

/// Whether the plan of a product is a graph, by the policy's field and the submission
/// time of an operation.
bool is_graph(double microseconds, int gpus = 2, bool wanted = true,
              bool from_host = true) {
  const Topology machine = two_gpus(Seconds{microseconds * 1e-6});
  GemmProblem problem;
  problem.m = problem.n = problem.k = 4096;
  if (!from_host) problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  Policy policy = any_preset("gemmex");
  policy.choices.tile = 512, policy.choices.single_issuer = false,
  policy.choices.graph = wanted;
  return plan_gemm(checked(problem), machine,
                   std::span{machine.gpus()}.first(size_t(gpus)), policy)
      .graph;
}

// 4096^3 in tiles of 512: 256 kernels of 268 us per GPU, 69 ms, and shorter copies.
TEST(GraphGain, AppliesIfThreadsWouldDelayThePlan) {
  for (const int gpus : {1, 2}) {
    EXPECT_FALSE(is_graph(1, gpus)) << gpus;
    EXPECT_TRUE(is_graph(300, gpus)) << gpus;
    EXPECT_FALSE(is_graph(300, gpus, false)) << "not wanted";
  }
  EXPECT_TRUE(is_graph(300, 2, true, false));
}

// 4096^3 in tiles of 512 on two GPUs of 1 TFLOP/s: 512 kernels of 0.27 ms, half of them
// on each GPU.
TEST(GraphGain, AppliesIfSubmissionTakesLongerThanTheLongestWork) {
  const double kernel_us = 2.0 * 512 * 512 * 512 / 1e12 * 1e6;
  EXPECT_FALSE(is_graph(0.01 * kernel_us));
  EXPECT_TRUE(is_graph(2 * kernel_us));
}

// 512 kernels of 128^3 on one GPU take 10 us each, mostly launch overhead. Concurrent
// kernels need as long as their flops take at the peak, 4.2 us each, so that submission
// in 5 us is the bottleneck.
TEST(GraphGain, CountsConcurrentKernelsByTheirOccupancy) {
  const auto is_graph_at = [](double microseconds) {
    const Topology machine = two_gpus(Seconds{microseconds * 1e-6});
    GemmProblem problem;
    problem.m = problem.n = problem.k = 1024;
    problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
    Policy policy = any_preset("gemmex");
    policy.choices.tile = 128;
    policy.choices.compute_streams = 8;
    return plan_gemm(checked(problem), machine, std::span{machine.gpus()}.first(1),
                     policy)
        .graph;
  };
  const double flops_us = 2.0 * 128 * 128 * 128 / 1e12 * 1e6;
  EXPECT_FALSE(is_graph_at(0.1 * flops_us));
  EXPECT_TRUE(is_graph_at(1.2 * flops_us));
}

// 8192 x 8192 x 64 in f64 with beta = 0: each GPU sends 268 MB of C to the host at 10
// GB/s in 128 tiles, in columns that may slow down copies, and computes for 4.3 ms.
TEST(GraphGain, AppliesIfSubmissionTakesLongerThanTheLongestCopies) {
  for (const double efficiency : {1.0, 0.5}) {
    const auto is_graph_at = [&](double microseconds) {
      Topology::Description d = two_gpus(Seconds{microseconds * 1e-6}).description();
      d.strided.points = {{Bytes{4096}, efficiency}};
      d.strided.source = "s";
      const Topology machine{std::move(d)};
      GemmProblem problem;
      problem.m = problem.n = 8192;
      problem.k = 64;
      problem.beta = 0;
      Policy policy = any_preset("gemmex");
      policy.choices.tile = 512;
      policy.choices.single_issuer = false;
      return plan_gemm(checked(problem), machine, machine.gpus(), policy).graph;
    };
    const double copy_us = 512.0 * 512 * 8 / (efficiency * 10e9) * 1e6;
    EXPECT_FALSE(is_graph_at(0.01 * copy_us)) << efficiency;
    EXPECT_TRUE(is_graph_at(copy_us)) << efficiency;
  }
}

/// The plan of a square product on the first GPU, with all matrices in its memory.
Plan at_home(const Topology& machine, int64_t size, int64_t tile, bool graph) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = size;
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  Policy policy = any_preset("tilerail");
  for (const char* assignment :
       {"effort=fast", "devices=all", graph ? "graph=on" : "graph=off"})
    apply_override(policy, assignment);
  apply_override(policy, "tile=" + std::to_string(tile));
  return plan_gemm(checked(problem), machine, std::span{machine.gpus()}.first(1), policy);
}

// 4096^3 in tiles of 64 are 262,144 kernels.
TEST(GraphGain, LargePlansAreNotGraphs) {
  const Topology machine = test::shipped("hgx-h100-2");
  EXPECT_TRUE(at_home(machine, 2048, 64, true).graph) << "32,768 kernels";
  EXPECT_FALSE(at_home(machine, 4096, 64, true).graph);
}

}  // namespace
}  // namespace tilerail
