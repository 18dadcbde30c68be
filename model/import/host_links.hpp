#pragma once

#include <optional>
#include <vector>

#include "model/import/machine_builder.hpp"

namespace tilerail {

using MeasuredRates = std::vector<std::optional<Rate>>;  // by GPU
using MeasuredPairs = std::vector<MeasuredRates>;        // [from][to]

/// The links between a host and each GPU.
struct HostLinks {
  std::vector<LinkId> in, out;  // of a GPU
  std::vector<Rate> in_rate, out_rate;
  bool over_switch = false;  // copies between GPUs can take them, too
};

/// What GPUs get while others copy, too. Null or empty where it was not measured.
struct HostLoad {
  const MeasuredRates *in_both = nullptr, *out_both = nullptr;          // of one GPU whose directions both copy
  const MeasuredRates *in_all = nullptr, *out_all = nullptr;            // of all GPUs in one direction
  const MeasuredRates *in_all_both = nullptr, *out_all_both = nullptr;  // of all GPUs in both
};

/// Groups with which fair shares are what was measured. GPUs with equal rates share a bound that falls with the number
/// of copies; a GPU alone with its rate gets it while all others copy.
void add_host_load(MachineBuilder& machine, const HostLinks& links, const HostLoad& load, const std::string& source);

}  // namespace tilerail
