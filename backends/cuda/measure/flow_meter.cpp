#include "backends/cuda/measure/flow_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "backends/cuda/measure/hold_stream.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "backends/cuda/run/peer_access.hpp"
#include "backends/cuda/run/timed_event.hpp"
#include "model/base/timer.hpp"

namespace tilerail::cuda {

struct FlowMeter::Lane {
  const FlowSpec* flow;
  int device;
  cudaStream_t stream;
  size_t index;  // among all lanes
  struct Mark {
    size_t copies;  // completed at this time
    std::unique_ptr<TimedEvent> event;
  };
  std::vector<Mark> marks;
};

struct FlowMeter::Times {
  std::vector<Lane> lanes;
  std::map<int, std::unique_ptr<TimedEvent>> starts;  // by device
  double of(const Lane& lane, const Lane::Mark& mark) const {
    return seconds_between(*starts.at(lane.device), *mark.event);
  }
};

BenchDevice::BenchDevice(int ordinal, size_t bytes_wanted)
    : device{ordinal}, bytes{bytes_wanted} {
  if (!device.reserve(int64_t(bytes)))
    throw CudaError{
        fmt::format("device {} has no {} free bytes to measure with", ordinal, bytes)};
  device.open_streams(4, 1);
}

FlowMeter::FlowMeter(std::vector<std::unique_ptr<BenchDevice>>& devices,
                     size_t host_bytes)
    : devices_{devices},
      spread_{host_bytes, HostPages::spread},
      plain_{host_bytes, HostPages::plain} {
  const size_t count = devices_.size();
  reach_.assign(count, std::vector<bool>(count, false));
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j)
      reach_[i][j] = i != j && open_peer_access(devices_[i]->device.ordinal(),
                                                devices_[j]->device.ordinal());
  const BenchDevice& first = *devices_.front();
  for (const HostBuffer* buffer : {&spread_, &plain_}) {  // random host pages, too
    const DeviceScope scope{first.device.ordinal()};
    for (size_t at = 0; at < buffer->bytes(); at += first.bytes)
      check(
          cudaMemcpy(buffer->data() + at, first.data(),
                     std::min(first.bytes, buffer->bytes() - at), cudaMemcpyDeviceToHost),
          "filling a host buffer");
  }
}

FlowMeter::~FlowMeter() = default;

bool FlowMeter::reaches(int src, int dst) const {
  return reach_[size_t(src)][size_t(dst)];
}

BenchDevice& FlowMeter::owner(const FlowSpec& flow) {
  return *devices_[size_t(flow.src == host_end ? flow.dst : flow.src)];
}

/// Start address of a copy of a lane: each lane cycles through its share of a buffer.
std::byte* FlowMeter::address(int memory, HostPages pages, size_t lane, size_t lanes,
                              size_t copy, const Shape& shape) const {
  const HostBuffer& host = pages == HostPages::spread ? spread_ : plain_;
  const BenchDevice* device =
      memory == host_end ? nullptr : devices_[size_t(memory)].get();
  const size_t share = (device ? device->bytes : host.bytes()) / lanes / 256 * 256;
  const size_t places = share / shape.extent();
  if (places == 0)
    throw std::logic_error{"measuring: a copy is larger than its share of the buffer"};
  return (device ? device->data() : host.data()) + lane * share +
         copy % places * shape.extent();
}

/// Issues the copies of one lane, and an event after every eighth part of them: each
/// timing costs a stream some microseconds.
void FlowMeter::issue(Lane& lane, size_t lanes, HostPages pages, const Shape& shape,
                      size_t copies) {
  const size_t every = std::max<size_t>(1, copies / 8);
  for (size_t c = 0; c < copies; ++c) {
    const auto place = [&](int memory) {
      return address(memory, pages, lane.index, lanes, c, shape);
    };
    const auto rows = int64_t(shape.column_bytes), cols = int64_t(shape.columns);
    const auto ld = int64_t(shape.columns == 1 ? shape.column_bytes : shape.stride);
    copy({place(lane.flow->src), rows, cols, ld}, {place(lane.flow->dst), rows, cols, ld},
         1, lane.stream);
    if (c > 0 && (c + 1) % every != 0 && c + 1 < copies) continue;
    lane.marks.push_back({c + 1, std::make_unique<TimedEvent>()});
    check(cudaEventRecord(*lane.marks.back().event, lane.stream), "recording an end");
  }
}

/// Issues all copies behind a gate and waits for their completion.
FlowMeter::Times FlowMeter::run(const std::vector<FlowSpec>& flows, HostPages pages,
                                const Shape& shape, size_t copies) {
  Times times;
  std::map<int, size_t> streams;  // copy streams used, by device
  for (const FlowSpec& flow : flows)
    for (int i = 0; i < flow.in_flight; ++i) {
      BenchDevice& bench = owner(flow);
      const size_t slot = streams[bench.device.ordinal()]++;
      bench.device.open_streams(0, slot + 1);
      times.lanes.push_back({&flow,
                             bench.device.ordinal(),
                             bench.device.copy_stream(slot),
                             times.lanes.size(),
                             {}});
    }
  Gate gate;
  std::unique_ptr<TimedEvent> released;
  {
    const Device& first = devices_.front()->device;
    const DeviceScope scope{first.ordinal()};
    released = std::make_unique<TimedEvent>();
    hold_stream(gate, first.compute_stream(0));
    check(cudaEventRecord(*released, first.compute_stream(0)), "recording a start");
  }
  for (const auto& bench : devices_) {
    const int device = bench->device.ordinal();
    if (!streams.contains(device)) continue;
    const DeviceScope scope{device};
    times.starts[device] = std::make_unique<TimedEvent>();
    check(cudaStreamWaitEvent(bench->device.compute_stream(0), *released, 0),
          "waiting for the start");
    check(cudaEventRecord(*times.starts[device], bench->device.compute_stream(0)),
          "recording a start");
  }
  for (Lane& lane : times.lanes) {
    const DeviceScope scope{lane.device};
    check(cudaStreamWaitEvent(lane.stream, *times.starts[lane.device], 0),
          "waiting for the start");
    issue(lane, times.lanes.size(), pages, shape, copies);
  }
  gate.open();
  for (const Lane& lane : times.lanes)
    check(cudaStreamSynchronize(lane.stream), "copying");
  return times;
}

std::vector<double> FlowMeter::rates(const std::vector<FlowSpec>& flows, HostPages pages,
                                     const Shape& shape, size_t copies) {
  const Times times = run(flows, pages, shape, copies);
  double window = std::numeric_limits<double>::infinity();
  for (const Lane& lane : times.lanes)
    window = std::min(window, times.of(lane, lane.marks.back()));
  std::vector<double> rates(flows.size(), 0.0);
  for (const Lane& lane : times.lanes) {
    double before = 0, done = 0;  // copies between two marks count in proportion to their
                                  // time before the window closes
    for (const auto& mark : lane.marks) {
      const double at = times.of(lane, mark), more = double(mark.copies) - done;
      done +=
          at <= window ? more : more * std::max(0.0, (window - before) / (at - before));
      if (at >= window) break;
      before = at;
    }
    rates[size_t(lane.flow - flows.data())] += done * double(shape.bytes()) / window;
  }
  return rates;
}

std::vector<double> FlowMeter::finish_times(const std::vector<FlowSpec>& flows,
                                            const Shape& shape) {
  const Times times = run(flows, HostPages::spread, shape, 1);
  std::vector<double> ends;
  for (const Lane& lane : times.lanes) ends.push_back(times.of(lane, lane.marks.back()));
  return ends;
}

double FlowMeter::latency(int src, int dst, int count, bool waited) {
  BenchDevice& bench = owner({src, dst, 1});
  const DeviceScope scope{bench.device.ordinal()};
  const cudaStream_t stream = bench.device.copy_stream(0);
  const Shape byte{1, 1, 1};
  const auto place = [&](int memory) {
    return address(memory, HostPages::spread, 0, 1, 0, byte);
  };
  const Block from{place(src), 1, 1, 1}, to{place(dst), 1, 1, 1};
  check(cudaStreamSynchronize(stream), "copying");
  const Timer timer;
  for (int i = 0; i < count; ++i) {
    copy(from, to, 1, stream);
    if (waited) check(cudaStreamSynchronize(stream), "copying");
  }
  check(cudaStreamSynchronize(stream), "copying");
  return timer.seconds() / count;
}

}  // namespace tilerail::cuda
