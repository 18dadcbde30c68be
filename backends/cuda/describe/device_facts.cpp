#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "backends/cuda/describe/device_topology.hpp"
#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device),
        "reading a property of device " + std::to_string(device));
  return value;
}

int peer_attribute(cudaDeviceP2PAttr which, int from, int to) {
  int value = 0;
  check(cudaDeviceGetP2PAttribute(&value, which, from, to),
        "reading how devices reach each other");
  return value;
}

/// Lanes times transfers/s times the payload share of the line code: 8b/10b below 8 GT/s,
/// else 128b/130b. Source: PCI Express Base Specification. Absent if the system does not
/// report it (virtual machines often do not).
std::optional<double> pcie_rate(int device) {
  std::array<char, 32> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), int(bus.size()), device),
        "reading a PCI bus id");
  std::string folder{bus.data()};
  std::transform(folder.begin(), folder.end(), folder.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  folder = "/sys/bus/pci/devices/" + folder;
  std::ifstream speed_file{folder + "/max_link_speed"},
      width_file{folder + "/max_link_width"};
  double gigatransfers = 0, lanes = 0;
  constexpr double most_lanes = 32;
  if (!(speed_file >> gigatransfers) || !(width_file >> lanes)) return {};
  if (!(gigatransfers > 0) || lanes < 1 || lanes > most_lanes) return {};
  const double payload = gigatransfers < 8 ? 8.0 / 10 : 128.0 / 130;
  return gigatransfers * 1e9 * lanes * payload / 8;
}

DeviceFacts read_device(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device),
        "reading the properties of device " + std::to_string(device));
  DeviceFacts facts;
  facts.name = properties.name;
  facts.compute_capability = 10 * properties.major + properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = int64_t(properties.totalGlobalMem);
  facts.copy_engines = properties.asyncEngineCount;
  facts.clock = 1e3 * attribute(cudaDevAttrClockRate, device);
  constexpr double transfers_per_clock = 2, bits = 8;
  facts.memory_bandwidth = transfers_per_clock * 1e3 *
                           attribute(cudaDevAttrMemoryClockRate, device) *
                           attribute(cudaDevAttrGlobalMemoryBusWidth, device) / bits;
  facts.pcie = pcie_rate(device);
  return facts;
}

/// The kind of link between two devices: NVLink has native atomics, PCIe does not.
PeerLink read_peer(int from, int to) {
  int reachable = 0;
  check(cudaDeviceCanAccessPeer(&reachable, from, to), "asking for peer access");
  if (!reachable) return PeerLink::none;
  return peer_attribute(cudaDevP2PAttrNativeAtomicSupported, from, to) ? PeerLink::nvlink
                                                                       : PeerLink::pcie;
}

}  // namespace

MachineFacts read_machine_facts() {
  MachineFacts facts;
  const int devices = device_count();
  for (int d = 0; d < devices; ++d) facts.devices.push_back(read_device(d));
  facts.peers.resize(size_t(devices));
  for (int from = 0; from < devices; ++from)
    for (int to = 0; to < devices; ++to)
      facts.peers[size_t(from)].push_back(from == to ? PeerLink::none
                                                     : read_peer(from, to));
  return facts;
}

}  // namespace tilerail::cuda
