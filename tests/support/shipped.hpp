#pragma once

#include <string>

#include "model/machine/topology_toml.hpp"

namespace tilerail::test {

/// A machine of topologies/, by name.
inline Topology shipped(const std::string& name) {
  return load_topology(TILERAIL_SOURCE_DIR "/topologies/" + name + ".toml");
}

}  // namespace tilerail::test
