#include <algorithm>
#include <functional>
#include <vector>

#include "backends/cuda/measure/measure_tasks.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/issuer_pool.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "backends/cuda/run/timed_event.hpp"
#include "model/base/threads.hpp"
#include "model/base/timer.hpp"

namespace tilerail::cuda {
namespace {

using Job = std::function<void(BenchDevice&)>;

constexpr int calls = 200;  // fewer than a device queues before the caller must wait

/// Seconds of a thread per call, while one thread for each of the first `threads` devices
/// issues calls.
double time_issue(Bench& bench, int threads, const Job& job) {
  std::vector<double> taken(static_cast<size_t>(threads));
  const auto issue = [&](size_t i) {
    BenchDevice& device = *bench.devices[i];
    const DeviceScope scope{device.device.ordinal()};
    for (int c = 0; c < 10; ++c) job(device);
    check(cudaDeviceSynchronize(), "waiting");
    const Timer timer;
    for (int c = 0; c < calls; ++c) job(device);
    taken[i] = timer.seconds() / calls;
    check(cudaDeviceSynchronize(), "waiting");
  };
  run_together(taken.size(), issue);
  double sum = 0;
  for (const double t : taken) sum += t;
  return sum / threads;
}

/// Overhead of a call in seconds: one thread for each of the first `threads` devices
/// issues one copy and waits for it; the time of the copy itself is subtracted.
double time_call(Bench& bench, IssuerPool& pool, int threads) {
  const auto one = [&](size_t i) {
    BenchDevice& device = *bench.devices[i];
    if (cudaSetDevice(device.device.ordinal()) != cudaSuccess) return;
    const auto stream = device.device.copy_stream(0);
    if (cudaMemcpyAsync(device.data(), device.data() + 4096, 1, cudaMemcpyDefault,
                        stream) == cudaSuccess)
      cudaStreamSynchronize(stream);
  };
  const auto time = [](const std::function<void()>& work) {
    constexpr int repeats = 50;
    const Timer timer;
    for (int i = 0; i < repeats; ++i) work();
    return timer.seconds() / repeats;
  };
  const DeviceScope scope{bench.devices.front()->device.ordinal()};
  pool.grow(size_t(threads));
  const double alone = time([&] { one(0); });
  return std::max(1e-7, time([&] { pool.run(size_t(threads), one); }) - alone);
}

}  // namespace

void add_issue_tasks(Bench& bench) {
  const auto block = [](BenchDevice& d, size_t at, int64_t rows, int64_t cols,
                        int64_t ld) {
    return Block{d.data() + at, rows, cols, ld};
  };
  const auto add = [&](const std::string& what, const Job& job) {
    for (int threads = 1; threads <= bench.count();
         threads = threads < bench.count() ? bench.count() : threads + 1)
      bench.tasks.push_back({"issuing", [=, &bench](Stopwatch& watch) {
                               const SampleMean time = watch.repeat_one(
                                   [&] { return time_issue(bench, threads, job); });
                               bench.results.issue.push_back({what, threads, time});
                             }});
  };
  const auto pool = std::make_shared<IssuerPool>();
  for (int threads = 1; threads <= bench.count(); ++threads)
    bench.tasks.push_back({"calls", [=, &bench](Stopwatch& watch) {
                             const SampleMean time = watch.repeat_one(
                                 [&] { return time_call(bench, *pool, threads); });
                             bench.results.issue.push_back({"call", threads, time});
                           }});
  constexpr size_t far = size_t{1} << 20;
  add("copy", [=](BenchDevice& d) {
    copy(block(d, 0, 1024, 1, 1024), block(d, far, 1024, 1, 1024), 1,
         d.device.copy_stream(0));
  });
  add("2-D copy", [=](BenchDevice& d) {
    copy(block(d, 0, 64, 8, 128), block(d, far, 64, 8, 128), 1, d.device.copy_stream(0));
  });
  for (const DType type : {DType::f64, DType::f32, DType::f16})
    add("gemm", [=](BenchDevice& d) {
      const Block b = block(d, 0, 64, 64, 64);
      gemm(d.device.handle(0),
           {type, Trans::no, Trans::no, 64, 1.0, 0.0, b, b, block(d, far, 64, 64, 64)});
    });
  add("record and wait", [](BenchDevice& d) {
    thread_local int made_for = -1;
    thread_local std::unique_ptr<PlainEvent> event;
    if (made_for != d.device.ordinal())
      event = std::make_unique<PlainEvent>(), made_for = d.device.ordinal();
    check(cudaEventRecord(*event, d.device.compute_stream(0)), "recording");
    check(cudaStreamWaitEvent(d.device.copy_stream(0), *event, 0), "waiting");
  });
}

}  // namespace tilerail::cuda
