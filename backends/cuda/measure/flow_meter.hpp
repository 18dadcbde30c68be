#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/cuda/run/device.hpp"
#include "backends/cuda/run/host_buffer.hpp"
#include "calibration/measurements.hpp"

namespace tilerail::cuda {

constexpr int host_end = -1;

/// A flow: back-to-back copies from one memory to another on each of `in_flight` streams.
struct FlowSpec {
  int src = 0, dst = 0;  // device numbers, or host_end
  int in_flight = 1;
};

/// The resources for measuring one device: copy streams, and random data to copy and to
/// multiply.
struct BenchDevice {
  explicit BenchDevice(int ordinal, size_t bytes);
  Device device;
  size_t bytes;
  std::byte* data() const { return device.arena(); }
};

/// Times flows that start simultaneously. As in plans, the source device of a flow issues
/// it, or the destination device if the source is the host.
class FlowMeter {
 public:
  /// `devices` must outlive the meter. Opens peer access between them if the hardware
  /// supports it, and page-locks `host_bytes` of each kind of pages.
  FlowMeter(std::vector<std::unique_ptr<BenchDevice>>& devices, size_t host_bytes);
  ~FlowMeter();

  bool reaches(int src, int dst) const;

  /// Shape of every copy: `columns` columns of `column_bytes` bytes, `stride` bytes apart
  /// at both ends.
  struct Shape {
    size_t column_bytes = 0, columns = 1, stride = 0;
    size_t bytes() const { return column_bytes * columns; }
    size_t extent() const { return columns == 1 ? column_bytes : stride * columns; }
  };

  /// The number of copies of a single flow that use different host memory.
  size_t places(HostPages pages, const Shape& shape) const {
    return (pages == HostPages::spread ? spread_ : plain_).bytes() / shape.extent();
  }

  /// Bytes per second of each flow, counted until the first flow has finished its copies.
  std::vector<double> rates(const std::vector<FlowSpec>& flows, HostPages pages,
                            const Shape& shape, size_t copies);

  /// Seconds until one copy of each flow is done: shows which copies one engine
  /// serializes.
  std::vector<double> finish_times(const std::vector<FlowSpec>& flows,
                                   const Shape& shape);

  /// Seconds per copy of one byte, for `count` copies issued back to back or waited for
  /// one by one.
  double latency(int src, int dst, int count, bool waited);

 private:
  struct Lane;   // one stream of one flow
  struct Times;  // times of its copies
  Times run(const std::vector<FlowSpec>& flows, HostPages pages, const Shape& shape,
            size_t copies);
  void issue(Lane& lane, size_t lanes, HostPages pages, const Shape& shape,
             size_t copies);
  std::byte* address(int memory, HostPages pages, size_t lane, size_t lanes, size_t copy,
                     const Shape& shape) const;
  BenchDevice& owner(const FlowSpec& flow);

  std::vector<std::unique_ptr<BenchDevice>>& devices_;
  HostBuffer spread_, plain_;
  std::vector<std::vector<bool>> reach_;
};

}  // namespace tilerail::cuda
