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
      0.5;  // cuda: of calls while their energy is counted, at least; 0: it is not
  std::function<bool()> stop_asked = [] { return false; };  // called between calls
};

/// Thrown between calls when the run was asked to stop.
struct RunStopped {};

/// What only executors with overheads tell.
struct GpuRunFacts {
  double first_s = 0;       // binding the plan and the first call
  double issue_per_op = 0;  // seconds, of an issuing thread
  double traced_s = 0;      // the traced call, as its caller sees it
  std::string tracer;       // "CUPTI" or "events"
  double clock_skew = 0;    // seconds, between devices
  std::string host_buffer;  // what is known of it
  /// Of calls back to back, as the GPUs' own counters tell; absent where it was not
  /// counted or they told nothing.
  std::optional<CountedEnergy> energy;
};

struct RunResult {
  Timeline timeline;  // with overheads: of a traced call after all; else of that with the
                      // median makespan
  std::vector<double> makespans;  // seconds, by iteration; with overheads: untraced
  std::optional<CheckResult> check;
  std::optional<GpuRunFacts> gpu;

  double median() const;
};

/// Runs plans of one machine on real memory, on random matrices.
class Runner {
 public:
  /// `plans` are those that will be run: memory for the largest is taken at once. Throws
  /// InputError when one does not fit.
  Runner(std::unique_ptr<RealExecutor> executor, std::span<const Plan* const> plans,
         const RunSettings& settings);
  /// On "host" or "cuda". Throws what require_backend throws, too, and HardwareError when
  /// this is not the machine.
  Runner(std::string_view backend, const Topology& machine,
         std::span<const Plan* const> plans, const RunSettings& settings);

  /// Of one of those plans. Throws InputError when it does not fit the machine,
  /// ExecutionError when hardware fails, and RunStopped.
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

/// Throws InputError for another backend than "host" and "cuda", HardwareError for one
/// that this build has not.
void require_backend(std::string_view name);

/// "spread" or "plain". Throws InputError.
HostPages pages_of(const std::string& text);

}  // namespace tilerail::study
