#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/host/run/host_executor.hpp"
#include "calibration/mean.hpp"
#include "check/random_matrix.hpp"
#include "plan/plan.hpp"

namespace tilerail::host {

/// Seconds by a clock that never steps back.
double now();

enum class CopyRole { h2d, d2h, peer };

/// Measures operations where plans run them: in plans of many equal ones, made by hand
/// and executed by a HostExecutor. An operation's time is that of a queue that never
/// waits, divided by its operations, so it includes what the executor spends between two.
/// Operands go round several tiles, more than the inner caches hold.
class CalibrationRuns {
 public:
  /// `run_seconds`: about how long each run of a plan of equal operations is to take.
  CalibrationRuns(int devices, int workers, double run_seconds);

  /// Each `add` runs a small plan to warm up and returns the index of a figure to be
  /// measured, in seconds. One s x s x k GEMM with all workers busy:
  size_t add_gemm(int64_t s, int64_t k, DType dtype);
  /// One f64 axpby of s x s with all workers busy:
  size_t add_axpby(int64_t s);
  /// One f64 copy of rows x cols with `at_once` of its role under way; packed when rows
  /// == matrix_rows:
  size_t add_copy(CopyRole role, int64_t rows, int64_t cols, int at_once);

  /// Measures all figures in turns, round after round, so that a disturbance of the
  /// machine meets them all alike, until each half width is at most 5 % or `seconds` have
  /// passed; one round at least.
  void measure(double seconds, const std::function<double()>& clock);

  /// Before `measure`, what the warm-up took.
  Measured of(size_t figure) const { return mean_of(figures_[figure].batch_means); }

  static constexpr int64_t matrix_rows = 4096;

 private:
  /// A plan whose operations from `first` on are equal ones, `count` of them in each of
  /// their queues.
  struct Draft {
    Plan plan;
    size_t first = 0;
  };
  struct Figure {
    Draft draft;
    std::vector<double> batch_means;  // one for each run of the plan
    bool warm_up = true;              // whether the only entry is that of the warm-up
  };
  size_t add(const std::function<Draft(int count)>& draft);
  double run(const Draft& draft);
  Draft gemm_draft(int64_t s, int64_t k, DType dtype, int count) const;
  Draft axpby_draft(int64_t s, int count) const;
  Draft copy_draft(CopyRole role, int64_t rows, int64_t cols, int at_once,
                   int count) const;
  MemoryId gpu(int queue) const;  // devices take turns
  int all_workers() const { return devices_ * workers_; }

  int devices_, workers_;
  double run_seconds_;
  HostExecutor executor_;
  RandomMatrix doubles_, floats_, sink_;  // A and B by dtype, and C
  std::vector<Figure> figures_;
};

}  // namespace tilerail::host
