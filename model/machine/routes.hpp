#pragma once

#include <memory>
#include <vector>

#include "model/machine/pair_table.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The routes of a machine, found when they are first asked for. The constructor of Topology states the rule.
class Routes {
 public:
  /// `description` is checked.
  explicit Routes(std::shared_ptr<const Topology::Description> description);
  ~Routes();

  struct Route {
    std::vector<LinkId> links;               // in order; empty when there is none and when src == dst
    std::vector<Topology::GroupUse> groups;  // ascending, each once
  };
  const Route& of(MemoryId src, MemoryId dst) const;

 private:
  class Finder;

  PairTable<Route> routes_;
  std::unique_ptr<Finder> finder_;
};

}  // namespace tilerail
