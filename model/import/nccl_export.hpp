#pragma once

#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

struct NcclFile {
  std::string text;
  std::vector<std::string> notes;  // what it does not say, a sentence each; its first comment has them, too
};

/// The machine as a topology file of NCCL, or of RCCL if its GPUs are joined by xGMI links, for NCCL_TOPO_FILE.
/// Addresses of PCI are made up; rates are the nearest ones that the format has. docs/formats.md#nccl-topology-files
/// Throws InputError when the format has no form for the machine.
NcclFile to_nccl_xml(const Topology& topology);

}  // namespace tilerail
