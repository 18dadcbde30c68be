#include "backends/cuda/measure.hpp"

#include <unistd.h>

#include <chrono>
#include <ctime>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/measure_tasks.hpp"
#include "model/error.hpp"

namespace tilerail {
namespace {

using namespace cuda;

constexpr std::size_t GiB = std::size_t{1} << 30;
constexpr std::size_t device_bytes = 6 * GiB, host_bytes_each = GiB / 4;  // of buffers; host: for each device

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

DeviceRecord facts_of(int ordinal, const PowerMeter& power) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "reading the properties of a device");
  std::size_t free = 0, total = 0;
  const DeviceScope scope{ordinal};
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  return {Bench::name(ordinal),
          ordinal,
          properties.name,
          static_cast<double>(total),
          properties.multiProcessorCount,
          power.watts(ordinal),
          power.limit_watts(ordinal)};
}

}  // namespace

Measurements measure_cuda_machine(const CudaCalibrationOptions& options) {
  const int there = device_count();
  if (there == 0) throw HardwareError{"--backend cuda: this machine has no CUDA device"};
  if (options.devices > there)
    throw HardwareError{"--devices " + std::to_string(options.devices) + ": this machine has " + std::to_string(there)};
  const int count = options.devices > 0 ? options.devices : there;
  const DeviceScope restore{0};

  Measurements results;
  results.machine = options.name;
  results.date = today();
  results.host_bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  PowerMeter power;
  std::vector<std::unique_ptr<BenchDevice>> devices;
  for (int d = 0; d < count; ++d) {
    results.devices.push_back(facts_of(d, power));
    devices.push_back(std::make_unique<BenchDevice>(d, device_bytes));
    KernelMeter{*devices.back()}.fill(DType::f64);
  }
  FlowMeter flows{devices, host_bytes_each * static_cast<std::size_t>(std::max(4, count))};
  Bench bench{devices, flows, power, results};
  std::vector<Task> tasks;
  add_transfer_tasks(bench, tasks);
  add_issue_tasks(bench, tasks);
  add_kernel_tasks(bench, tasks);
  Stopwatch watch{options.seconds, tasks.size()};
  std::string_view now;
  for (const Task& task : tasks) {
    if (options.progress && task.what != now) options.progress(task.what);
    now = task.what;
    task.run(watch);
  }
  return results;
}

}  // namespace tilerail
