#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/import/assumptions.hpp"
#include "model/import/gpu_kind.hpp"

namespace tilerail {

/// Assumed values for data missing from an imported file. Rates are per direction.
struct ImportRates {
  Rate pcie = assumptions::pcie_reached(
      assumptions::other_generation);  // of 16 lanes, if the file has no speed
  std::optional<Rate> nvlink =
      {};  // of one NVLink; absent: by the GPU, if the file contains it
  Rate c2c = assumptions::c2c;  // between a GPU and its coherent processor
  std::optional<Rate> host_memory =
      {};  // read by GPUs from a NUMA domain; absent: by the processor
  int generation = assumptions::other_generation;  // PCIe of the processors
  Rate sockets = assumptions::sockets;             // between two sockets

  /// Rates of copies with the memory of one NUMA domain, if a socket has this many.
  assumptions::HostRates host(bool coherent, size_t domains = 1) const {
    if (host_memory) return assumptions::host_rates(*host_memory);
    auto rates =
        coherent ? assumptions::coherent_rates : assumptions::host_rates(generation);
    for (Rate* rate : {&rates.read, &rates.written, &rates.both})
      *rate *= 1 / double(domains);
    return rates;
  }
};

/// Import machines from the output of tools. All GPUs are of this kind. Data from the
/// file have sources of kind "measured", other data "assumed". `file` names the place in
/// errors. Throw InputError "FILE:LINE: ..." if the text is not output of the tool.
/// docs/formats.md#imports
Topology::Description import_nvidia_smi(std::string_view text, const std::string& file,
                                        const GpuKind& kind, const ImportRates& rates);
Topology::Description import_nccl_xml(std::string_view text, const std::string& file,
                                      const GpuKind& kind, const ImportRates& rates);
/// Adds a line to `notes` for data of the file that the machine lacks.
Topology::Description import_nvbandwidth(std::string_view text, const std::string& file,
                                         const GpuKind& kind,
                                         std::vector<std::string>* notes = nullptr);
Topology::Description import_p2p_test(std::string_view text, const std::string& file,
                                      const GpuKind& kind, const ImportRates& rates);

}  // namespace tilerail
