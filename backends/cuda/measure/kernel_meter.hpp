#pragma once

#include <optional>
#include <vector>

#include "backends/cuda/measure/flow_meter.hpp"
#include "calibration/measurements.hpp"

namespace tilerail::cuda {

/// Times kernels on operands spread over a large buffer, as in a plan, so that they are
/// not in a cache. Results go to separate memory, so that the operands stay random: the
/// power of a kernel, and so its speed, depends on its operands.
class KernelMeter {
 public:
  explicit KernelMeter(BenchDevice& bench) : bench_{bench} {}

  /// Fills the buffer with random numbers of this type.
  void fill(DType dtype);

  struct Gemm {
    DType dtype = DType::f64;
    int64_t m = 0, n = 0, k = 0;
    Trans trans_a = Trans::no, trans_b = Trans::no;
    int64_t extra = 0;  // elements between the columns of each operand
    bool operator==(const Gemm&) const = default;
  };
  /// Seconds per kernel: `count` kernels run in each of `streams` streams simultaneously
  /// (at most 256 in total), and the total time is divided by their number.
  double gemm(const Gemm& shape, int count, int streams = 1);
  /// Seconds for a thread to issue one kernel, measured with `count` kernels in several
  /// streams in turn.
  double issue_time(const Gemm& shape, int count);
  /// Runs kernels one after another for about `seconds`, in groups of `group`.
  std::vector<LoadSeries::Point> series(const Gemm& shape, int group, double seconds);
  /// Issues `count` kernels to a stream and returns.
  void start(const Gemm& shape, int count, size_t stream);
  /// Waits for a stream.
  void wait(size_t stream);

  /// Memory traffic of y = alpha x + beta y on large blocks, in bytes per second.
  double memory_rate(int count);
  /// Reads and writes about this many bytes of the buffer, and waits.
  void touch(size_t bytes);

 private:
  void load(const Gemm& shape);
  void issue(const Gemm& shape, size_t stream);

  BenchDevice& bench_;
  size_t next_ = 0;             // operand set
  std::optional<Gemm> loaded_;  // shape whose code is loaded
};

}  // namespace tilerail::cuda
