#include "backends/cuda/measure/power_meter.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <vector>

#include "backends/cuda/measure/nvml.hpp"

namespace tilerail::cuda {

/// The functions in use.
struct PowerMeter::Library {
  void* file = nullptr;
  decltype(&nvmlInit_v2) init = nullptr;
  decltype(&nvmlShutdown) shutdown = nullptr;
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) by_bus = nullptr;
  decltype(&nvmlDeviceGetEnforcedPowerLimit) limit = nullptr;       // mW
  decltype(&nvmlDeviceGetTotalEnergyConsumption) energy = nullptr;  // mJ
  std::vector<nvmlDevice_t> devices;

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(file, name));
    return function != nullptr;
  }

  bool open() {
    file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return file && find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
           find(limit, "nvmlDeviceGetEnforcedPowerLimit") &&
           find(energy, "nvmlDeviceGetTotalEnergyConsumption") && init() == NVML_SUCCESS;
  }

  /// Finds the handles of the CUDA devices; the library numbers devices differently. Null
  /// for devices that the library cannot find.
  void find_devices() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return;
    for (int device = 0; device < count; ++device) {
      std::array<char, 32> bus{};
      nvmlDevice_t handle = nullptr;
      const bool known =
          cudaDeviceGetPCIBusId(bus.data(), int(bus.size()), device) == cudaSuccess &&
          by_bus(bus.data(), &handle) == NVML_SUCCESS;
      devices.push_back(known ? handle : nullptr);
    }
  }

  template <class Number>
  double milli(nvmlReturn_t (*query)(nvmlDevice_t, Number*), int device) const {
    const auto index = size_t(device);
    Number value = 0;
    const bool known = index < devices.size() && devices[index] &&
                       query(devices[index], &value) == NVML_SUCCESS;
    return known ? 1e-3 * double(value) : 0;
  }
};

PowerMeter::PowerMeter() : library_{std::make_unique<Library>()} {
  if (library_->open()) {
    library_->find_devices();
    return;
  }
  if (library_->file) dlclose(library_->file);
  library_.reset();
}

PowerMeter::~PowerMeter() {
  if (!library_) return;
  library_->shutdown();
  dlclose(library_->file);
}

double PowerMeter::limit_watts(int device) const {
  return library_ ? library_->milli(library_->limit, device) : 0;
}
double PowerMeter::joules(int device) const {
  return library_ ? library_->milli(library_->energy, device) : 0;
}

}  // namespace tilerail::cuda
