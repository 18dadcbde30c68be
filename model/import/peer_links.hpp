#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/import/host_links.hpp"

namespace tilerail {

/// What was measured of copies between GPUs. Empty where it was not.
struct PeerRates {
  MeasuredPairs alone;              // one copy from GPU to GPU; absent: no peer access
  MeasuredRates out = {}, in = {};  // by GPU: in all while it copies to, or from, all others
  MeasuredPairs both = {};          // a pair in both directions, in all
  std::vector<std::vector<std::optional<Seconds>>> latency = {};
};

/// Links between GPUs. If the rate of each pair of an island of GPUs that access each other is that of a port of either
/// GPU, they are joined by a switch, else by a link for each pair. No GPU sends or gets more than was measured of it in
/// all. GPUs whose peers are no faster than their PCIe have one port for both. `assumed` is the source of what is not
/// measured.
void add_peer_links(MachineBuilder& machine, const PeerRates& rates, const std::vector<NodeId>& gpus,
                    const HostLinks& hosts, const std::string& measured, const std::string& assumed);

}  // namespace tilerail
