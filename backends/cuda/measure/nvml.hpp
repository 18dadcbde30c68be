#pragma once

// The driver's management library: the header of the CUDA toolkit or, if the toolkit
// lacks it, the few declarations in use. The library itself is loaded at run time.
#if __has_include(<nvml.h>)
#include <nvml.h>
#else
// NOLINTBEGIN(readability-identifier-naming): the names are NVIDIA's
extern "C" {
using nvmlDevice_t = struct nvmlDevice_st*;
enum nvmlReturn_t : int { NVML_SUCCESS = 0 };

nvmlReturn_t nvmlInit_v2();
nvmlReturn_t nvmlShutdown();
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long* millijoules);
}
// NOLINTEND(readability-identifier-naming)
#endif
