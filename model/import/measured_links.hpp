#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/import/machine_builder.hpp"

namespace tilerail {

using MeasuredRates =
    std::vector<std::optional<Rate>>;  // by GPU; empty where nothing was measured
using MeasuredPairs = std::vector<MeasuredRates>;  // [from][to]

/// The links between a host and each GPU.
struct HostLinks {
  std::vector<LinkId> in, out;  // of a GPU
  std::vector<Rate> in_rate, out_rate;
  bool over_switch = false;  // copies between GPUs can take them, too
};

/// Rates of GPUs while other GPUs copy, too.
struct HostLoad {
  MeasuredRates in_both = {}, out_both = {};  // of one GPU whose directions both copy
  MeasuredRates in_all = {}, out_all = {};    // of all GPUs in one direction
  MeasuredRates in_all_both = {}, out_all_both = {};  // of all GPUs in both
};

/// Groups with which fair shares are what was measured. GPUs with equal rates share a
/// bound that falls with the number of copies; a GPU alone with its rate gets it while
/// all others copy.
void add_host_load(MachineBuilder& machine, const HostLinks& links, const HostLoad& load,
                   const std::string& source);

/// Measured rates of copies between GPUs; empty if they were not measured.
struct PeerRates {
  MeasuredPairs alone;  // one copy from GPU to GPU; absent: no peer access
  MeasuredRates out = {},
                in = {};    // by GPU: in all while it copies to, or from, all others
  MeasuredPairs both = {};  // a pair in both directions, in all
  std::vector<std::vector<std::optional<Seconds>>> latency = {};
};

/// Links between GPUs. If the rate of each pair of an island of GPUs that access each
/// other is that of a port of either GPU, they are joined by a switch, else by a link for
/// each pair. No GPU sends or gets more than was measured of it in all. GPUs whose peers
/// are no faster than their PCIe have one port for both. `assumed` is the source of what
/// is not measured.
void add_peer_links(MachineBuilder& machine, const PeerRates& rates,
                    const std::vector<NodeId>& gpus, const HostLinks& hosts,
                    const std::string& measured, const std::string& assumed);

}  // namespace tilerail
