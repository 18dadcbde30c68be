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

/// Bad input of one of several plans.
struct PlanError : InputError {
  PlanError(size_t index, const InputError& error) : InputError{error}, plan{index} {}
  size_t plan;  // its index
};

/// How far a result lies from a reference, and how far it may.
struct CheckResult {
  bool passed = false;
  double residual = 0, tolerance = 0;
  std::string summary = {};
};

/// Random matrices for plans of one machine, each in the memory that the plan names. What
/// can be kept from plan to plan is kept.
class TestMatrices {
 public:
  virtual ~TestMatrices() = default;

  /// The matrices of this plan, filled with random numbers that depend on the seed.
  /// `plan` is one of those that RealExecutor::test_matrices was told of, and lives until
  /// the next call. Throws InputError when they do not fit.
  virtual Matrices of(const Plan& plan, uint64_t seed) = 0;

  /// C as it is to be before a call whose result is checked: NaN where it must be
  /// overwritten without being read.
  virtual void reset_c() = 0;

  /// The result of one call since reset_c().
  virtual CheckResult check() = 0;

  /// What is known of the host memory that they lie in; "" where nothing is.
  virtual std::string host_memory() const { return {}; }
};

/// Counts from construction to stop().
class EnergyCount {
 public:
  virtual ~EnergyCount() = default;
  /// Seconds since construction.
  virtual double now() const = 0;
  /// `ends`: when calls ended, ascending, by now(). Absent where the counters tell too
  /// little. Call it once.
  virtual std::optional<CountedEnergy> stop(std::span<const double> ends) = 0;
};

/// One call of a plan, in seconds.
struct CallTimes {
  double wall = 0;          // from the call until all results are in place
  double issue_per_op = 0;  // of the threads that hand operations to devices
};

struct TracedCall {
  Timeline timeline;
  CallTimes times;
  std::string tracer = {};  // what recorded the timeline
  double clock_skew = 0;    // s, between the clocks of two devices
};

struct TestMatrixOptions {
  HostPages pages = HostPages::spread;
  bool checked = false;  // whether check() will be called, which may take memory
};

/// An executor on real memory. It computes: plans need matrices, can be called again and
/// again, and take the time that a clock shows.
class RealExecutor : public Executor {
 public:
  /// For these plans, one after another. Throws PlanError when one of them does not fit
  /// in this machine's memory.
  virtual std::unique_ptr<TestMatrices> test_matrices(
      std::span<const Plan* const> plans, const TestMatrixOptions& options) = 0;

  /// The plan and the matrices of the calls that follow. Both must live through them.
  /// Throws InputError when they do not fit the machine.
  virtual void bind(const Plan& plan, const Matrices& matrices) = 0;
  virtual CallTimes call() = 0;
  virtual TracedCall traced_call() = 0;

  /// Whether tracing, and the first call of a plan, take time that other calls do not:
  /// then these are timed apart.
  virtual bool has_overheads() const = 0;

  /// Nothing where devices do not count their energy.
  virtual std::unique_ptr<EnergyCount> count_energy(std::span<const MemoryId>) {
    return {};
  }
};

}  // namespace tilerail
