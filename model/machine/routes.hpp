#pragma once

#include <memory>
#include <vector>

#include "model/machine/pair_table.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The routes of a machine, found when they are first asked for. The constructor of Topology states the rule.
class Routes {
 public:
  /// `description` is checked; `memories` begins with its memories, and those behind them stand for some of them.
  Routes(std::shared_ptr<const Topology::Description> description, std::shared_ptr<const std::vector<Memory>> memories);
  ~Routes();

  struct Route {
    std::vector<LinkId> links = {};               // in order; empty when there is none and when src == dst
    int parts = 1;                                // of the bytes of a copy, equal ones
    std::vector<Topology::LinkUse> uses = {};     // of the links, in their order
    std::vector<Topology::GroupUse> groups = {};  // ascending, each once
    Seconds latency{0};
    std::vector<Topology::Way> ways = {};  // between two memories of the description, where there are several
  };
  const Route& of(MemoryId src, MemoryId dst) const;

 private:
  class Finder;

  PairTable<Route> routes_;
  std::unique_ptr<Finder> finder_;
};

}  // namespace tilerail
