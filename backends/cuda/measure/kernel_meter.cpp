#include "backends/cuda/measure/kernel_meter.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "backends/cuda/measure/hold_stream.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "backends/cuda/run/timed_event.hpp"
#include "model/base/timer.hpp"

namespace tilerail::cuda {
namespace {

constexpr double rest_seconds = 0.5;  // after this pause, earlier load has no effect
constexpr int most_held =
    256;  // kernels behind a gate: issuing more could wait for the gate itself

size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

void KernelMeter::fill(DType dtype) {
  const DeviceScope scope{bench_.device.ordinal()};
  const int64_t element = element_size(dtype), rows = 1 << 16;
  const auto cols = int64_t(bench_.bytes) / element / rows;
  fill_random({bench_.data(), rows, cols, rows}, dtype, 7,
              bench_.device.compute_stream(0));
  check(cudaStreamSynchronize(bench_.device.compute_stream(0)), "filling device memory");
}

void KernelMeter::issue(const Gemm& shape, size_t stream) {
  const auto element = size_t(element_size(shape.dtype));
  const bool ta = shape.trans_a != Trans::no, tb = shape.trans_b != Trans::no;
  const auto bytes = [&](int64_t a, int64_t b) {
    return aligned(size_t(a) * size_t(b) * element);
  };
  const auto lead = [&](int64_t rows) { return rows + shape.extra; };
  const int64_t rows_a = ta ? shape.k : shape.m, rows_b = tb ? shape.n : shape.k;
  const int64_t cols_a = ta ? shape.m : shape.k, cols_b = tb ? shape.k : shape.n;
  const size_t a = bytes(lead(rows_a), cols_a), b = bytes(lead(rows_b), cols_b),
               c = bytes(lead(shape.m), shape.n);
  const size_t operands = bench_.bytes / 4 * 3, results = bench_.bytes - operands;
  if (a + b > operands || c > results)
    throw std::logic_error{"measuring: operands are larger than the buffer"};
  const size_t turn = next_++;
  std::byte* from = bench_.data() + turn % (operands / (a + b)) * (a + b);
  std::byte* to = bench_.data() + operands + turn % (results / c) * c;
  const Block block_a{from, rows_a, cols_a, lead(rows_a)},
      block_b{from + a, rows_b, cols_b, lead(rows_b)};
  const Block block_c{to, shape.m, shape.n, lead(shape.m)};
  // With beta the kernel reads C, like all but the first kernel of a tile; 0.5 keeps C
  // small.
  cuda::gemm(bench_.device.handle(stream),
             {shape.dtype, shape.trans_a, shape.trans_b, shape.k, 1.0, 0.5, block_a,
              block_b, block_c});
}

/// The first call for a shape loads code, which waits for all streams, so it is made
/// before a stream is held back. Later calls load nothing and would only keep the device
/// busy for longer than the measurement.
void KernelMeter::load(const Gemm& shape) {
  if (loaded_ == shape) return;
  issue(shape, 0);
  check(cudaStreamSynchronize(bench_.device.compute_stream(0)), "multiplying");
  loaded_ = shape;
}

double KernelMeter::gemm(const Gemm& shape, int count, int streams) {
  const DeviceScope scope{bench_.device.ordinal()};
  const auto used = size_t(streams);
  bench_.device.open_streams(used, 0);
  load(shape);
  const TimedEvent begin;
  const std::vector<TimedEvent> ends(used);
  Gate gate;
  hold_stream(gate, bench_.device.compute_stream(0));
  check(cudaEventRecord(begin, bench_.device.compute_stream(0)), "recording a start");
  for (size_t s = 1; s < used; ++s)
    check(cudaStreamWaitEvent(bench_.device.compute_stream(s), begin, 0),
          "waiting for the start");
  const int issued = std::min(count, most_held / streams);
  for (int i = 0; i < issued; ++i)
    for (size_t s = 0; s < used; ++s) issue(shape, s);
  for (size_t s = 0; s < used; ++s)
    check(cudaEventRecord(ends[s], bench_.device.compute_stream(s)), "recording an end");
  gate.open();
  double last = 0;
  for (size_t s = 0; s < used; ++s) {
    check(cudaEventSynchronize(ends[s]), "multiplying");
    last = std::max(last, seconds_between(begin, ends[s]));
  }
  return last / issued / streams;
}

double KernelMeter::issue_time(const Gemm& shape, int count) {
  constexpr size_t streams = 4;
  const DeviceScope scope{bench_.device.ordinal()};
  bench_.device.open_streams(streams, 0);
  load(shape);
  const Timer timer;
  for (size_t i = 0; i < size_t(count); ++i) issue(shape, i % streams);
  const double taken = timer.seconds();
  for (size_t s = 0; s < streams; ++s)
    check(cudaStreamSynchronize(bench_.device.compute_stream(s)), "multiplying");
  return taken / count;
}

std::vector<LoadSeries::Point> KernelMeter::series(const Gemm& shape, int group,
                                                   double seconds) {
  const DeviceScope scope{bench_.device.ordinal()};
  load(shape);
  const double each = gemm(shape, 2);
  const auto groups = size_t(std::max(1.0, seconds / (each * group)));
  std::this_thread::sleep_for(std::chrono::duration<double>(rest_seconds));
  const std::vector<TimedEvent> events(groups + 1);
  const cudaStream_t stream = bench_.device.compute_stream(0);
  check(cudaEventRecord(events[0], stream), "recording a start");
  for (size_t g = 1; g <= groups; ++g) {
    for (int i = 0; i < group; ++i) issue(shape, 0);
    check(cudaEventRecord(events[g], stream), "recording an end");
  }
  check(cudaStreamSynchronize(stream), "multiplying");
  std::vector<LoadSeries::Point> points;
  for (size_t g = 1; g <= groups; ++g)
    points.push_back({seconds_between(events[0], events[g]),
                      seconds_between(events[g - 1], events[g]) / group});
  return points;
}

void KernelMeter::start(const Gemm& shape, int count, size_t stream) {
  const DeviceScope scope{bench_.device.ordinal()};
  bench_.device.open_streams(stream + 1, 0);
  for (int i = 0; i < count; ++i) issue(shape, stream);
}

void KernelMeter::wait(size_t stream) {
  const DeviceScope scope{bench_.device.ordinal()};
  check(cudaStreamSynchronize(bench_.device.compute_stream(stream)), "multiplying");
}

double KernelMeter::memory_rate(int count) {
  const DeviceScope scope{bench_.device.ordinal()};
  const cudaStream_t stream = bench_.device.compute_stream(0);
  const int64_t side = 4096;
  const auto bytes = size_t(side * side * 8);
  const size_t places = std::max<size_t>(1, bench_.bytes / (2 * bytes));
  const auto run = [&](int i) {
    std::byte* at = bench_.data() + size_t(i) % places * 2 * bytes;
    axpby({at, side, side, side}, {at + bytes, side, side, side}, 0.5, 0.5, DType::f64,
          stream);
  };
  run(0);
  check(cudaStreamSynchronize(stream), "adding");
  const Timer timer;
  for (int i = 0; i < count; ++i) run(i);
  check(cudaStreamSynchronize(stream), "adding");
  const double taken = timer.seconds();
  return 3.0 * double(bytes) * count / taken;
}

void KernelMeter::touch(size_t bytes) {
  const DeviceScope scope{bench_.device.ordinal()};
  const cudaStream_t stream = bench_.device.compute_stream(0);
  constexpr int64_t rows = 4096;
  const auto cols = int64_t(std::min(bytes, bench_.bytes) / 2 / (rows * sizeof(double)));
  std::byte* const y = bench_.data() + size_t(rows * cols) * sizeof(double);
  axpby({bench_.data(), rows, cols, rows}, {y, rows, cols, rows}, 0.5, 0.5, DType::f64,
        stream);
  check(cudaStreamSynchronize(stream), "adding");
}

}  // namespace tilerail::cuda
