#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/measure/measure_tasks.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "backends/cuda/run/stream_graph.hpp"
#include "backends/cuda/run/timed_event.hpp"
#include "model/base/indices.hpp"
#include "model/base/timer.hpp"

namespace tilerail::cuda {
namespace {

constexpr int repeats = 200;     // operations per graph
constexpr size_t bytes = 4096;   // of each copy
constexpr int usual_calls = 20;  // of a graph with small operations
constexpr double least = 1e-9;   // s, lower bound for differences that noise makes
                                 // negative

struct FreeHost {
  void operator()(std::byte* memory) const { cudaFreeHost(memory); }
};
using HostMemory = std::unique_ptr<std::byte, FreeHost>;

HostMemory locked(size_t size) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, size), "locking memory");
  return HostMemory{static_cast<std::byte*>(memory)};
}

/// Seconds from the launch of a graph to its end, and of the launch alone.
struct Taken {
  double all, launch;
};

std::vector<StreamOnDevice> compute_streams(const Device& device, size_t count) {
  std::vector<StreamOnDevice> streams;
  for (size_t s = 0; s < count; ++s)
    streams.push_back({device.ordinal(), device.compute_stream(s)});
  return streams;
}

/// Later work in `stream` waits for the present work in `other`, a stream of the current
/// device.
void follow(cudaStream_t stream, cudaStream_t other, std::deque<PlainEvent>& events) {
  check(cudaEventRecord(events.emplace_back(), other), "recording");
  check(cudaStreamWaitEvent(stream, events.back(), 0), "waiting");
}

Taken time_graph(const std::vector<StreamOnDevice>& streams, int calls,
                 const std::function<void()>& issue) {
  const StreamGraph graph{streams, issue};
  Taken sum{0, 0};
  for (int i = 0; i < 2 + calls; ++i) {
    const Timer timer;
    graph.launch();
    const double launch = timer.seconds();
    graph.wait();
    if (i >= 2) sum.launch += launch / calls, sum.all += timer.seconds() / calls;
  }
  return sum;
}

/// Graphs of small operations of one device.
class Graphs {
 public:
  explicit Graphs(BenchDevice& bench)
      : bench_{bench}, host_{locked(size_t{2} * repeats * bytes)} {
    bench_.device.open_streams(streams_side_by_side, 2);
  }

  /// `count` tiny kernels in `streams` streams in turn.
  Taken kernels(int count, size_t streams) {
    const std::vector<StreamOnDevice> used = compute_streams(bench_.device, streams);
    return time_graph(used, usual_calls, [&] {
      for (int i = 0; i < count; ++i) kernel(used[size_t(i) % streams].stream);
    });
  }
  Taken copies() {
    const cudaStream_t stream = bench_.device.copy_stream(0);
    return time_graph({{bench_.device.ordinal(), stream}}, usual_calls, [&] {
      for (int i = 0; i < repeats; ++i) fetch(i, stream);
    });
  }
  /// Tiny kernels on this and another device in turn, each waiting for its predecessor.
  Taken back_and_forth(Graphs& other) {
    const std::array both{this, &other};
    std::vector<StreamOnDevice> streams;
    for (const Graphs* graphs : both)
      streams.push_back(compute_streams(graphs->bench_.device, 1).front());
    std::deque<PlainEvent> events;
    return time_graph(streams, usual_calls, [&] {
      for (size_t i = 0; i < repeats; ++i) {
        const DeviceScope scope{streams[i % 2].device};
        both[i % 2]->kernel(streams[i % 2].stream);
        follow(streams[(i + 1) % 2].stream, streams[i % 2].stream, events);
      }
    });
  }
  /// Each copy to the device is followed by a kernel, and the kernel by a copy back.
  Taken chains() {
    const Device& device = bench_.device;
    const std::array streams{device.copy_stream(0), device.compute_stream(0),
                             device.copy_stream(1)};
    std::deque<PlainEvent> events;
    return time_graph(on_device(streams), usual_calls, [&] {
      for (int i = 0; i < repeats; ++i) {
        fetch(i, streams[0]), follow(streams[1], streams[0], events);
        kernel(streams[1]), follow(streams[2], streams[1], events);
        copy(block(bench_.data(), i), block(host_.get() + repeats * bytes, i), 1,
             streams[2]);
      }
    });
  }
  /// Seconds of a copy to the device and a kernel that waits for it, if the next copy
  /// waits for the kernel.
  double ping_pong(KernelMeter& meter, const KernelMeter::Gemm& shape) {
    const std::array streams{bench_.device.copy_stream(0),
                             bench_.device.compute_stream(0)};
    std::deque<PlainEvent> events;
    return time_graph(on_device(streams), usual_calls,
                      [&] {
                        for (int i = 0; i < repeats; ++i) {
                          fetch(i, streams[0]), follow(streams[1], streams[0], events);
                          meter.start(shape, 1, 0),
                              follow(streams[0], streams[1], events);
                        }
                      })
               .all /
           repeats;
  }

 private:
  std::vector<StreamOnDevice> on_device(std::span<const cudaStream_t> streams) const {
    std::vector<StreamOnDevice> places;
    for (const cudaStream_t stream : streams)
      places.push_back({bench_.device.ordinal(), stream});
    return places;
  }
  static Block block(std::byte* start, int number) {
    return {start + size_t(number) * bytes, int64_t(bytes), 1, int64_t(bytes)};
  }
  void fetch(int number, cudaStream_t stream) {
    copy(block(host_.get(), number), block(bench_.data(), number), 1, stream);
  }
  void kernel(cudaStream_t stream) {
    const Block y{bench_.data() + repeats * bytes, 32, 1, 32};
    axpby(y, y, 1, 0, DType::f32, stream);
  }

  BenchDevice& bench_;
  HostMemory host_;
};

}  // namespace

void add_graph_tasks(Bench& bench) {
  bench.tasks.push_back(
      {"graphs", [&bench](Stopwatch& watch) {
         BenchDevice& device = *bench.devices.front();
         const DeviceScope scope{device.device.ordinal()};
         Graphs graphs{device};
         const auto costs = watch.repeat([&] {
           const double one = graphs.kernels(1, 1).all;
           const double next = (graphs.kernels(repeats, 1).all - one) / (repeats - 1);
           const double kernel =
               graphs.kernels(repeats, streams_side_by_side).all / repeats;
           const double copy = graphs.copies().launch / repeats;
           const double crossed = (graphs.chains().launch / repeats - 2 * copy) / 2;
           return std::vector{std::max(least, crossed), kernel, copy,
                              std::max(least, one - next)};
         });
         for (size_t i = 0; const char* what : {"graph dependency", "graph kernel",
                                                "graph copy", "graph call"})
           bench.results.issue.push_back({what, 1, costs[i++]});
       }});
  if (bench.devices.size() < 2) return;
  bench.tasks.push_back({"graphs of several GPUs", [&bench](Stopwatch& watch) {
                           Graphs first{*bench.devices[0]}, second{*bench.devices[1]};
                           const SampleMean time = watch.repeat_one([&] {
                             const double within = first.kernels(repeats, 1).all,
                                          across = first.back_and_forth(second).all;
                             return std::max(least, (across - within) / repeats);
                           });
                           bench.results.issue.push_back({"graph of GPUs", 1, time});
                         }});
}

namespace {

constexpr double burst_seconds = 2e-3;  // kernels per launch

/// Seconds per kernel with `streams` streams of back-to-back kernels; `each` is the
/// approximate time of one kernel alone.
double time_of_kernels(KernelMeter& meter, const Device& device,
                       const KernelMeter::Gemm& shape, int streams, double each) {
  const std::vector<StreamOnDevice> used = compute_streams(device, size_t(streams));
  const int of_stream = std::clamp(int(burst_seconds / each), streams, repeats) / streams;
  const Taken taken = time_graph(used, 4, [&] {
    for (const auto s : indices(used)) meter.start(shape, of_stream, s);
  });
  return taken.all / (of_stream * streams);
}

}  // namespace

void add_graph_kernel_tasks(Bench& bench, DType type) {
  for (const int64_t side : sides_side_by_side)
    for (const int streams : {1, streams_side_by_side})
      bench.tasks.push_back(
          {"graphs of kernels", [=, &bench](Stopwatch& watch) {
             BenchDevice& device = *bench.devices.front();
             const DeviceScope scope{device.device.ordinal()};
             KernelMeter meter{device};
             const KernelMeter::Gemm shape{type, side, side, side};
             const double each = meter.gemm(shape, 2, 1);
             const SampleMean time = watch.repeat_one([&] {
               return time_of_kernels(meter, device.device, shape, streams, each);
             });
             KernelRun run;
             run.gpu = Bench::name(0), run.dtype = type, run.m = run.n = run.k = side;
             run.at_once = streams, run.seconds = time;
             bench.results.graph_kernels.push_back(run);
           }});
  if (type != DType::f64) return;
  bench.tasks.push_back(
      {"graphs of kernels", [=, &bench](Stopwatch& watch) {
         BenchDevice& device = *bench.devices.front();
         const DeviceScope scope{device.device.ordinal()};
         KernelMeter meter{device};
         const KernelMeter::Gemm shape{type, 256, 256, 256};
         Graphs graphs{device};
         const double each = meter.gemm(shape, 2);
         const SampleMean time = watch.repeat_one([&] {
           const double apart = time_of_kernels(meter, device.device, shape, 1, each) +
                                graphs.copies().all / repeats;
           return std::max(least, (graphs.ping_pong(meter, shape) - apart) / 2);
         });
         bench.results.issue.push_back({"hand on", 1, time});
       }});
}

}  // namespace tilerail::cuda
