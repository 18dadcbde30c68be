// Planning time: 16384^3 f64 in tiles of 2048 on 8 GPUs with all matrices on the host (target: at most 10 ms), and
// per operation from 10^3 to 10^6 operations (target: linear).

#include <benchmark/benchmark.h>

#include "bench/plans.hpp"
#include "sched/policy/policy.hpp"
#include "sched/scheduler.hpp"

namespace tilerail::bench {
namespace {

void plan_16k(benchmark::State& state, const char* policy) {
  const Topology topology = machine("karolina-hgx-a100");
  Policy chosen = preset(policy);
  chosen.tile = 2048;
  GemmProblem problem;
  problem.m = problem.n = problem.k = 16384;
  problem.place_a = problem.place_b = problem.place_c = topology.hosts().front();
  std::size_t ops = 0;
  for (auto _ : state) ops = plan_gemm(problem, topology, topology.gpus(), chosen).ops.size();
  state.counters["ops"] = static_cast<double>(ops);
}
BENCHMARK_CAPTURE(plan_16k, gemmex, "gemmex")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_16k, tilerail, "tilerail")->Unit(benchmark::kMillisecond);

void plan_ops(benchmark::State& state, const char* policy) {
  const Topology topology = machine("karolina-hgx-a100");
  std::size_t ops = 0;
  for (auto _ : state) ops = planned_gemm(topology, policy, state.range(0)).ops.size();
  state.counters["ops"] = static_cast<double>(ops);
  // Inverted rate: seconds an operation.
  state.counters["per_op"] = benchmark::Counter(static_cast<double>(ops) * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(plan_ops, gemmex, "gemmex")
    ->RangeMultiplier(10)
    ->Range(1'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_ops, tilerail, "tilerail")
    ->RangeMultiplier(10)
    ->Range(1'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilerail::bench

BENCHMARK_MAIN();
