#include "model/import/peer_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/link_values.hpp"

namespace tilerail {
namespace {

constexpr std::string_view subject = "peer-access";

std::map<int, MemoryId> gpus_of(const Topology::Description& machine) {
  std::map<int, MemoryId> gpus;
  for (const auto i : indices(machine.memories))
    if (machine.memories[i].kind == NodeKind::gpu) gpus.emplace(machine.memories[i].device, MemoryId{i});
  return gpus;
}

/// All pairs of the machine's GPUs.
PeerAccess no_access(const Topology::Description& machine) {
  constexpr size_t most = 256;  // two routes for each pair are as many as a machine may have
  static_assert(most * (most - 1) <= TopologyLimits::routes);
  if (const size_t count = gpus_of(machine).size(); count > most)
    throw fault_of(subject, fmt::format("the machine has {} GPUs", count), fmt::format("at most {}", most));
  PeerAccess access;
  for (const auto& [device, gpu] : gpus_of(machine)) {
    for (const int other : access.devices) access.denied.emplace(other, device);
    access.devices.push_back(device);
  }
  return access;
}

using Pairs = std::vector<std::pair<int, int>>;

/// Of "0-1, 2-3"; nothing of other texts.
std::optional<Pairs> pairs_of(const std::string& text) {
  Pairs pairs;
  for (const std::string_view part : split(text, ',')) {
    const std::string pair = trimmed(part);
    const size_t dash = pair.find('-');
    if (dash == std::string::npos) return std::nullopt;
    const auto first = whole_number(pair.substr(0, dash), 0, TopologyLimits::device.most);
    const auto second = whole_number(pair.substr(dash + 1), 0, TopologyLimits::device.most);
    if (!first || !second) return std::nullopt;
    pairs.emplace_back(*first, *second);
  }
  return pairs;
}

PeerAccess access_of_file(const std::string& path) {
  if (std::error_code error; !std::filesystem::exists(path, error))
    throw InputError{subject, path, "is not a file",
                     "none, pairs such as 0-1,2-3, or a file of 'nvidia-smi topo -p2p r'"};
  return read_peer_access(read_file(path), path);
}

}  // namespace

void deny_peer_access(Topology::Description& machine, const PeerAccess& access, const Source& source,
                      std::string_view of) {
  const auto gpus = gpus_of(machine);
  for (const int device : access.devices)
    if (!gpus.contains(device)) throw fault_of(of, fmt::format("the machine has no GPU {}", device), "its GPUs");
  for (const auto& [device, gpu] : gpus)
    if (std::ranges::find(access.devices, device) == access.devices.end())
      throw fault_of(of, fmt::format("GPU {} of the machine is missing", device), "all of its GPUs");
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

PeerAccess parse_peer_access(const std::string& text, const Topology::Description& machine) {
  PeerAccess access = no_access(machine);
  if (text == "none") return access;
  const auto pairs = pairs_of(text);
  if (!pairs) return access_of_file(text);
  for (const auto& [first, second] : *pairs) {
    const std::string pair = fmt::format("{}-{}", first, second);
    for (const int device : {first, second})
      if (std::ranges::find(access.devices, device) == access.devices.end())
        throw InputError{subject, pair, fmt::format("names GPU {}, which the machine does not have", device),
                         "pairs of its GPUs"};
    if (access.denied.erase(std::minmax(first, second)) == 0)
      throw InputError{subject, pair, first == second ? "is one GPU" : "is given twice",
                       "pairs of two GPUs, each once"};
  }
  return access;
}

}  // namespace tilerail
