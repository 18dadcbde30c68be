#include "backends/cuda/measure/measure.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "backends/cuda/measure/measure_tasks.hpp"
#include "backends/cuda/measure/power_watch.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

using namespace cuda;

constexpr size_t GiB = size_t{1} << 30;
constexpr size_t device_bytes = 6 * GiB,
                 host_bytes_each = GiB / 4;  // of the buffers; host: per device

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

/// Watts of idle devices with open contexts (which draw power), as between the operations
/// of a plan.
void measure_idle(std::vector<DeviceRecord>& devices, const PowerMeter& power) {
  constexpr std::chrono::milliseconds rest{1000}, enough{1000};
  check(cudaDeviceSynchronize(), "waiting for a device");
  std::this_thread::sleep_for(rest);
  std::vector<int> ordinals;
  for (const DeviceRecord& device : devices) ordinals.push_back(device.number);
  PowerWatch watch{power, ordinals};
  std::this_thread::sleep_for(enough);
  const std::vector<CounterTrace> traces = watch.stop();
  for (const auto d : indices(devices))
    devices[d].idle_watts = traces[d].watts().value_or(0);
}

DeviceRecord facts_of(int ordinal, const PowerMeter& power) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal),
        "reading the properties of a device");
  size_t free = 0, total = 0;
  const DeviceScope scope{ordinal};
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  DeviceRecord record;
  record.name = Bench::name(ordinal), record.number = ordinal,
  record.model = properties.name;
  record.memory_bytes = double(total),
  record.multiprocessors = properties.multiProcessorCount;
  record.limit_watts = power.limit_watts(ordinal);
  return record;
}

}  // namespace

Measurements measure_cuda_machine(const CudaCalibrationOptions& options) {
  const int there = device_count();
  if (there == 0) throw HardwareError{"this machine has no CUDA device"};
  if (options.devices > there)
    throw HardwareError{fmt::format("devices: {} are asked for; this machine has {}",
                                    options.devices, there)};
  const int count = options.devices > 0 ? options.devices : there;
  const DeviceScope restore{0};

  Measurements results;
  results.machine = options.name;
  results.date = today();
  results.host_bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  PowerMeter power;
  std::vector<std::unique_ptr<BenchDevice>> devices;
  for (int d = 0; d < count; ++d) {
    results.devices.push_back(facts_of(d, power));
    devices.push_back(std::make_unique<BenchDevice>(d, device_bytes));
  }
  measure_idle(results.devices, power);
  for (const auto& device : devices) KernelMeter{*device}.fill(DType::f64);
  FlowMeter flows{devices, host_bytes_each * size_t(std::max(4, count))};
  Bench bench{devices, flows, power, results};
  add_transfer_tasks(bench);
  add_issue_tasks(bench);
  add_graph_tasks(bench);
  add_kernel_tasks(bench);
  Stopwatch watch{options.seconds, bench.tasks.size()};
  std::string_view now;
  for (const Task& task : bench.tasks) {
    if (options.progress && task.what != now) options.progress(task.what);
    now = task.what;
    task.run(watch);
  }
  return results;
}

}  // namespace tilerail
