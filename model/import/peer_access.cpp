#include "model/import/peer_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/link_values.hpp"

namespace tilerail {
namespace {

std::map<int, MemoryId> gpus_of(const Topology::Description& machine) {
  std::map<int, MemoryId> gpus;
  for (std::size_t i = 0; i < machine.memories.size(); ++i)
    if (machine.memories[i].kind == NodeKind::gpu) gpus.emplace(machine.memories[i].device, MemoryId{i});
  return gpus;
}

/// All pairs of the machine's GPUs.
PeerAccess no_access(const Topology::Description& machine, const std::string& what) {
  constexpr std::size_t most = 256;  // two routes for each pair are as many as a machine may have
  static_assert(most * (most - 1) <= TopologyLimits::routes);
  if (const std::size_t count = gpus_of(machine).size(); count > most)
    throw InputError{fmt::format("{}: the machine has {} GPUs; expected at most {}", what, count, most)};
  PeerAccess access;
  for (const auto& [device, gpu] : gpus_of(machine)) {
    for (const int other : access.devices) access.denied.emplace(other, device);
    access.devices.push_back(device);
  }
  return access;
}

/// "0-1,2-3"; anything else is a file.
bool is_pairs(const std::string& text) {
  for (const std::string_view pair : split(text, ',')) {
    const std::size_t dash = pair.find('-');
    const auto number = [](std::string_view part) { return whole_number(part, 0, TopologyLimits::device.most); };
    if (dash == std::string_view::npos || !number(pair.substr(0, dash)) || !number(pair.substr(dash + 1))) return false;
  }
  return true;
}

}  // namespace

void deny_peer_access(Topology::Description& machine, const PeerAccess& access, const Source& source,
                      const std::string& what) {
  const auto gpus = gpus_of(machine);
  for (const int device : access.devices)
    if (!gpus.contains(device))
      throw InputError{fmt::format("{}: there is no GPU {} in the machine; expected its GPUs", what, device)};
  for (const auto& [device, gpu] : gpus)
    if (std::ranges::find(access.devices, device) == access.devices.end())
      throw InputError{fmt::format("{}: GPU {} of the machine is missing; expected all of its GPUs", what, device)};
  const Topology before{machine};
  std::vector<Topology::Description::NamedRoute> removed;
  std::set<std::pair<MemoryId, MemoryId>> pairs;
  for (const auto& [first, second] : access.denied) {
    const MemoryId a = gpus.at(first), b = gpus.at(second);
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
      if (before.has_route(from, to) && pairs.emplace(from, to).second) removed.push_back({from, to, {}, source.key});
  }
  if (removed.empty()) return;
  std::erase_if(machine.routes, [&](const auto& route) { return pairs.contains({route.from, route.to}); });
  machine.routes.insert(machine.routes.end(), removed.begin(), removed.end());
  if (std::ranges::find(machine.sources, source.key, &Source::key) == machine.sources.end())
    machine.sources.push_back(source);
}

PeerAccess parse_peer_access(const std::string& text, const Topology::Description& machine, const std::string& what) {
  PeerAccess access = no_access(machine, what);
  if (text == "none") return access;
  if (!is_pairs(text)) return read_peer_access(read_file(text), text);
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto number = [&](std::string_view digits) { return *whole_number(digits, 0, TopologyLimits::device.most); };
    const std::pair<int, int> pair = std::minmax({number(part.substr(0, dash)), number(part.substr(dash + 1))});
    for (const int device : {pair.first, pair.second})
      if (std::ranges::find(access.devices, device) == access.devices.end())
        throw InputError{fmt::format("{}: {}: there is no GPU {} in the machine; expected pairs of its GPUs", what,
                                     in_quotes(part), device)};
    if (access.denied.erase(pair) == 0)
      throw InputError{fmt::format("{}: {} is {}; expected pairs of two GPUs, each once", what, in_quotes(part),
                                   pair.first == pair.second ? "one GPU" : "there twice")};
  }
  return access;
}

}  // namespace tilerail
