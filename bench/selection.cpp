// Time of selecting devices with PARALiA's model: all subsets of 8 GPUs, and for 16 GPUs
// all subsets against the beam.

#include <benchmark/benchmark.h>

#include <algorithm>

#include "bench/plans.hpp"
#include "model/published/workload.hpp"
#include "sched/choose/workload_gemm.hpp"

namespace tilerail::bench {
namespace {

/// The machine with twice as many GPUs, each new one at the switches of an existing one.
Topology doubled(const Topology& machine) {
  Topology::Description d = machine.description();
  const std::vector<Memory> memories = d.memories;
  const std::vector<Link> links = d.links;
  for (Memory gpu : memories) {
    if (gpu.kind != VertexKind::gpu) continue;
    const VertexId old = gpu.vertex;
    gpu.processor->device += int(machine.gpus().size());
    gpu.name = "gpu" + std::to_string(gpu.processor->device),
    gpu.vertex = VertexId{d.vertices.size()};
    d.vertices.push_back({gpu.name, VertexKind::gpu, gpu.source});
    d.memories.push_back(gpu);
    for (Link link : links) {
      if (link.from != old && link.to != old) continue;
      (link.from == old ? link.from : link.to) = gpu.vertex;
      d.links.push_back(link);
    }
  }
  return Topology{d};
}

/// Arguments: GPUs (8 or 16), side of the GEMM.
template <auto search>
void select(benchmark::State& state) {
  const Topology tree = machine("pcie-tree-8"),
                 topology = state.range(0) == 8 ? tree : doubled(tree);
  GemmProblem problem;
  problem.m = problem.n = problem.k = state.range(1);
  size_t devices = 0;
  for (auto _ : state) {
    const WorkloadProblem workload =
        workload_problem(problem, topology, topology.gpus(), 2048, 1);
    devices = search(workload, LinkMap{topology},
                     *std::ranges::find(metrics, "perf", &Metric::name))[0]
                  .active.size();
  }
  state.counters["devices"] = double(devices);
}

BENCHMARK(select<ranked_of_all_subsets>)
    ->Name("all_subsets")
    ->ArgsProduct({{8, 16}, {4096, 16384}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(select<ranked_by_beam>)
    ->Name("beam")
    ->ArgsProduct({{8, 16}, {4096, 16384}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilerail::bench

BENCHMARK_MAIN();
