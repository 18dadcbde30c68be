#pragma once

#include <string>
#include <string_view>

#include "model/import/gpu_kind.hpp"

namespace tilerail {

/// What a file does not tell, and an import has to assume. Rates are of one direction.
struct ImportRates {
  Rate pcie{54.81e9};       // of 16 lanes, where the file has no speed
  Rate nvlink{21.75e9};     // of one NVLink: 25 GB/s times the 0.87 that ports of an H200 reach
  Rate host_memory{300e9};  // of a NUMA domain, reads and writes together
  Rate sockets{100e9};      // between two NUMA domains
};

/// Machines of what tools say about real ones. GPUs are of this kind. Sources of kind "measured" are what the file
/// tells, "assumed" what it does not. `file` names the place in errors. Throw InputError "FILE:LINE: ..." for a text
/// that is none of the tool's. docs/formats.md#imports
Topology::Description import_nvidia_smi(std::string_view text, const std::string& file, const GpuKind& kind,
                                        const ImportRates& rates);
Topology::Description import_nccl_xml(std::string_view text, const std::string& file, const GpuKind& kind,
                                      const ImportRates& rates);
Topology::Description import_nvbandwidth(std::string_view text, const std::string& file, const GpuKind& kind);

}  // namespace tilerail
