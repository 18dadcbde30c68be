#include "model/machine/shortest_paths.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// Integer picoseconds, so that equal paths compare equal in any order of summation.
using Picoseconds = int64_t;
constexpr Picoseconds unreached = std::numeric_limits<Picoseconds>::max();

Picoseconds time_of(const Link& link) {
  constexpr Bytes typical{16 * 1024 * 1024};
  return std::llround(((typical / link.bandwidth) + link.latency).value * 1e12);
}

}  // namespace

ShortestPaths::ShortestPaths(const Topology::Description& description)
    : d_{description},
      out_(description.vertices.size()),
      found_(description.memories.size()) {
  for (const auto i : indices(d_.links))
    out_[d_.links[i].from.index()].push_back(LinkId{i});
}

/// Dijkstra's algorithm. A link is on a shortest path if it leads from the source, or
/// from a switch, to its end at the arrival time of the end. Link times are positive, so
/// walking back over such links ends at the source.
const ShortestPaths::Links& ShortestPaths::links_from(MemoryId src) {
  using Arrival = std::pair<Picoseconds, VertexId>;
  Links& found = found_[src.index()];
  if (!found.empty()) return found;
  const VertexId start = d_.memories[src.index()].vertex;
  std::vector<Picoseconds> arrivals(d_.vertices.size(), unreached);
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> next;
  arrivals[start.index()] = 0;
  next.emplace(0, start);
  while (!next.empty()) {
    const auto [time, vertex] = next.top();
    next.pop();
    const bool passes =
        vertex == start || d_.vertices[vertex.index()].kind == VertexKind::network_switch;
    if (!passes || time > arrivals[vertex.index()]) continue;
    for (const LinkId id : out_[vertex.index()]) {
      const Link& link = d_.links[id.index()];
      Picoseconds& arrival = arrivals[link.to.index()];
      const Picoseconds now = time + time_of(link);
      if (now <= arrival) found.push_back(id);
      if (now >= arrival) continue;
      arrival = now;
      next.emplace(now, link.to);
    }
  }
  std::erase_if(found, [&](LinkId id) {
    const Link& link = d_.links[id.index()];
    return arrivals[link.from.index()] + time_of(link) > arrivals[link.to.index()];
  });
  std::ranges::sort(found, {}, [this](LinkId id) {
    return std::pair{d_.links[id.index()].to, id};
  });
  return found;
}

std::vector<ShortestPaths::Links> ShortestPaths::all(MemoryId src, MemoryId dst,
                                                     size_t most) {
  std::vector<Links> paths;
  if (src == dst) return paths;
  const Links& links = links_from(src);
  const VertexId start = d_.memories[src.index()].vertex;
  Links back;  // from the destination backwards
  const std::function<void(VertexId)> walk = [&](VertexId vertex) {
    if (vertex == start) {
      paths.emplace_back(back.rbegin(), back.rend());
      return;
    }
    const auto end_of = [this](LinkId link) { return d_.links[link.index()].to; };
    for (auto link = std::ranges::lower_bound(links, vertex, {}, end_of);
         link != links.end() && end_of(*link) == vertex && paths.size() < most; ++link) {
      back.push_back(*link);
      walk(d_.links[link->index()].from);
      back.pop_back();
    }
  };
  walk(d_.memories[dst.index()].vertex);
  return paths;
}

}  // namespace tilerail
