#include "model/machine/islands.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {

std::vector<std::vector<size_t>> islands(const Topology& topology,
                                         std::span<const MemoryId> devices) {
  std::map<double, std::vector<std::pair<size_t, size_t>>, std::greater<>>
      pairs;  // by rate
  for (const auto i : indices(devices))
    for (const auto j : indices(devices))
      if (i != j && topology.has_route(devices[i], devices[j]))
        pairs[topology.pair_rate(devices[i], devices[j]).value].emplace_back(i, j);
  std::vector<size_t> first(devices.size());  // by device: the first of its set
  std::iota(first.begin(), first.end(), size_t{0});
  std::set<std::vector<size_t>> found;
  for (const auto& [_, joined] : pairs) {
    for (const auto& [i, j] : joined) {
      const auto [kept, other] = std::minmax({first[i], first[j]});
      std::ranges::replace(first, other, kept);
    }
    std::map<size_t, std::vector<size_t>> sets;
    for (const auto i : indices(first)) sets[first[i]].push_back(i);
    for (auto& [root, members] : sets)
      if (members.size() > 1 && members.size() < devices.size())
        found.insert(std::move(members));
  }
  return {found.begin(), found.end()};
}

}  // namespace tilerail
