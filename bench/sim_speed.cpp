// Operations per second of the simulator, compared with raw SimGrid on the same copies
// and kernels, in one run.
//   sim_ops_s, raw_ops_s: of SimExecutor::execute and of run_raw on the same plan
//                         (target for sim: 300k at 10^6)
//   of_raw: speed of sim without issue cost, which raw lacks, relative to raw
//           (target: 0.8)
//   of_raw_0: the same relative to raw on links without latency, with half as many
//             events per copy

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>

#include "backends/sim/sim_executor.hpp"
#include "bench/plans.hpp"
#include "bench/raw_simgrid.hpp"

namespace tilerail::bench {
namespace {

/// Processor time: everything measured here runs in one thread, on machines that can be
/// busy with other work.
template <class Work>
double seconds(Work work) {
  const std::clock_t start = std::clock();
  work();
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

Plan make_plan(const Topology& topology, const std::string& kind, int64_t ops) {
  return kind == "synthetic" ? synthetic_plan(topology, ops)
                             : planned_gemm(topology, kind, ops);
}

const char* const machine_name = "karolina-hgx-a100";

/// Main function of the raw process: prints the processor time of one raw run.
int raw_main(const std::string& kind, int64_t ops, bool latency) {
  const Topology topology = machine(machine_name);
  const Plan plan = make_plan(topology, kind, ops);
  std::printf("%.9f\n", seconds([&] {
                benchmark::DoNotOptimize(run_raw(plan, topology, latency));
              }));
  return 0;
}

/// Runs this program again, because raw SimGrid needs a separate process.
double raw_seconds(const std::string& kind, int64_t ops, bool latency) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + program + "' --raw " + kind + " " +
                              std::to_string(ops) + (latency ? " 1" : " 0");
  std::FILE* output = popen(command.c_str(), "r");
  double result = 0;
  if (!output || std::fscanf(output, "%lf", &result) != 1 || pclose(output) != 0)
    throw std::runtime_error{"cannot run " + command};
  return result;
}

/// The minimum of several times: disturbances only make a run longer.
struct Least {
  double value = std::numeric_limits<double>::infinity();
  void add(double time) { value = std::min(value, time); }
};

void speed(benchmark::State& state, const char* kind) {
  const Topology topology = machine(machine_name);
  const Plan plan = make_plan(topology, kind, state.range(0));
  SimExecutor sim{topology}, sim_no_issue{topology, {.issue_cost = false}};
  Least raw_s, raw_0_s, no_issue_s, sim_s;
  for (auto _ : state) {
    raw_s.add(raw_seconds(kind, state.range(0), true));
    no_issue_s.add(
        seconds([&] { benchmark::DoNotOptimize(sim_no_issue.execute(plan)); }));
    raw_0_s.add(raw_seconds(kind, state.range(0), false));
    const double s = seconds([&] { benchmark::DoNotOptimize(sim.execute(plan)); });
    state.SetIterationTime(s);
    sim_s.add(s);
  }
  const double ops = double(plan.ops.size());
  state.counters["ops"] = ops;
  state.counters["sim_ops_s"] = ops / sim_s.value;
  state.counters["raw_ops_s"] = ops / raw_s.value;
  state.counters["of_raw"] = raw_s.value / no_issue_s.value;
  state.counters["of_raw_0"] = raw_0_s.value / no_issue_s.value;
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)
      ->Range(10'000, 1'000'000)
      ->UseManualTime()
      ->Iterations(3)
      ->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(speed, synthetic, "synthetic")->Apply(sizes);
BENCHMARK_CAPTURE(speed, gemmex, "gemmex")->Apply(sizes);
BENCHMARK_CAPTURE(speed, tilerail, "tilerail")->Apply(sizes);

}  // namespace
}  // namespace tilerail::bench

int main(int argc, char** argv) {
  if (argc == 5 && std::string{argv[1]} == "--raw")
    return tilerail::bench::raw_main(argv[2], std::stoll(argv[3]),
                                     std::string{argv[4]} == "1");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
