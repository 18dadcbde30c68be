#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail::cuda {

/// Properties of one device that the driver and the system report without measuring.
struct DeviceFacts {
  std::string name;
  int compute_capability = 0;  // 10 major + minor
  int multiprocessors = 1;
  double clock = 0;             // Hz
  double memory_bandwidth = 0;  // B/s; 0 if unknown
  int64_t memory_bytes = 0;
  int copy_engines = 1;
  std::optional<double> pcie;  // B/s of its PCIe port in one direction, without protocol
                               // overhead
};

enum class PeerLink : uint8_t { none, pcie, nvlink };

struct MachineFacts {
  std::vector<DeviceFacts> devices;          // by CUDA device
  std::vector<std::vector<PeerLink>> peers;  // [from][to]
};

/// Queries the runtime and the system (PCIe speeds: /sys/bus/pci). The current device is
/// unchanged afterwards. Throws CudaError.
MachineFacts read_machine_facts();

/// A description in which every figure is `assumed` (docs/machines.md#automatic):
/// sufficient for running, not for predictions. Requires at least one device.
Topology::Description describe(const MachineFacts& facts);

}  // namespace tilerail::cuda
