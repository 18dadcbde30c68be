#pragma once

#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

struct NcclFile {
  std::string text;
  std::vector<std::string> notes;  // what it does not say, a sentence each; its first comment has them, too
};

/// Addresses of so many GPUs as NCCL writes them. Throws InputError for what is no address, or is there twice.
std::vector<std::string> pci_addresses(const std::vector<std::string>& texts, size_t gpus);

/// The machine as a topology file of NCCL, or of RCCL if its GPUs are joined by xGMI links, for NCCL_TOPO_FILE. GPUs
/// have these addresses of PCI, by their number; other addresses are made up. Rates are the nearest ones that the
/// format has. docs/formats.md#nccl-topology-files. Throws InputError when the format has no form for the machine.
NcclFile to_nccl_xml(const Topology& topology, const std::vector<std::string>& addresses = {});

}  // namespace tilerail
