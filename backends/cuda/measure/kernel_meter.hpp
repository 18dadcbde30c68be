#pragma once

#include <optional>

#include "backends/cuda/measure/flow_meter.hpp"
#include "calibration/measurements.hpp"

namespace tilerail::cuda {

/// Times kernels on operands that go round a large buffer, as a plan's do: no cache holds them. Operands stay the
/// random numbers that they were, since results go elsewhere: the power that a kernel draws, and so its speed, depends
/// on them.
class KernelMeter {
 public:
  explicit KernelMeter(BenchDevice& bench) : bench_{bench} {}

  /// Fills the buffer with random numbers of a type.
  void fill(DType dtype);

  struct Gemm {
    DType dtype = DType::f64;
    Trans trans_a = Trans::no, trans_b = Trans::no;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t extra = 0;  // elements between the columns of each operand
    bool operator==(const Gemm&) const = default;
  };
  /// Seconds a kernel, of `count` (256 at most in all) in each of `streams` streams at once (of all, divided by their
  /// number).
  double gemm(const Gemm& shape, int count, int streams = 1);
  /// Hands `count` kernels to a stream and returns.
  void start(const Gemm& shape, int count, std::size_t stream);

  /// Bytes a second that y = alpha x + beta y moves, of large blocks.
  double memory_rate(int count);

 private:
  void load(const Gemm& shape);
  void issue(const Gemm& shape, std::size_t stream);

  BenchDevice& bench_;
  std::size_t next_ = 0;        // of the operand sets
  std::optional<Gemm> loaded_;  // whose code is on the device
};

}  // namespace tilerail::cuda
