#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/import/assumptions.hpp"
#include "model/import/gpu_kind.hpp"

namespace tilerail {

/// The figures that a file lacks and an import assumes. Rates are of one direction.
struct ImportRates {
  Rate pcie = assumptions::pcie_reached(
      assumptions::other_generation);  // of 16 lanes, where the file has no speed
  std::optional<Rate> nvlink =
      {};  // of one NVLink; absent: by the GPU, if the file tells it
  Rate c2c =
      assumptions::c2c;  // between a GPU and the processor that it is coherent with
  std::optional<Rate> host_memory =
      {};  // that GPUs read of a NUMA domain; absent: by the processor
  int generation = assumptions::other_generation;  // PCIe of the processors
  Rate sockets = assumptions::sockets;             // between two sockets

  /// What copies get of the memory of one of so many NUMA domains of a socket.
  assumptions::HostRates host(bool coherent, size_t domains = 1) const {
    if (host_memory) return assumptions::host_rates(*host_memory);
    auto rates =
        coherent ? assumptions::coherent_rates : assumptions::host_rates(generation);
    for (Rate* rate : {&rates.read, &rates.written, &rates.both})
      *rate *= 1 / double(domains);
    return rates;
  }
};

/// Machines of what tools say about real ones. GPUs are of this kind. Sources of kind
/// "measured" are what the file tells, "assumed" what it does not. `file` names the place
/// in errors. Throw InputError "FILE:LINE: ..." for a text that is none of the tool's.
/// docs/formats.md#imports
Topology::Description import_nvidia_smi(std::string_view text, const std::string& file,
                                        const GpuKind& kind, const ImportRates& rates);
Topology::Description import_nccl_xml(std::string_view text, const std::string& file,
                                      const GpuKind& kind, const ImportRates& rates);
/// `notes` gets a line on what the file has and the machine does not.
Topology::Description import_nvbandwidth(std::string_view text, const std::string& file,
                                         const GpuKind& kind,
                                         std::vector<std::string>* notes = nullptr);
Topology::Description import_p2p_test(std::string_view text, const std::string& file,
                                      const GpuKind& kind, const ImportRates& rates);

}  // namespace tilerail
