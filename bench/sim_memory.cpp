// Peak memory of a plan, its timeline and the simulator together, in bytes per operation
// (target: at most 400), counted in operator new.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "backends/sim/sim_executor.hpp"
#include "bench/plans.hpp"

namespace {

size_t live_bytes = 0, peak_bytes = 0;

}  // namespace

void* operator new(size_t size) {
  void* block = std::malloc(std::max<size_t>(size, 1));
  if (!block) throw std::bad_alloc{};
  live_bytes += malloc_usable_size(block);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return block;
}
void operator delete(void* block) noexcept {
  live_bytes -= malloc_usable_size(block);
  std::free(block);
}
void operator delete(void* block, size_t) noexcept { operator delete(block); }

namespace tilerail::bench {
namespace {

void measure(benchmark::State& state, const Topology& topology, const Plan& plan) {
  SimExecutor sim{topology};
  const size_t before = live_bytes;
  for (auto _ : state) {
    peak_bytes = live_bytes;
    benchmark::DoNotOptimize(sim.execute(plan));
  }
  const double ops = double(plan.ops.size());
  const double plan_bytes = double(
      plan.ops.size() * sizeof(Op) + plan.operands.size() * sizeof(plan.operands[0]) +
      plan.views.size() * sizeof(View) + plan.buffers.size() * sizeof(Buffer) +
      plan.deps.size() * sizeof(OpId) +
      plan.dep_begin.size() * sizeof(plan.dep_begin[0]));
  const double run_bytes = double(peak_bytes - before);
  state.counters["ops"] = ops;
  state.counters["plan_B_op"] = plan_bytes / ops;
  state.counters["run_B_op"] = run_bytes / ops;
  state.counters["total_B_op"] = (plan_bytes + run_bytes) / ops;
}

void synthetic(benchmark::State& state) {
  const Topology topology = machine("karolina-hgx-a100");
  measure(state, topology, synthetic_plan(topology, 1'000'000));
}
BENCHMARK(synthetic)->Iterations(1)->Unit(benchmark::kMillisecond);

void planned(benchmark::State& state, const char* policy) {
  const Topology topology = machine("karolina-hgx-a100");
  measure(state, topology, planned_gemm(topology, policy, 1'000'000));
}
BENCHMARK_CAPTURE(planned, gemmex, "gemmex")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(planned, tilerail, "tilerail")
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilerail::bench

BENCHMARK_MAIN();
