#include "backends/fluid/fair_shares.hpp"

#include <algorithm>
#include <map>

namespace tilerail {
namespace {

constexpr double rounding = 1e-12;  // equal bounds differ by it, relatively

bool is_part(const std::vector<std::size_t>& some, const std::vector<std::size_t>& all) {
  return std::ranges::includes(all, some);
}

}  // namespace

FairShares::FairShares(const Topology& topology, std::span<const FlowRoute> routes) : routes_(routes.size()) {
  for (std::size_t r = 0; r < routes.size(); ++r) {
    const auto [src, dst, cap] = routes[r];
    const Rate alone = src == dst ? Rate{0} : topology.pair_rate(src, dst);
    routes_[r].demand = std::min(alone, cap.value_or(alone)).value;
    if (cap) routes_[r].cap = cap->value;
  }
  add_links(topology, routes);
  add_groups(topology, routes);
  add_memories(topology, routes);
}

/// A link binds nobody that a narrower one does not bind that all its routes take, too.
void FairShares::add_links(const Topology& topology, std::span<const FlowRoute> routes) {
  std::map<LinkId, std::vector<std::size_t>> users;
  for (std::size_t r = 0; r < routes.size(); ++r)
    for (const LinkId link : topology.route(routes[r].src, routes[r].dst)) users[link].push_back(r);
  std::map<std::vector<std::size_t>, double> narrowest;
  for (const auto& [link, by] : users) {
    const double bandwidth = topology.link(link).bandwidth.value;
    const auto [entry, is_new] = narrowest.try_emplace(by, bandwidth);
    if (!is_new) entry->second = std::min(entry->second, bandwidth);
  }
  for (const auto& [by, bandwidth] : narrowest) {
    const bool needless = std::ranges::any_of(narrowest, [&, &b = by, &w = bandwidth](const auto& other) {
      return other.second <= w && other.first.size() > b.size() && is_part(b, other.first);
    });
    if (needless) continue;
    for (const std::size_t r : by) routes_[r].constraints.push_back(constraints_.size());
    constraints_.push_back({bandwidth});
  }
}

void FairShares::add_groups(const Topology& topology, std::span<const FlowRoute> routes) {
  std::map<GroupId, std::size_t> known;
  for (std::size_t r = 0; r < routes.size(); ++r) {
    for (const auto& use : topology.groups_on(routes[r].src, routes[r].dst)) {
      const CapacityGroup& group = topology.group(use.group);
      const auto [entry, is_new] = known.try_emplace(use.group, groups_.size());
      if (is_new) {
        double most = 0;
        for (const auto* side : {&group.forward, &group.backward})
          for (const LinkId link : *side) most += topology.link(link).bandwidth.value;
        groups_.push_back({&group, most, constraints_.size(), {constraints_.size() + 1, constraints_.size() + 2}});
        constraints_.resize(constraints_.size() + (group.forward_share ? 3 : 1));
      }
      const Group& g = groups_[entry->second];
      routes_[r].groups.push_back({entry->second, use.forward, use.backward});
      routes_[r].constraints.push_back(g.all);
      if (!group.forward_share) continue;
      if (use.forward) routes_[r].constraints.push_back(g.sides[0]);
      if (use.backward) routes_[r].constraints.push_back(g.sides[1]);
    }
  }
}

/// Copies within a memory share its bandwidth.
void FairShares::add_memories(const Topology& topology, std::span<const FlowRoute> routes) {
  std::map<MemoryId, std::size_t> known;
  for (std::size_t r = 0; r < routes.size(); ++r) {
    if (routes[r].src != routes[r].dst) continue;
    const auto [entry, is_new] = known.try_emplace(routes[r].src, constraints_.size());
    if (is_new) constraints_.push_back({topology.kernels_of(routes[r].src).memory_bandwidth.value().value});
    routes_[r].constraints.push_back(entry->second);
  }
}

FairShares::Flow FairShares::add(std::size_t route) {
  Flow flow = static_cast<Flow>(flows_.size());
  if (unused_.empty())
    flows_.emplace_back();
  else
    flow = unused_.back(), unused_.pop_back();
  flows_[flow] = {route};
  for (const std::size_t c : routes_[route].constraints) {
    constraints_[c].flows.push_back(flow);
    changed_.push_back(c);
  }
  count(routes_[route], +1);
  return flow;
}

void FairShares::remove(Flow flow) {
  const Route& route = routes_[flows_[flow].route];
  for (const std::size_t c : route.constraints) {
    std::vector<Flow>& there = constraints_[c].flows;
    *std::ranges::find(there, flow) = there.back();
    there.pop_back();
    changed_.push_back(c);
  }
  count(route, -1);
  unused_.push_back(flow);
}

void FairShares::count(const Route& route, int change) {
  for (const auto& use : route.groups) {
    Group& group = groups_[use.group];
    CapacityGroup::Load& load = group.now;
    load.flows += change;
    if (use.forward) load.forward += change, load.forward_demand += change * route.demand;
    if (use.backward) load.backward += change, load.backward_demand += change * route.demand;
    const auto bounds = group.group->bounds(load);
    const auto set = [&](std::size_t constraint, Rate bound) {
      constraints_[constraint].capacity = std::min(group.most, bound.value);
    };
    set(group.all, bounds.all);
    if (!group.group->forward_share) continue;
    set(group.sides[0], bounds.forward), set(group.sides[1], bounds.backward);
    changed_.insert(changed_.end(), group.sides, group.sides + 2);  // also that of the other side
  }
}

/// Collects the constraints and flows that what has changed can reach.
void FairShares::reach() {
  reached_.clear(), growing_.clear();
  for (const std::size_t c : changed_) reach(c);
  changed_.clear();
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    for (const Flow flow : constraints_[reached_[i]].flows) {
      Running& running = flows_[flow];
      if (running.growing) continue;
      running.growing = true;
      growing_.push_back(flow);
      for (const std::size_t c : routes_[running.route].constraints) reach(c);
    }
  }
}

void FairShares::reach(std::size_t constraint) {
  Constraint& c = constraints_[constraint];
  if (c.reached) return;
  c.reached = true;
  reached_.push_back(constraint);
}

/// All flows that still grow have one common rate, which rises until some constraint, or cap, is full.
double FairShares::level() const {
  double least = unbounded;
  for (const std::size_t c : reached_)
    if (constraints_[c].growing > 0)
      least = std::min(least, std::max(0.0, constraints_[c].free) / constraints_[c].growing);
  for (const Flow flow : growing_) least = std::min(least, routes_[flows_[flow].route].cap);
  return least;
}

void FairShares::fix(Flow flow, double rate) {
  Running& running = flows_[flow];
  running.rate = rate, running.growing = false;
  for (const std::size_t c : routes_[running.route].constraints) {
    constraints_[c].free -= rate;
    constraints_[c].growing -= 1;
  }
}

void FairShares::update() {
  if (changed_.empty()) return;
  reach();
  for (const std::size_t c : reached_) {
    Constraint& constraint = constraints_[c];
    constraint.free = constraint.capacity, constraint.growing = static_cast<double>(constraint.flows.size());
    constraint.reached = false;
  }
  std::erase_if(reached_, [&](std::size_t c) { return constraints_[c].flows.empty(); });
  while (!growing_.empty()) {
    const double now = level(), full = now * (1 + rounding);
    const auto is_full = [&](std::size_t c) {
      return std::max(0.0, constraints_[c].free) <= full * constraints_[c].growing;
    };
    // Which are full is asked of all before the first of them gets its rate.
    const auto stops = [&](Flow flow) {
      const Route& route = routes_[flows_[flow].route];
      return route.cap <= full || std::ranges::any_of(route.constraints, is_full);
    };
    const auto first = std::partition(growing_.begin(), growing_.end(), [&](Flow flow) { return !stops(flow); });
    for (auto flow = first; flow != growing_.end(); ++flow) fix(*flow, now);
    growing_.erase(first, growing_.end());
  }
}

}  // namespace tilerail
