// What tests of importers share.
#pragma once

#include <algorithm>
#include <string>

#include "model/import/import.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::imported {

inline GpuKind kind() {
  const Topology machine = test::shipped("two-gpu");
  const auto& d = machine.description();
  return {d.name, "", d.kernels[0], machine.memory(machine.gpus()[0]), d.strided, d.issue, d.sources};
}

inline Rate pair(const Topology& machine, const std::string& from, const std::string& to) {
  return machine.pair_rate(machine.find_memory(from).value(), machine.find_memory(to).value());
}

/// The links of a copy, "host0->cpu0 cpu0->gpu0".
inline std::string way(const Topology& machine, const std::string& from, const std::string& to) {
  std::string links;
  for (const LinkId link : machine.route(machine.find_memory(from).value(), machine.find_memory(to).value()))
    links += (links.empty() ? "" : " ") + machine.link(link).name;
  return links;
}

/// Of a link.
inline Source::Kind source_kind(const Topology& machine, const std::string& link) {
  const auto at = std::ranges::find(machine.links(), link, &Link::name);
  return std::ranges::find(machine.description().sources, at->source, &Source::key)->kind;
}

}  // namespace tilerail::imported
