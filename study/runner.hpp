#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/real_executor.hpp"
#include "plan/plan.hpp"

namespace tilerail::study {

struct RunSettings {
  int warmup = 1, iterations = 3;
  uint64_t seed = 1;
  bool check = false;
  HostPages pages = HostPages::spread;  // cuda
  double energy_seconds =
      0.5;  // cuda: least duration of calls with counted energy; 0: off
  std::function<bool()> stop_asked = [] { return false; };  // polled between calls
};

/// Thrown between calls if the run was interrupted.
struct RunStopped {};

/// Results of executors with overheads only.
struct GpuRunFacts {
  double first_s = 0;       // binding the plan and the first call
  double issue_per_op = 0;  // seconds, of an issuing thread
  double traced_s = 0;      // the traced call, as measured by its caller
  std::string tracer;       // "CUPTI" or "events"
  double clock_skew = 0;    // seconds, between devices
  std::string host_buffer;  // description, if known
  /// Mean of calls back to back, from the GPUs' counters; absent if not counted.
  std::optional<CountedEnergy> energy;
};

struct RunResult {
  Timeline timeline;  // with overheads: of a traced call at the end; else of the call
                      // with the median makespan
  std::vector<double> makespans;  // seconds, by iteration; with overheads: untraced
  std::optional<CheckResult> check;
  std::optional<GpuRunFacts> gpu;

  double median() const;
};

/// Runs plans of one machine on real memory with random matrices.
class Runner {
 public:
  /// `plans` are all plans that will run: memory is allocated for the largest. Throws
  /// InputError if one does not fit.
  Runner(std::unique_ptr<RealExecutor> executor, std::span<const Plan* const> plans,
         const RunSettings& settings);
  /// On "host" or "cuda". Also throws the errors of require_backend, and HardwareError if
  /// this computer is not the machine.
  Runner(std::string_view backend, const Topology& machine,
         std::span<const Plan* const> plans, const RunSettings& settings);

  /// Runs one of those plans. Throws InputError if it does not fit the machine,
  /// ExecutionError if the hardware fails, and RunStopped.
  RunResult run(const Plan& plan);

 private:
  void stop_if_asked() const;
  void time_and_trace(RunResult& result);
  void time_apart(const Plan& plan, const Matrices& matrices, RunResult& result);
  std::optional<CountedEnergy> counted_energy(const Plan& plan);

  RunSettings settings_;
  std::unique_ptr<RealExecutor> executor_;
  std::unique_ptr<TestMatrices> matrices_;
};

/// Throws InputError for backends other than "host" and "cuda", HardwareError for
/// backends missing from this build.
void require_backend(std::string_view name);

/// Parses "spread" or "plain". Throws InputError.
HostPages pages_of(const std::string& text);

}  // namespace tilerail::study
