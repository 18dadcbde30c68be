#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/import/machine_builder.hpp"

namespace tilerail {

using MeasuredRates = std::vector<std::optional<Rate>>;  // by GPU; empty if not measured
using MeasuredPairs = std::vector<MeasuredRates>;        // [from][to]

/// The links between a host and each GPU.
struct HostLinks {
  std::vector<LinkId> in, out;  // by GPU
  std::vector<Rate> in_rate, out_rate;
  bool over_switch = false;  // whether copies between GPUs can take these links, too
};

/// Rates of GPUs while other GPUs copy simultaneously.
struct HostLoad {
  MeasuredRates in_both = {}, out_both = {};          // one GPU, both directions
  MeasuredRates in_all = {}, out_all = {};            // all GPUs, one direction
  MeasuredRates in_all_both = {}, out_all_both = {};  // all GPUs, both directions
};

/// Adds capacity groups for which fair sharing reproduces the measurements. GPUs with
/// equal rates share a limit that decreases with the number of copies; a GPU with a
/// unique rate gets this rate while all others copy.
void add_host_load(MachineBuilder& machine, const HostLinks& links, const HostLoad& load,
                   const std::string& source);

/// Measured rates of copies between GPUs; empty if they were not measured.
struct PeerRates {
  MeasuredPairs alone;  // one copy between two GPUs; absent: no peer access
  MeasuredRates out = {},
                in = {};    // by GPU: total rate while it copies to, or from, all others
  MeasuredPairs both = {};  // total rate of a pair in both directions
  std::vector<std::vector<std::optional<Seconds>>> latency = {};
};

/// Adds links between GPUs. An island of GPUs with access to each other gets a switch if
/// the rate of every pair is the port rate of either GPU, else one link per pair. The
/// total rate of a GPU never exceeds its measurement. GPUs with peer copies no faster
/// than PCIe have one port for peers and host. Data without a measurement have the source
/// `assumed_source`.
void add_peer_links(MachineBuilder& machine, const PeerRates& rates,
                    const std::vector<VertexId>& gpus, const HostLinks& hosts,
                    const std::string& measured);

}  // namespace tilerail
