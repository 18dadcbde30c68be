#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// A machine in the terms of NCCL's topology files: a tree of PCIe below each NUMA domain, and links between GPUs,
/// directly or over switches.
struct NcclTree {
  struct Link {
    NodeId to;
    Rate rate;           // of the faster direction
    std::string source;  // its key
  };
  /// A GPU or a PCIe switch, and its link to what is above it.
  struct Device {
    Link up;  // `to` is the device itself
    std::optional<MemoryId> gpu = {};
    std::vector<Device> below = {};
  };
  struct Domain {
    MemoryId host;
    std::vector<Device> below = {};
  };

  std::vector<Domain> domains;
  std::map<NodeId, std::vector<Link>> peers;    // of a GPU: to other GPUs and to switches of GPUs
  std::map<NodeId, std::vector<NodeId>> parts;  // of a PCIe switch: other parts of the same chip
  std::set<NodeId> switches;                    // of GPUs alone
};

/// Throws the InputError of a machine that is not such a tree.
[[noreturn]] void refuse_nccl(const Topology& topology, const std::string& reason);

/// Calls refuse_nccl with the links that have no form there.
NcclTree nccl_tree(const Topology& topology);

}  // namespace tilerail
