#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/stream_program.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail::cuda {

/// What a tracer has to know of the run that it records.
struct TracedRun {
  const Plan& plan;
  const StreamProgram& program;
  std::vector<cudaStream_t> streams;  // by stream of the program
  std::vector<int> ordinals;          // by stream of the program: its CUDA device
};

/// Records when the operations of one run start and end, on one clock for all devices.
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual const char* name() const = 0;
  /// Gets ready for a run while all devices are idle.
  virtual void begin(const TracedRun& run) = 0;
  /// The run starts now: times count from here.
  virtual void start() = 0;
  /// Whether runs of graphs that are recorded between `begin` and `start` are traced,
  /// too.
  virtual bool traces_graphs() const { return false; }
  /// Are called before and after the calls that issue one operation, on the thread that
  /// issues it.
  virtual void before(OpId op, cudaStream_t stream) = 0;
  virtual void after(OpId op, cudaStream_t stream) = 0;
  /// The times of the run, once all devices are idle again. Throws CudaError or
  /// std::runtime_error when the record is not complete.
  virtual std::vector<OpTime> end() = 0;
  /// Drops what was recorded, after a run that failed.
  virtual void abandon() = 0;
  /// Makes sure that the next run, which is not traced, does not pay for tracing. The
  /// first traced run after it is slower than those that follow directly.
  virtual void pause() = 0;
  /// Seconds that the clocks of two devices may differ by, in the last run.
  virtual double clock_skew() const = 0;
};

/// Activity records of CUPTI, whose clock is one for all devices. Null when the library
/// or the driver refuses; `why` then says so.
std::unique_ptr<Tracer> make_cupti_tracer(std::string& why);

/// Puts a pair of timed events around every operation. The host's clock aligns those of
/// the devices: the skew is the time after which the host saw the quickest of several
/// event records.
std::unique_ptr<Tracer> make_event_tracer();

}  // namespace tilerail::cuda
