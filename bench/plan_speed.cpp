// Planning time: 16384^3 f64 in tiles of 2048 on 8 GPUs with all matrices on the host
// (target: at most 10 ms), the same with any tile and a simulator (target: at most 150 ms
// on every machine of 8 GPUs), and per operation from 10^3 to 10^7 operations (target:
// linear).

#include <benchmark/benchmark.h>

#include <chrono>
#include <ctime>
#include <map>
#include <string>

#include "bench/plans.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/policy.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/plan_simulator.hpp"

namespace tilerail::bench {
namespace {

void plan_16k(benchmark::State& state, const char* policy) {
  const Topology topology = machine("karolina-hgx-a100");
  Policy chosen = any_preset(policy);
  chosen.choices.tile = 2048;
  GemmProblem problem;
  problem.m = problem.n = problem.k = 16384;
  problem.place_a = problem.place_b = problem.place_c = topology.hosts().front();
  size_t ops = 0;
  for (auto _ : state)
    ops = plan_gemm(problem, topology, topology.gpus(), chosen).ops.size();
  state.counters["ops"] = double(ops);
}
BENCHMARK_CAPTURE(plan_16k, gemmex, "gemmex")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan_16k, tilerail, "tilerail")->Unit(benchmark::kMillisecond);

/// Seconds per operation for plans of about `about` operations. Counter `of_1e5`: the
/// ratio to plans of 10^5 operations in the same run.
double seconds_an_op(benchmark::State& state, const Topology& topology,
                     const char* policy, int64_t about) {
  size_t ops = 0;
  const std::clock_t start = std::clock();
  int64_t runs = 0;
  for (auto _ : state) ops = planned_gemm(topology, policy, about).ops.size(), ++runs;
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  state.counters["ops"] = double(ops);
  return seconds / double(runs) / double(ops);
}

void plan_ops(benchmark::State& state, const char* policy) {
  static std::map<std::string, double> of_1e5;
  const double seconds =
      seconds_an_op(state, machine("karolina-hgx-a100"), policy, state.range(0));
  if (state.range(0) == 100'000) of_1e5[policy] = seconds;
  state.counters["per_op"] = seconds;
  if (of_1e5.contains(policy)) state.counters["of_1e5"] = seconds / of_1e5[policy];
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t ops : {1'000, 10'000, 100'000, 1'000'000,
                            8'000'000})  // about the maximum size of a plan
    benchmark->Arg(ops);
  benchmark->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(plan_ops, gemmex, "gemmex")->Apply(sizes);
BENCHMARK_CAPTURE(plan_ops, tilerail, "tilerail")->Apply(sizes);

/// With the fluid machine as simulator, as the command plans 16384^3 f64; `of_estimate`:
/// time relative to the plan of the estimate alone.
void plan_simulated(benchmark::State& state, const char* name) {
  const Topology topology = machine(name);
  GemmProblem problem;
  problem.m = problem.n = problem.k = 16384;
  problem.place_a = problem.place_b = problem.place_c = topology.hosts().front();
  const auto seconds = [&](const Policy& policy) {
    const auto start = std::chrono::steady_clock::now();
    const Plan plan = plan_gemm(problem, topology, topology.gpus(), policy,
                                study::plan_simulator(topology));
    state.counters["candidates"] = double(plan.origin.candidates.size());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
        .count();
  };
  Policy estimated = any_preset("tilerail");
  estimated.effort = Effort::fast;
  double alone = 0, simulated = 0;
  for (auto _ : state) {
    alone += seconds(estimated);
    const double time = seconds(any_preset("tilerail"));
    simulated += time;
    state.SetIterationTime(time);
  }
  state.counters["of_estimate"] = simulated / alone;
}

void register_simulated() {
  for (const char* name :
       {"hgx-h200", "karolina-hgx-a100", "clx-ai", "clx-ai-hetero", "pcie-tree-8"})
    benchmark::RegisterBenchmark((std::string{"plan_simulated/"} + name).c_str(),
                                 plan_simulated, name)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace tilerail::bench

int main(int argc, char** argv) {
  tilerail::bench::register_simulated();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
