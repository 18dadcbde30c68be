// Operations a second of the simulator, beside the same copies and kernels given to SimGrid raw, in one run.
//   sim_ops_s, raw_ops_s: of SimExecutor::execute and of run_raw on the same plan (target 300k for sim at 10^6)
//   of_raw: sim without issue cost, which raw knows nothing of, as a share of raw (target 0.8)
//   of_raw_0: the same against raw on links without latency, which has half the events a copy

#include <benchmark/benchmark.h>

#include <ctime>

#include "backends/sim/sim_executor.hpp"
#include "bench/plans.hpp"
#include "bench/raw_simgrid.hpp"

namespace tilerail::bench {
namespace {

/// Processor time: everything measured here runs in one thread, on machines that may be busy with other work.
template <class Work>
double seconds(Work work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void against_raw(benchmark::State& state, const Topology& topology, const Plan& plan) {
  SimExecutor sim{topology}, sim_no_issue{topology, {.issue_cost = false}};
  sim.execute(plan);  // makes the engine
  double sim_s = 0, no_issue_s = 0, raw_s = 0, raw_0_s = 0;
  for (auto _ : state) {
    raw_s += seconds([&] { benchmark::DoNotOptimize(run_raw(plan, topology, true)); });
    no_issue_s += seconds([&] { benchmark::DoNotOptimize(sim_no_issue.execute(plan)); });
    raw_0_s += seconds([&] { benchmark::DoNotOptimize(run_raw(plan, topology, false)); });
    const double s = seconds([&] { benchmark::DoNotOptimize(sim.execute(plan)); });
    state.SetIterationTime(s);
    sim_s += s;
  }
  const double ops = static_cast<double>(plan.ops.size()) * static_cast<double>(state.iterations());
  state.counters["ops"] = static_cast<double>(plan.ops.size());
  state.counters["sim_ops_s"] = ops / sim_s;
  state.counters["raw_ops_s"] = ops / raw_s;
  state.counters["of_raw"] = raw_s / no_issue_s;
  state.counters["of_raw_0"] = raw_0_s / no_issue_s;
}

void synthetic(benchmark::State& state) {
  const Topology topology = machine("karolina-hgx-a100");
  against_raw(state, topology, synthetic_plan(topology, state.range(0)));
}
BENCHMARK(synthetic)->RangeMultiplier(10)->Range(10'000, 1'000'000)->UseManualTime()->Unit(benchmark::kMillisecond);

void planned(benchmark::State& state, const char* policy) {
  const Topology topology = machine("karolina-hgx-a100");
  against_raw(state, topology, planned_gemm(topology, policy, state.range(0)));
}
BENCHMARK_CAPTURE(planned, gemmex, "gemmex")
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(planned, tilerail, "tilerail")
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilerail::bench

BENCHMARK_MAIN();
