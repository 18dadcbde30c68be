#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/measure/counter_trace.hpp"
#include "calibration/measurements.hpp"
#include "model/timeline.hpp"
#include "study/job.hpp"

namespace tilerail::study {

struct RunSettings {
  int warmup = 1, iterations = 3;
  std::uint64_t seed = 1;
  bool check = false;
  HostPages pages = HostPages::spread;  // cuda
  double energy_seconds = 0.5;          // cuda: of calls while their energy is counted, at least; 0: it is not
};

struct CheckResult {
  bool passed = false;
  double residual = 0, tolerance = 0;
  std::string summary;
};

/// What only GPUs tell.
struct GpuRunFacts {
  double first_s = 0;       // binding the plan and the first call
  double issue_per_op = 0;  // seconds, of an issuing thread
  double traced_s = 0;      // the traced call, as its caller sees it
  std::string tracer;       // "CUPTI" or "events"
  double clock_skew = 0;    // seconds, between devices
  std::string host_buffer;  // what is known of it
  /// Of calls back to back, as the GPUs' own counters tell; absent where it was not counted or they told nothing.
  std::optional<cuda::CountedEnergy> energy;
};

struct RunResult {
  Timeline timeline;              // host: of the iteration with the median makespan; cuda: of a traced one after all
  std::vector<double> makespans;  // seconds, by iteration; cuda: untraced
  std::optional<CheckResult> check;
  std::optional<GpuRunFacts> gpu;

  double median() const;
};

/// Runs plans of one machine on real memory, on random matrices. What it can keep from plan to plan, it does.
class BenchRunner {
 public:
  virtual ~BenchRunner() = default;
  /// Throws InputError when matrices or tiles do not fit, HardwareError when the hardware fails.
  virtual RunResult run(const Plan& plan, const RunSettings& settings) = 0;
};

/// Throws InputError for other names than host and cuda, HardwareError for cuda where this build has none.
void check_backend(const std::string& backend);
/// "spread" or "plain". Throws InputError.
HostPages pages_of(const std::string& text);

/// `backend`: host or cuda. `plans` are those that will be run: memory for the largest is taken at once. Throws
/// InputError for other names, HardwareError where there is no GPU or this build cannot use one.
std::unique_ptr<BenchRunner> make_runner(const std::string& backend, const Topology& topology,
                                         const std::vector<const Plan*>& plans, const RunSettings& settings);
std::unique_ptr<BenchRunner> make_host_runner(const Topology& topology);
std::unique_ptr<BenchRunner> make_cuda_runner(const Topology& topology, const std::vector<const Plan*>& plans,
                                              const RunSettings& settings);

}  // namespace tilerail::study
