#include "model/published/link_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"

namespace tilerail {
namespace {

/// A copy: its rate alone, and the part of it that crosses the shared resource.
struct Demand {
  Rate alone;
  double share;
};

/// Rate of one of two copies that share a capacity: both grow until the capacity is full
/// or the other copy reaches its rate alone.
Rate fair_share(Rate capacity, Demand own, Demand other) {
  return std::min(own.alone,
                  std::max(capacity / (own.share + other.share),
                           (capacity - other.alone * other.share) / own.share));
}

}  // namespace

double pair_slowdown(const Topology& topology, MemoryPair of, MemoryPair by) {
  const Rate alone = topology.pair_rate(of.src, of.dst),
             other = topology.pair_rate(by.src, by.dst);
  if (!std::isfinite(alone.value) || !std::isfinite(other.value)) return 1;
  Rate rate = alone;
  const double my_parts = topology.parts(of.src, of.dst),
               their_parts = topology.parts(by.src, by.dst);
  const auto theirs = topology.links_on(by.src, by.dst);
  for (const auto& mine : topology.links_on(of.src, of.dst))
    if (const auto use = std::ranges::find(theirs, mine.link, &Topology::LinkUse::link);
        use != theirs.end())
      rate = std::min(rate, fair_share(topology.link(mine.link).bandwidth,
                                       {alone, mine.parts / my_parts},
                                       {other, use->parts / their_parts}));
  for (const auto& mine : topology.groups_on(of.src, of.dst))
    for (const auto& use : topology.groups_on(by.src, by.dst)) {
      if (use.group != mine.group) continue;
      CapacityGroup::Load load;
      for (const auto& [u, parts, demand] :
           {std::tuple{mine, my_parts, alone}, std::tuple{use, their_parts, other}}) {
        load.flows += u.parts / parts;
        load.forward += u.forward / parts,
            load.forward_demand += demand.value * u.forward / parts;
        load.backward += u.backward / parts,
            load.backward_demand += demand.value * u.backward / parts;
      }
      const auto bounds = topology.group(use.group).bounds(load);
      rate = std::min(rate, fair_share(bounds.all, {alone, mine.parts / my_parts},
                                       {other, use.parts / their_parts}));
      if (mine.forward) rate = std::min(rate, bounds.forward * my_parts / mine.forward);
      if (mine.backward)
        rate = std::min(rate, bounds.backward * my_parts / mine.backward);
    }
  return alone / rate;
}

LinkMap::LinkMap(size_t memories) : count_{memories} {
  if (memories > most_memories)
    throw InfeasibleError{
        "memories", fmt::to_string(memories), "are too many",
        fmt::format("at most {} for routing=link-map and devices=best", most_memories)};
  latency_.resize(memories * memories);
  per_byte_.resize(memories * memories, no_way);
  for (size_t i = 0; i < memories; ++i) per_byte_[i * memories + i] = {};
}

LinkMap::LinkMap(const Topology& topology) : LinkMap{topology.memories().size()} {
  topology_ = &topology;
  for (size_t s = 0; s < count_; ++s)
    for (size_t d = 0; d < count_; ++d) {
      const MemoryPair pair{MemoryId{s}, MemoryId{d}};
      if (s == d || !topology.has_route(pair.src, pair.dst)) continue;
      latency_[index(pair)] = topology.latency(pair.src, pair.dst);
      per_byte_[index(pair)] = inverse(topology.pair_rate(pair.src, pair.dst));
    }
}

LinkMap::LinkMap(size_t memories, std::span<const Link> links,
                 std::span<const Slowdown> slowdowns)
    : LinkMap{memories} {
  for (const Link& link : links) {
    latency_[index(link.pair)] = link.latency;
    per_byte_[index(link.pair)] = inverse(link.bandwidth);
  }
  for (const auto& [of, by, factor] : slowdowns)
    slowdowns_[index(of) * count_ * count_ + index(by)] =
        std::clamp(factor, 1.0, most_slowdown);
}

double LinkMap::slowdown(MemoryPair of, MemoryPair by) const {
  if (topology_) return std::min(most_slowdown, pair_slowdown(*topology_, of, by));
  const auto found = slowdowns_.find(index(of) * count_ * count_ + index(by));
  return found == slowdowns_.end() ? 1 : found->second;
}

namespace {

/// Indices of the links and groups that a copy between two memories loads; with measured
/// links, all pairs share one resource.
std::vector<size_t> resources_of(const LinkMap& map, MemoryPair pair) {
  const Topology* const topology = map.topology();
  if (!topology) return {0};
  std::vector<size_t> found;
  for (const auto& use : topology->links_on(pair.src, pair.dst))
    found.push_back(use.link.index());
  for (const auto& use : topology->groups_on(pair.src, pair.dst))
    found.push_back(topology->links().size() + use.group.index());
  return found;
}

}  // namespace

SharedLinks::SharedLinks(const LinkMap& map, std::span<const MemoryId> candidates,
                         std::span<const MemoryId> read,
                         std::span<const MemoryId> written, Bytes bytes, int max_hops,
                         HopRule rule)
    : map_{map},
      candidates_{candidates.size()},
      bytes_{bytes},
      max_hops_{max_hops},
      rule_{rule},
      node_of_(map.memories(), std::numeric_limits<Node>::max()) {
  for (const MemoryId candidate : candidates) add_node(candidate);
  for (const auto places : {read, written})
    for (const MemoryId place : places) operand_nodes_.push_back(add_node(place));
  for (const MemoryId place : read) read_nodes_.push_back(node_of_[place.index()]);
  const size_t links = nodes_.size() * nodes_.size();
  for (auto* const routes : {&routes_, &series_, &later_}) routes->resize(links);
  users_.resize(links), excess_.resize(links);
  if (rule_ == HopRule::added)
    find_users(read, written);
  else
    find_readers();
  measure_excess();
}

SharedLinks::Node SharedLinks::add_node(MemoryId memory) {
  Node& node = node_of_[memory.index()];
  if (node == std::numeric_limits<Node>::max())
    node = nodes_.size(), nodes_.push_back(memory);
  return node;
}

/// Finds the links that each candidate uses, with all candidates active and no load: each
/// route is the candidate's route alone.
void SharedLinks::find_users(std::span<const MemoryId> read,
                             std::span<const MemoryId> written) {
  std::vector<size_t> all(candidates_);
  std::iota(all.begin(), all.end(), 0);
  activate(all);
  std::vector<std::vector<size_t>> users(users_.size());
  const auto use = [&](size_t candidate, MemoryId src, MemoryId dst) {
    if (src == dst || per_byte(src, dst) == LinkMap::no_way) return;
    Node at_node = node_of_[src.index()];
    std::vector<MemoryId> stops = hops(src, dst);
    stops.push_back(dst);
    for (const MemoryId stop : stops) {
      const Node next = node_of_[stop.index()];
      auto& of_link = users[at(std::exchange(at_node, next), next)];
      if (of_link.empty() || of_link.back() != candidate) of_link.push_back(candidate);
    }
  };
  for (size_t c = 0; c < candidates_; ++c) {
    for (const MemoryId place : read) use(c, place, nodes_[c]);
    for (const MemoryId place : written) use(c, nodes_[c], place);
  }
  users_ = std::move(users);
}

void SharedLinks::find_readers() {
  for (Node c = 0; c < candidates_; ++c)
    for (const Node home : read_nodes_)
      if (home != c && map_.has({nodes_[home], nodes_[c]})) users_[at(home, c)] = {c};
}

void SharedLinks::measure_excess() {
  std::unordered_map<size_t, std::vector<size_t>> loading;  // links in use, by resource
  const auto pair_of = [&](size_t link) {
    return MemoryPair{nodes_[link / nodes_.size()], nodes_[link % nodes_.size()]};
  };
  for (const auto link : indices(users_))
    if (!users_[link].empty())
      for (const size_t resource : resources_of(map_, pair_of(link)))
        loading[resource].push_back(link);
  std::vector<double> excess(candidates_);
  for (const auto link : indices(users_)) {
    const MemoryPair pair = pair_of(link);
    if (pair.src == pair.dst || !map_.has(pair)) continue;
    std::set<size_t> used;  // links that share a resource with this link
    for (const size_t resource : resources_of(map_, pair)) {
      const std::vector<size_t>& others = loading[resource];
      used.insert(others.begin(), others.end());
    }
    used.erase(link);
    std::ranges::fill(excess, 0.0);
    for (const size_t other : used) {
      const double more = map_.slowdown(pair, pair_of(other)) - 1;
      for (const size_t c : users_[other])
        excess[c] =
            rule_ == HopRule::added ? excess[c] + more : std::max(excess[c], more);
    }
    for (size_t c = 0; c < candidates_; ++c)
      if (excess[c] > 0) excess_[link].push_back({uint32_t(c), excess[c]});
    if (rule_ == HopRule::bottleneck)
      std::ranges::sort(excess_[link], std::greater{}, &Excess::value);
  }
}

void SharedLinks::activate(std::span<const size_t> active) {
  ends_.assign(active.begin(), active.end());
  for (const Node node : operand_nodes_)
    if (std::ranges::find(ends_, node) == ends_.end()) ends_.push_back(node);
  share(active);
  double worth = 1;
  for (int hop = 0; hop < max_hops_; ++hop)
    allow_one_more_hop(active, worth *= bottleneck_worth);
}

void SharedLinks::share(std::span<const size_t> active) {
  const bool added = rule_ == HopRule::added;
  std::vector<char> is_active(candidates_, 0);
  for (const size_t c : active) is_active[c] = 1;
  for (const Node src : ends_) {
    for (const Node dst : ends_) {
      const MemoryPair link{nodes_[src], nodes_[dst]};
      const double slower = slowdown(at(src, dst), is_active);
      routes_[at(src, dst)] = {slower * map_.per_byte(link), map_.latency(link)};
      if (max_hops_ == 0) continue;
      const auto with_user = [&](Node user) {
        return Route{(slower + (added && uses(user, src, dst, active) ? 1 : 0)) *
                         map_.per_byte(link),
                     map_.latency(link)};
      };
      series_[at(src, dst)] = with_user(dst), later_[at(src, dst)] = with_user(src);
    }
  }
}

double SharedLinks::slowdown(size_t link, std::span<const char> is_active) const {
  double slower = 1;
  for (const auto& [candidate, value] : excess_[link]) {
    if (!is_active[candidate]) continue;
    slower += value;
    if (rule_ == HopRule::bottleneck) break;  // the largest comes first
  }
  return slower;
}

bool SharedLinks::uses(Node user, Node src, Node dst,
                       std::span<const size_t> active) const {
  const auto& users = users_[at(src, dst)];
  return std::ranges::binary_search(users, user) &&
         std::ranges::binary_search(active, user);
}

bool SharedLinks::joins_a_host(Node src, Node dst) const {
  const Topology* const topology = map_.topology();
  return topology && (topology->is_host(nodes_[src]) || topology->is_host(nodes_[dst]));
}

/// Extends series by one link. `worth`: share of the narrowest link's bandwidth that
/// counts for the longer series (bottleneck rule).
void SharedLinks::allow_one_more_hop(std::span<const size_t> active, double worth) {
  const bool added = rule_ == HopRule::added;
  const std::vector<Route> shorter = series_;
  for (const Node src : ends_)
    for (const Node dst : ends_) {
      if (src == dst || (!added && joins_a_host(src, dst))) continue;
      Route& series = series_[at(src, dst)];
      double least = INFINITY;
      for (const Node via : active) {
        if (via == src || via == dst) continue;
        const Route &first = shorter[at(src, via)], &last = later_[at(via, dst)];
        const SecondsPerByte narrowest = std::max(first.per_byte, last.per_byte);
        const double cost =
            added ? (time(first) + time(last)).value : (narrowest / worth).value;
        if (!(cost < least)) continue;
        least = cost;
        series = first;
        series.per_byte = added ? first.per_byte + last.per_byte : narrowest;
        series.latency += last.latency;
        series.via[series.hops++] = uint16_t(via);
      }
      Route& best = routes_[at(src, dst)];
      if (!(least < (added ? time(best).value : best.per_byte.value))) continue;
      best = series;
      if (!added) best.per_byte = SecondsPerByte{least};
    }
}

std::vector<MemoryId> SharedLinks::hops(MemoryId src, MemoryId dst) const {
  const Route& r = route(src, dst);
  std::vector<MemoryId> memories;
  for (size_t hop = 0; hop < r.hops; ++hop) memories.push_back(nodes_[r.via[hop]]);
  return memories;
}

}  // namespace tilerail
