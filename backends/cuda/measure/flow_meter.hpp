#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/run/device.hpp"
#include "backends/cuda/run/host_buffer.hpp"
#include "calibration/measurements.hpp"

namespace tilerail::cuda {

constexpr int host_end = -1;

/// A flow: copies from one memory to another, one after another on each of `in_flight`
/// streams.
struct FlowSpec {
  int src = 0, dst = 0;  // device numbers, or host_end
  int in_flight = 1;
};

/// What measuring needs of one device: copy streams, and random data to move and to
/// multiply.
struct BenchDevice {
  explicit BenchDevice(int ordinal, size_t bytes);
  Device device;
  size_t bytes;
  std::byte* data() const { return device.arena(); }
};

/// Times flows that start at the same moment. As in plans, the device where a flow starts
/// issues it, or the device where it ends when it starts on the host.
class FlowMeter {
 public:
  /// `devices` must outlive the meter. Opens peer access between them where the hardware
  /// has it, and locks `host_bytes` of each kind of pages.
  FlowMeter(std::vector<std::unique_ptr<BenchDevice>>& devices, size_t host_bytes);
  ~FlowMeter();

  bool reaches(int src, int dst) const;

  /// Shape of every copy: `columns` columns of so many bytes, `stride` bytes apart at
  /// both ends.
  struct Shape {
    size_t column_bytes = 0, columns = 1, stride = 0;
    size_t bytes() const { return column_bytes * columns; }
    size_t extent() const { return columns == 1 ? column_bytes : stride * columns; }
  };

  /// How many copies of a single flow are of different memory of a host.
  size_t places(HostPages pages, const Shape& shape) const {
    return (pages == HostPages::spread ? spread_ : plain_).bytes() / shape.extent();
  }

  /// Bytes a second of each flow, counted until the first of them has finished its
  /// copies.
  std::vector<double> rates(const std::vector<FlowSpec>& flows, HostPages pages,
                            const Shape& shape, size_t copies);

  /// Seconds until one copy of each flow is done. They tell which copies one engine runs
  /// one after another.
  std::vector<double> finish_times(const std::vector<FlowSpec>& flows,
                                   const Shape& shape);

  /// Seconds that one copy of one byte takes, of `count` copies issued back to back, or
  /// each waited for.
  double latency(int src, int dst, int count, bool waited);

 private:
  struct Lane;   // one stream of one flow
  struct Times;  // when its copies were done
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
