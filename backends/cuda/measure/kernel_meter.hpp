#pragma once

#include <optional>
#include <vector>

#include "backends/cuda/measure/flow_meter.hpp"
#include "calibration/measurements.hpp"

namespace tilerail::cuda {

/// Times kernels on operands that lie all over a large buffer, as those of a plan do, so
/// that no cache holds them. Results go elsewhere, so that the operands stay random
/// numbers: the power that a kernel draws, and so its speed, depends on its operands.
class KernelMeter {
 public:
  explicit KernelMeter(BenchDevice& bench) : bench_{bench} {}

  /// Fills the buffer with random numbers of a type.
  void fill(DType dtype);

  struct Gemm {
    DType dtype = DType::f64;
    Trans trans_a = Trans::no, trans_b = Trans::no;
    int64_t m = 0, n = 0, k = 0;
    int64_t extra = 0;  // elements between the columns of each operand
    bool operator==(const Gemm&) const = default;
  };
  /// Seconds that one kernel takes: `count` kernels run in each of `streams` streams at
  /// once (256 in all at most), and the time of all is divided by their number.
  double gemm(const Gemm& shape, int count, int streams = 1);
  /// Seconds that a thread needs to hand over a kernel, `count` of them to several
  /// streams in turn.
  double issue_time(const Gemm& shape, int count);
  /// Kernels run one after another for about so many seconds, in groups of `group`.
  std::vector<LoadSeries::Point> series(const Gemm& shape, int group, double seconds);
  /// Hands `count` kernels to a stream and returns.
  void start(const Gemm& shape, int count, size_t stream);
  /// Until a stream is done.
  void wait(size_t stream);

  /// Bytes a second that y = alpha x + beta y moves on large blocks.
  double memory_rate(int count);
  /// Reads and writes about so many bytes of the buffer, and waits for it.
  void touch(size_t bytes);

 private:
  void load(const Gemm& shape);
  void issue(const Gemm& shape, size_t stream);

  BenchDevice& bench_;
  size_t next_ = 0;             // of the operand sets
  std::optional<Gemm> loaded_;  // the shape whose code is on the device
};

}  // namespace tilerail::cuda
