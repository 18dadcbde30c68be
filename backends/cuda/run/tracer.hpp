#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/stream_program.hpp"
#include "model/timeline.hpp"
#include "plan/plan.hpp"

namespace tilerail::cuda {

/// The properties of a run that a tracer needs.
struct TracedRun {
  const Plan& plan;
  const StreamProgram& program;
  std::vector<cudaStream_t> streams;  // by stream of the program
  std::vector<int> ordinals;          // by stream of the program: its CUDA device
};

/// Records the starts and ends of the operations of one run, on one clock for all
/// devices.
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual const char* name() const = 0;
  /// Prepares for a run while all devices are idle.
  virtual void begin(const TracedRun& run) = 0;
  /// Marks the start of the run: times count from here.
  virtual void start() = 0;
  /// Whether runs of graphs that are recorded between `begin` and `start` are also
  /// traced.
  virtual bool traces_graphs() const { return false; }
  /// Called before and after the calls that issue one operation, on the issuing thread.
  virtual void before(OpId op, cudaStream_t stream) = 0;
  virtual void after(OpId op, cudaStream_t stream) = 0;
  /// The times of the run, once all devices are idle again. Throws CudaError or
  /// std::runtime_error if the record is incomplete.
  virtual std::vector<OpTime> end() = 0;
  /// Drops the record, after a failed run.
  virtual void abandon() = 0;
  /// Frees the next run, which is not traced, from the overhead of tracing. The first
  /// traced run after it is slower than directly following ones.
  virtual void pause() = 0;
  /// Maximum difference between the clocks of two devices in the last run, in seconds.
  virtual double clock_skew() const = 0;
};

/// Activity records of CUPTI, which have one clock for all devices. Null if the library
/// or the driver refuses; `why` then contains the reason.
std::unique_ptr<Tracer> make_cupti_tracer(std::string& why);

/// Records a pair of timed events around every operation. The host's clock aligns the
/// devices' clocks: the skew is the time after which the host saw the quickest of several
/// event records.
std::unique_ptr<Tracer> make_event_tracer();

}  // namespace tilerail::cuda
