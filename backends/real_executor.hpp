#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backends/counted_energy.hpp"
#include "backends/executor.hpp"
#include "model/base/error.hpp"
#include "model/machine/host_pages.hpp"
#include "model/matrices.hpp"

namespace tilerail {

/// Invalid input: one of several plans.
struct PlanError : InputError {
  PlanError(size_t index, const InputError& error) : InputError{error}, plan{index} {}
  size_t plan;  // index of the plan
};

/// Distance of a result from a reference, and its tolerance.
struct CheckResult {
  bool passed = false;
  double residual = 0, tolerance = 0;
  std::string summary = {};
};

/// Random matrices for plans of one machine, each in the memory that the plan names.
/// Allocations are reused from plan to plan if possible.
class TestMatrices {
 public:
  virtual ~TestMatrices() = default;

  /// The matrices of this plan, filled with random numbers that depend on the seed.
  /// `plan` must be one of the plans given to RealExecutor::test_matrices and live until
  /// the next call. Throws InputError if the matrices do not fit.
  virtual Matrices of(const Plan& plan, uint64_t seed) = 0;

  /// Sets C for a checked call: NaN if it must be overwritten without being read.
  virtual void reset_c() = 0;

  /// Checks the result of one call since reset_c().
  virtual CheckResult check() = 0;

  /// Description of the matrices' host memory; "" if unknown.
  virtual std::string host_memory() const { return {}; }
};

/// Counts energy from construction to stop().
class EnergyCount {
 public:
  virtual ~EnergyCount() = default;
  /// Seconds since construction.
  virtual double now() const = 0;
  /// `ends`: the ends of calls, ascending, by now(). Absent if the counters lack data.
  /// Call it once.
  virtual std::optional<CountedEnergy> stop(std::span<const double> ends) = 0;
};

/// One call of a plan, in seconds.
struct CallTimes {
  double wall = 0;          // from the call until all results are stored
  double issue_per_op = 0;  // of the threads that submit operations
};

struct TracedCall {
  Timeline timeline;
  CallTimes times;
  std::string tracer = {};  // name of the tracer
  double clock_skew = 0;    // s, between the clocks of two devices
};

struct TestMatrixOptions {
  HostPages pages = HostPages::spread;
  bool checked = false;  // whether check() will be called, which can take memory
};

/// An executor on real memory. It computes: plans need matrices, can be called
/// repeatedly, and take real time.
class RealExecutor : public Executor {
 public:
  /// Matrices for these plans, one after another. Throws PlanError if one plan does not
  /// fit in this machine's memory.
  virtual std::unique_ptr<TestMatrices> test_matrices(
      std::span<const Plan* const> plans, const TestMatrixOptions& options) = 0;

  /// Sets the plan and the matrices of the following calls. Both must outlive these
  /// calls. Throws InputError if they do not fit the machine.
  virtual void bind(const Plan& plan, const Matrices& matrices) = 0;
  virtual CallTimes call() = 0;
  virtual TracedCall traced_call() = 0;

  /// Whether tracing, and the first call of a plan, have an overhead that other calls do
  /// not have; then they are timed separately.
  virtual bool has_overheads() const = 0;

  /// Null if devices do not count their energy.
  virtual std::unique_ptr<EnergyCount> count_energy(std::span<const MemoryId>) {
    return {};
  }
};

}  // namespace tilerail
