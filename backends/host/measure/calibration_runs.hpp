#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "backends/host/run/host_executor.hpp"
#include "calibration/mean.hpp"
#include "check/random_matrix.hpp"
#include "plan/plan.hpp"

namespace tilerail::host {

/// Seconds of a monotonic clock.
double now();

enum class CopyRole { h2d, d2h, peer };

/// Measures operations in plans: hand-made plans of many equal operations, executed by a
/// HostExecutor. The time of an operation is the time of a queue that never waits,
/// divided by the number of its operations, so it includes the executor's overhead
/// between two operations. Operands rotate through several tiles, more than the inner
/// caches hold.
class CalibrationRuns {
 public:
  /// `run_seconds`: approximate duration of each run of a plan.
  CalibrationRuns(int devices, int workers, double run_seconds);

  /// Each `add` runs a small plan to warm up and returns the index of a figure, in
  /// seconds, that `measure` measures. One s x s x k GEMM with all workers busy:
  size_t add_gemm(int64_t s, int64_t k, DType dtype);
  /// One f64 axpby of s x s with all workers busy:
  size_t add_axpby(int64_t s);
  /// One f64 copy of rows x cols with `at_once` simultaneous copies of its role; packed
  /// if rows == matrix_rows:
  size_t add_copy(CopyRole role, int64_t rows, int64_t cols, int at_once);

  /// Measures all figures in turns, round after round, so that disturbances of the
  /// machine affect all equally, until each half width is at most 5 % or `seconds` have
  /// passed; at least one round.
  void measure(double seconds, const std::function<double()>& clock);

  /// Before `measure`: the time of the warm-up.
  SampleMean of(size_t figure) const { return mean_of(figures_[figure].batch_means); }

  static constexpr int64_t matrix_rows = 4096;

 private:
  /// A plan whose operations from `first` on are equal, `count` of them in each queue.
  struct Draft {
    Plan plan;
    size_t first = 0;
  };
  struct Figure {
    Draft draft;
    std::vector<double> batch_means;  // one per run of the plan
    bool warm_up = true;              // whether the only entry is from the warm-up
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
