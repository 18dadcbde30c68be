#pragma once

#include <string>
#include <vector>

#include "model/topology.hpp"

namespace tilerail::testing {

inline Topology shipped(const std::string& name) {
  return load_topology(std::string{TILERAIL_SOURCE_DIR} + "/topologies/" + name + ".toml");
}

inline std::vector<MemoryId> all_gpus(const Topology& topology) { return topology.gpus(); }

/// A cube of side n in f64 with A, B and C on the host of machines whose first memory is the host.
inline GemmProblem cube(std::int64_t n) {
  GemmProblem p;
  p.m = p.n = p.k = n;
  return p;
}

}  // namespace tilerail::testing
