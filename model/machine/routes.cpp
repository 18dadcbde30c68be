#include "model/machine/routes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/topology_limits.hpp"
#include "model/machine/shortest_paths.hpp"

namespace tilerail {
/// Finds the ways of single pairs and adds them up.
class Routes::Finder {
 public:
  Finder(std::shared_ptr<const Topology::Description> description, std::shared_ptr<const std::vector<Memory>> memories)
      : d_{std::move(description)}, memories_{std::move(memories)}, paths_{*d_}, groups_of_(d_->links.size()) {
    for (const auto& named : d_->routes) {
      Ways& ways = named_[{named.from, named.to}];  // stays empty if there are no copies between the two
      if (!named.links.empty()) ways.push_back({named.links, named.share});
    }
    for (auto& [pair, ways] : named_) {
      int divisor = 0;
      for (const Topology::Way& way : ways) divisor = std::gcd(divisor, way.share);
      if (divisor < 2) continue;
      for (Topology::Way& way : ways) way.share /= divisor;
    }
    for (const auto i : indices(d_->groups)) {
      for (const LinkId link : d_->groups[i].forward) groups_of_[link.index()].push_back({GroupId{i}, 1, 0, 1});
      for (const LinkId link : d_->groups[i].backward) groups_of_[link.index()].push_back({GroupId{i}, 0, 1, 1});
    }
  }

  /// Not to be called by two threads at once.
  Route found(MemoryId src, MemoryId dst) {
    if (src == dst) return {};
    std::vector<Ways> pairs;
    int parts = 1;  // of what a pair gets: a multiple of the parts of every pair
    for (const MemoryId& from : parts_of(src))
      for (const MemoryId& to : parts_of(dst)) {
        pairs.push_back(ways_of(from, to));
        if (pairs.back().empty()) return {};  // not even a part of the bytes gets there
        parts = std::lcm(parts, parts_in(pairs.back()));
      }
    Route route;
    route.parts = int(pairs.size()) * parts;
    for (const Ways& ways : pairs)
      for (const Topology::Way& way : ways) add(way.links, way.share * (parts / parts_in(ways)), route);
    if (pairs.size() == 1 && pairs.front().size() > 1) route.ways = std::move(pairs.front());
    std::ranges::sort(route.groups, {}, &Topology::GroupUse::group);
    return route;
  }

 private:
  std::span<const MemoryId> parts_of(const MemoryId& memory) const {
    const std::vector<MemoryId>& over = (*memories_)[memory.index()].over;
    return over.empty() ? std::span{&memory, 1} : std::span{over};
  }

  using Ways = std::vector<Topology::Way>;

  static int parts_in(const Ways& ways) {
    return std::accumulate(ways.begin(), ways.end(), 0,
                           [](int sum, const Topology::Way& way) { return sum + way.share; });
  }

  /// Between two memories of the description; within one there is nothing to cross.
  Ways ways_of(MemoryId src, MemoryId dst) {
    if (src == dst) return Ways(1);
    if (const auto named = named_.find({src, dst}); named != named_.end()) return named->second;
    Ways ways;
    if (d_->split_paths) {
      for (auto& links : paths_.all(src, dst, TopologyLimits::ways)) ways.push_back({std::move(links)});
    } else if (auto links = paths_.first(src, dst); !links.empty()) {
      ways.push_back({std::move(links)});
    }
    return ways;
  }

  /// So many parts of the bytes take this way.
  void add(const std::vector<LinkId>& way, int parts, Route& route) const {
    Seconds latency{0};
    for (const LinkId link : way) {
      latency += d_->links[link.index()].latency;
      const auto known = std::ranges::find(route.uses, link, &Topology::LinkUse::link);
      if (known != route.uses.end()) {
        known->parts += parts;
        continue;
      }
      route.links.push_back(link);
      route.uses.push_back({link, parts});
    }
    route.latency = std::max(route.latency, latency);
    for (const Topology::GroupUse& use : groups_on(way)) {
      auto known = std::ranges::find(route.groups, use.group, &Topology::GroupUse::group);
      if (known == route.groups.end()) known = route.groups.insert(known, {use.group, 0, 0, 0});
      known->forward += parts * use.forward, known->backward += parts * use.backward;
      known->parts += parts;
    }
  }

  /// Each once, however many of the links are in it.
  std::vector<Topology::GroupUse> groups_on(const std::vector<LinkId>& links) const {
    std::vector<Topology::GroupUse> uses;
    for (const LinkId link : links)
      for (const Topology::GroupUse& use : groups_of_[link.index()]) {
        auto known = std::ranges::find(uses, use.group, &Topology::GroupUse::group);
        if (known == uses.end()) known = uses.insert(uses.end(), {use.group, 0, 0, 1});
        known->forward = std::max(known->forward, use.forward);
        known->backward = std::max(known->backward, use.backward);
      }
    return uses;
  }

  std::shared_ptr<const Topology::Description> d_;
  std::shared_ptr<const std::vector<Memory>> memories_;
  ShortestPaths paths_;
  std::map<std::pair<MemoryId, MemoryId>, Ways> named_;
  std::vector<std::vector<Topology::GroupUse>> groups_of_;  // by link
};

Routes::Routes(std::shared_ptr<const Topology::Description> description,
               std::shared_ptr<const std::vector<Memory>> memories)
    : routes_{memories->size()}, finder_{std::make_unique<Finder>(std::move(description), std::move(memories))} {}

Routes::~Routes() = default;

// The table asks under its lock.
const Routes::Route& Routes::of(MemoryId src, MemoryId dst) const {
  return routes_.of(src, dst, [&] { return finder_->found(src, dst); });
}

}  // namespace tilerail
