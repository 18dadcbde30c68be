#pragma once

#include <optional>
#include <string>

#include "model/machine/topology.hpp"
#include "sched/chain/chain_problem.hpp"

namespace tilerail::study {

/// What users write of a chain on a command line. Errors name the option that the text belongs to.
struct ChainText {
  std::string dims, dtype = "f64", alpha = "1", beta = "0";
  std::optional<std::string> trans, place;  // absent: N of each factor, h of each matrix

  /// The checked chain, with its matrices in memories of `topology`. Throws InputError naming the option.
  ChainProblem resolve(const Topology& topology) const;
};

/// "chain 8192,512,8192,1024 dtype=f64 trans=NNN alpha=1 beta=0 place=host:host:host:host".
std::string text_of(const ChainProblem& chain, const Topology& topology);

}  // namespace tilerail::study
