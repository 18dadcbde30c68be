#include "cost/graph_gain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "sched/scheduler.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

Topology two_gpus(Seconds per_op) {
  Topology::Description d = test::shipped("two-gpu").description();
  d.issue.per_op = per_op;
  return Topology{std::move(d)};
}

/// Whether the plan of a product is a graph, by the field of the policy and what handing over an operation takes.
bool is_graph(double microseconds, int gpus = 2, bool wanted = true, bool from_host = true) {
  const Topology machine = two_gpus(Seconds{microseconds * 1e-6});
  GemmProblem problem;
  problem.m = problem.n = problem.k = 4096;
  if (!from_host) problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  Policy policy = preset("gemmex");
  policy.tile = 512, policy.single_issuer = false, policy.graph = wanted;
  return plan_gemm(checked(problem), machine, std::span{machine.gpus()}.first(static_cast<std::size_t>(gpus)), policy)
      .graph;
}

// 4096^3 in tiles of 512: 256 kernels a GPU of 268 us each, 69 ms, and less of copies.
TEST(GraphGain, IsWhereThreadsWouldHoldThePlanUp) {
  for (const int gpus : {1, 2}) {
    EXPECT_FALSE(is_graph(1, gpus)) << gpus;
    EXPECT_TRUE(is_graph(300, gpus)) << gpus;
    EXPECT_FALSE(is_graph(300, gpus, false)) << "not wanted";
  }
  EXPECT_TRUE(is_graph(300, 2, true, false));
}

TEST(GraphGain, ComparesHandingOverWithTheLongestWork) {
  double low = 1, high = 300;  // microseconds an operation, where the plan is none and where it is one
  while (high - low > 0.1) (is_graph((low + high) / 2) ? high : low) = (low + high) / 2;
  const Topology machine = two_gpus(Seconds{high * 1e-6});
  GemmProblem problem;
  problem.m = problem.n = problem.k = 4096;
  Policy policy = preset("gemmex");
  policy.tile = 512, policy.single_issuer = false;
  const Plan plan = plan_gemm(checked(problem), machine, machine.gpus(), policy);
  std::vector<double> issued(machine.memories().size(), 0);
  for (const Op& op : plan.ops) {
    const Queue& queue = plan.queue(op.queue);
    issued[(machine.is_gpu(queue.src) ? queue.src : queue.dst).index()] += high * 1e-6;
  }
  const double kernels = 256 * 2.0 * 512 * 512 * 512 / 1e12;  // no dependency and no call costs anything here
  EXPECT_NEAR(*std::max_element(issued.begin(), issued.end()), 0.4 * kernels, 0.01 * kernels);
}

// 512 kernels of 128^3 on one GPU: each takes 10 us, most of it its launch, beside others for 0.42 of the GPU.
TEST(GraphGain, CountsKernelsThatShareAGpuByWhatTheyFill) {
  const auto is_graph_at = [](double microseconds) {
    const Topology machine = two_gpus(Seconds{microseconds * 1e-6});
    GemmProblem problem;
    problem.m = problem.n = problem.k = 1024;
    problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
    Policy policy = preset("gemmex");
    policy.tile = 128, policy.compute_streams = 8;
    return plan_gemm(checked(problem), machine, std::span{machine.gpus()}.first(1), policy).graph;
  };
  double low = 0.01, high = 100;
  while (high - low > 0.001) (is_graph_at((low + high) / 2) ? high : low) = (low + high) / 2;
  EXPECT_NEAR(high, 0.4 * 2.0 * 128 * 128 * 128 / 1e12 * 1e6, 0.01);
}

// 8192 x 8192 x 64 in f64 with beta = 0: each GPU sends 268 MB of C to the host, in columns that slow copies down, and
// computes for 4.3 ms.
TEST(GraphGain, ComparesHandingOverWithTheLongestCopies) {
  for (const double efficiency : {1.0, 0.5}) {
    const auto machine_with = [&](double microseconds) {
      Topology::Description d = two_gpus(Seconds{microseconds * 1e-6}).description();
      d.strided.points = {{Bytes{4096}, efficiency}}, d.strided.source = "s";
      return Topology{std::move(d)};
    };
    GemmProblem problem;
    problem.m = problem.n = 8192, problem.k = 64, problem.beta = 0;
    Policy policy = preset("gemmex");
    policy.tile = 512, policy.single_issuer = false;
    const auto plan_on = [&](const Topology& machine) {
      return plan_gemm(checked(problem), machine, machine.gpus(), policy);
    };
    double low = 1, high = 2000;
    while (high - low > 0.1) (plan_on(machine_with((low + high) / 2)).graph ? high : low) = (low + high) / 2;
    const Topology machine = machine_with(high);
    const Plan plan = plan_on(machine);
    std::vector<double> issued(machine.memories().size(), 0), out(machine.memories().size(), 0);
    for (const Op& op : plan.ops) {
      const Queue& queue = plan.queue(op.queue);
      issued[(machine.is_gpu(queue.src) ? queue.src : queue.dst).index()] += high * 1e-6;
      if (machine.is_host(queue.dst)) out[queue.src.index()] += 512.0 * 512 * 8 / (efficiency * 10e9);
    }
    const double copies = *std::max_element(out.begin(), out.end());
    EXPECT_NEAR(*std::max_element(issued.begin(), issued.end()), 0.4 * copies, 0.01 * copies) << efficiency;
  }
}

/// The plan of a square product on the first GPU, from and to its memory.
Plan at_home(const Topology& machine, std::int64_t size, std::int64_t tile, bool graph) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = size;
  problem.place_a = problem.place_b = problem.place_c = machine.gpus()[0];
  Policy policy = preset("tilerail");
  for (const char* assignment : {"effort=fast", "ways=fixed", "select=none", graph ? "graph=on" : "graph=off"})
    apply_override(policy, assignment);
  apply_override(policy, "tile=" + std::to_string(tile));
  return plan_gemm(checked(problem), machine, std::span{machine.gpus()}.first(1), policy);
}

// On a machine that knows costs of graphs, kernels of graphs are shorter: what is said of a plan that is to be none is
// what would have become of one that may be.
TEST(GraphGain, IsToldOfPlansThatAreToBeNone) {
  const Topology machine = test::shipped("hgx-h100-2");
  int without = 0;
  for (std::int64_t tile = 512; tile <= 4096; tile += 64) {
    const Plan on = at_home(machine, 4096, tile, true), off = at_home(machine, 4096, tile, false);
    const auto& wishes = off.origin.without_effect;
    const bool has_none = std::ranges::any_of(wishes, [](const auto& wish) { return wish.starts_with("graph"); });
    EXPECT_EQ(has_none, !on.graph) << tile;
    without += has_none ? 1 : 0;
  }
  EXPECT_GT(without, 0);
  EXPECT_LT(without, 57);
}

// 4096^3 in tiles of 64 are 262,144 kernels.
TEST(GraphGain, LargePlansAreNoGraphs) {
  const Topology machine = test::shipped("hgx-h100-2");
  EXPECT_TRUE(at_home(machine, 2048, 64, true).graph) << "32,768 kernels";
  EXPECT_FALSE(at_home(machine, 4096, 64, true).graph);
}

}  // namespace
}  // namespace tilerail
