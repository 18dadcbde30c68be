#include "model/machine/fair_shares.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr double rounding = 1e-12;  // relative difference of equal limits

/// Routes, and the parts of their flows on a link.
using Users = std::vector<std::pair<size_t, uint32_t>>;

bool is_part(const Users& some, const Users& all) {
  return std::ranges::includes(all, some);
}

}  // namespace

FairShares::FairShares(const Topology& topology, std::span<const FlowRoute> routes)
    : routes_(routes.size()) {
  const auto parts_of = [&](const FlowRoute& route) {
    return static_cast<Parts>(topology.parts(route.src, route.dst));
  };
  for (const FlowRoute& route : routes) unit_ = std::lcm(unit_, parts_of(route));
  for (const auto r : indices(routes)) {
    const auto [src, dst, cap] = routes[r];
    routes_[r].unit = unit_ / parts_of(routes[r]);
    const Rate alone = topology.pair_rate(src, dst);
    routes_[r].demand = std::min(alone, cap.value_or(alone)).value;
    if (cap) routes_[r].cap = cap->value;
  }
  add_links(topology, routes);
  add_groups(topology, routes);
}

/// Skips links that never limit a flow: another link with at most their bandwidth carries
/// all their routes and more.
void FairShares::add_links(const Topology& topology, std::span<const FlowRoute> routes) {
  std::map<LinkId, Users> users;
  for (const auto r : indices(routes))
    for (const auto& use : topology.links_on(routes[r].src, routes[r].dst))
      users[use.link].emplace_back(r, static_cast<Parts>(use.parts) * routes_[r].unit);
  std::map<Users, double> narrowest;  // minimum of links with the same users
  std::map<LinkId, decltype(narrowest)::const_pointer> of_link;
  for (const auto& [link, by] : users) {
    const double bandwidth = topology.link(link).bandwidth.value;
    const auto [entry, is_new] = narrowest.try_emplace(by, bandwidth);
    if (!is_new) entry->second = std::min(entry->second, bandwidth);
    of_link[link] = &*entry;
  }
  for (const auto& [by, bandwidth] : narrowest) {
    const FlowRoute& any =
        routes[by.front().first];  // takes every link that all of these routes share
    const bool needless = std::ranges::any_of(
        topology.route(any.src, any.dst), [&, &b = by, &w = bandwidth](LinkId l) {
          const auto& [others, narrow] = *of_link.at(l);
          return narrow <= w && others.size() > b.size() && is_part(b, others);
        });
    if (needless) continue;
    for (const auto& [r, parts] : by)
      routes_[r].constraints.push_back({number_of_next(), parts});
    constraints_.push_back({bandwidth * unit_});
  }
}

void FairShares::add_groups(const Topology& topology, std::span<const FlowRoute> routes) {
  std::map<GroupId, size_t> known;
  for (const auto r : indices(routes)) {
    for (const auto& use : topology.groups_on(routes[r].src, routes[r].dst)) {
      const CapacityGroup& group = topology.group(use.group);
      const auto [entry, is_new] = known.try_emplace(use.group, groups_.size());
      if (is_new) {
        double most = 0;
        for (const auto* side : {&group.forward, &group.backward})
          for (const LinkId link : *side) most += topology.link(link).bandwidth.value;
        const uint32_t all = number_of_next();
        groups_.push_back({&group, most, all, {all + 1, all + 2}});
        groups_.back().now.unit = unit_;
        constraints_.resize(constraints_.size() + (group.forward_share ? 3 : 1));
      }
      const Group& g = groups_[entry->second];
      const auto in_units = [&](int parts) {
        return static_cast<Parts>(parts) * routes_[r].unit;
      };
      const GroupUse parts{entry->second, in_units(use.forward), in_units(use.backward),
                           in_units(use.parts)};
      routes_[r].groups.push_back(parts);
      routes_[r].constraints.push_back({g.all, parts.all});
      if (!group.forward_share) continue;
      if (parts.forward > 0)
        routes_[r].constraints.push_back({g.sides[0], parts.forward});
      if (parts.backward > 0)
        routes_[r].constraints.push_back({g.sides[1], parts.backward});
    }
  }
}

FairShares::Flow FairShares::add(size_t route) {
  Flow flow = static_cast<Flow>(flows_.size());
  if (unused_.empty())
    flows_.emplace_back();
  else
    flow = unused_.back(), unused_.pop_back();
  flows_[flow] = {route};
  for (const auto& [c, parts] : routes_[route].constraints) {
    constraints_[c].flows.push_back(flow);
    constraints_[c].parts += parts;
    changed_.push_back(c);
  }
  count(routes_[route], +1);
  return flow;
}

void FairShares::remove(Flow flow) {
  const Route& route = routes_[flows_[flow].route];
  for (const auto& [c, parts] : route.constraints) {
    std::vector<Flow>& there = constraints_[c].flows;
    *std::ranges::find(there, flow) = there.back();
    there.pop_back();
    constraints_[c].parts -= parts;
    changed_.push_back(c);
  }
  count(route, -1);
  unused_.push_back(flow);
}

void FairShares::count(const Route& route, double change) {
  for (const auto& use : route.groups) {
    Group& group = groups_[use.group];
    CapacityGroup::Load& load = group.now;
    const double demand = change * route.demand;
    load.flows += change * use.all;
    load.forward += change * use.forward,
        load.forward_demand += demand * use.forward / unit_;
    load.backward += change * use.backward,
        load.backward_demand += demand * use.backward / unit_;
    const auto bounds = group.group->bounds(load);
    const auto set = [&](uint32_t constraint, Rate bound) {
      constraints_[constraint].capacity = std::min(group.most, bound.value) * unit_;
    };
    set(group.all, bounds.all);
    if (!group.group->forward_share) continue;
    set(group.sides[0], bounds.forward), set(group.sides[1], bounds.backward);
    changed_.insert(changed_.end(), group.sides,
                    group.sides + 2);  // including the opposite side
  }
}

/// Collects the constraints and flows connected to the changed constraints.
void FairShares::reach() {
  reached_.clear(), growing_ = 0, capped_.clear();
  ++updates_;
  for (const uint32_t c : changed_) reach(c);
  changed_.clear();
  for (size_t i = 0; i < reached_.size(); ++i) {
    for (const Flow flow : constraints_[reached_[i]].flows) {
      FlowRate& running = flows_[flow];
      if (running.growing) continue;
      running.growing = true;
      ++growing_;
      const Route& route = routes_[running.route];
      if (route.cap != unbounded) capped_.push_back(flow);
      for (const Use& use : route.constraints) reach(use.constraint);
    }
  }
}

void FairShares::reach(uint32_t constraint) {
  Constraint& c = constraints_[constraint];
  if (c.reached_by == updates_) return;
  c.reached_by = updates_;
  c.free = c.capacity, c.growing = c.parts;
  reached_.push_back(constraint);
}

/// The common rate of all growing flows rises until a constraint or a cap is full. Drops
/// constraints without growing flows.
double FairShares::level() {
  double least = unbounded;
  auto kept = reached_.begin();
  for (const uint32_t c : reached_) {
    if (constraints_[c].growing == 0) continue;
    *kept++ = c;
    least =
        std::min(least, std::max(0.0, constraints_[c].free) / constraints_[c].growing);
  }
  reached_.erase(kept, reached_.end());
  for (const Flow flow : capped_)
    least = std::min(least, routes_[flows_[flow].route].cap);
  return least;
}

void FairShares::fix(Flow flow, double rate) {
  FlowRate& running = flows_[flow];
  if (!running.growing) return;  // stopped by several constraints
  running.rate = rate, running.growing = false;
  --growing_;
  for (const auto& [c, parts] : routes_[running.route].constraints) {
    constraints_[c].free -= rate * parts;
    constraints_[c].growing -= parts;
  }
}

/// Stops the flows that are limited to this rate. Full constraints are determined before
/// any flow stops.
void FairShares::fix_at(double level) {
  const double full = level * (1 + rounding);
  stopped_.clear();
  for (const uint32_t c : reached_)
    if (std::max(0.0, constraints_[c].free) <= full * constraints_[c].growing)
      stopped_.push_back(c);
  for (const uint32_t c : stopped_)
    for (const Flow flow : constraints_[c].flows) fix(flow, level);
  for (const Flow flow : capped_)
    if (routes_[flows_[flow].route].cap <= full) fix(flow, level);
}

bool FairShares::update() {
  if (changed_.empty()) return false;
  reach();
  while (growing_ > 0) {
    fix_at(level());
    std::erase_if(capped_, [&](Flow flow) { return !flows_[flow].growing; });
  }
  return true;
}

}  // namespace tilerail
