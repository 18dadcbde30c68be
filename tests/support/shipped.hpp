#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "model/machine/topology_toml.hpp"

namespace tilerail::test {

/// A machine of topologies/, by name.
inline Topology shipped(const std::string& name) {
  return load_topology(TILERAIL_SOURCE_DIR "/topologies/" + name + ".toml");
}

/// The names of all machines of topologies/, sorted.
inline std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator{TILERAIL_SOURCE_DIR "/topologies"})
    if (file.path().extension() == ".toml") names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace tilerail::test
