#include "backends/sim/simgrid_platform.hpp"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "backends/sim/simgrid_engine.hpp"
#include "backends/sim/simgrid_versions.hpp"

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;

/// Everything that a platform is made from, as a list of numbers.
class Fingerprint {
 public:
  Fingerprint(const Topology& topology, const std::set<FlowRoute>& routes) {
    add(topology.memories().size()), add(topology.links().size());
    for (const Link& link : topology.links()) add(link.bandwidth.value);
    for (const CapacityGroup& group : topology.groups()) {
      add(group.forward), add(group.backward);
      add(group.capacity), add(group.both_busy), add(group.forward_share.value_or(-1));
    }
    for (const FlowRoute& route : routes) {
      add(route.src.value), add(route.dst.value), add(route.cap.value_or(Rate{-1}).value);
      add(topology.parts(route.src, route.dst));
      const auto path = topology.links_on(route.src, route.dst);
      add(path.size());
      for (const Topology::LinkUse& use : path) add(use.link.value), add(use.parts);
    }
  }
  auto operator<=>(const Fingerprint&) const = default;

 private:
  template <class Number>
  void add(Number number) {
    numbers_.push_back(double(number));
  }
  void add(const std::vector<LinkId>& links) {
    add(links.size());
    for (LinkId id : links) add(id.value);
  }
  void add(const std::optional<CapacityCurve>& curve) {
    add(curve ? curve->points.size() : 0);
    if (curve)
      for (const auto& point : curve->points) add(point.flows), add(point.rate.value);
  }

  std::vector<double> numbers_;
};

}  // namespace

SimGridPlatform& SimGridPlatform::of(const Topology& topology, std::span<const FlowRoute> routes) {
  static auto& known = *new std::map<Fingerprint, std::unique_ptr<SimGridPlatform>>;  // as lasting as the engine
  const std::set<FlowRoute> distinct(routes.begin(), routes.end());
  auto& platform = known[Fingerprint{topology, distinct}];
  if (!platform) platform.reset(new SimGridPlatform{topology, distinct});
  for (auto& load : platform->loads_) load->now = {.unit = double(platform->unit_)};
  return *platform;
}

SimGridPlatform::SimGridPlatform(const Topology& topology, const std::set<FlowRoute>& routes)
    : zone_{SimGridEngine::get().new_zone()} {
  for (const FlowRoute& route : routes) unit_ = std::lcm(unit_, topology.parts(route.src, route.dst));
  for (const Memory& memory : topology.memories()) hosts_.push_back(new_host(memory));
  for (const Link& link : topology.links()) links_.push_back(new_link(link.bandwidth.value * unit_));
  for (const CapacityGroup& group : topology.groups()) groups_.push_back(new_group(group, topology));
  for (const FlowRoute& route : routes) add_route(route, topology);
  zone_.seal();
}

s4u::Host* SimGridPlatform::new_host(const Memory& memory) {
  // One unit of work a second: the work of a kernel is its seconds times its share of the GPU.
  return simgrid_versions::add_host(zone_, fmt::format("{} {} {}", zone_.get_name(), memory.name, names_++), 1.0);
}

s4u::Link* SimGridPlatform::new_link(double bandwidth) {
  const std::string name = zone_.get_name() + " link " + std::to_string(names_++);
  return simgrid_versions::add_link(zone_, name, bandwidth)->set_latency(0.0)->seal();
}

s4u::Link* SimGridPlatform::new_group(const CapacityGroup& group, const Topology& topology) {
  double most = 0;
  const double unit = unit_;
  for (const auto* side : {&group.forward, &group.backward})
    for (LinkId id : *side) most += topology.link(id).bandwidth.value;
  loads_.push_back(std::make_unique<GroupLoad>(GroupLoad{group, most}));
  const GroupLoad* load = loads_.back().get();
  const auto bounded = [&](const std::function<double()>& bound) {
    return new_link(most * unit)->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR, [bound, unit](double, int) {
      return bound() * unit;
    });
  };
  sides_.emplace_back();
  if (group.forward_share)
    sides_.back() = {bounded([load] { return load->side_bound(true); }),
                     bounded([load] { return load->side_bound(false); })};
  return bounded([load] { return load->bound(); });
}

double SimGridPlatform::GroupLoad::bound() const { return std::min(most, group.bounds(now).all.value); }

double SimGridPlatform::GroupLoad::side_bound(bool forward) const {
  const auto bounds = group.bounds(now);
  return std::min(most, (forward ? bounds.forward : bounds.backward).value);
}

/// SimGrid knows one route between two hosts, so the routes of a pair leave from different hosts of the memory.
s4u::Host* SimGridPlatform::start_of(const FlowRoute& route, const Topology& topology) {
  const size_t number = routes_between_[{route.src, route.dst}]++;
  if (number == 0) return hosts_[route.src.index()];
  auto& more = more_hosts_[route.src];
  if (more.size() < number) more.push_back(new_host(topology.memory(route.src)));
  return more[number - 1];
}

void SimGridPlatform::add_route(const FlowRoute& route, const Topology& topology) {
  const auto [src, dst, cap] = route;
  const auto uses = topology.groups_on(src, dst);
  const int parts = topology.parts(src, dst);
  std::vector<s4u::LinkInRoute> path;
  const auto add = [&](s4u::Link* link, int crossing) {  // SimGrid adds up how often a route has a link
    const int times = crossing * (unit_ / parts);
    path.insert(path.end(), size_t(times), s4u::LinkInRoute{link});
  };
  for (const auto& use : topology.links_on(src, dst)) add(links_[use.link.index()], use.parts);
  for (const auto& use : uses) {
    add(groups_[use.group.index()], use.parts);
    const Sides& sides = sides_[use.group.index()];
    if (sides.forward) add(sides.forward, use.forward);
    if (sides.backward) add(sides.backward, use.backward);
  }
  // SimGrid ignores the rate of a flow between hosts; a FATPIPE link bounds each flow instead of their sum.
  if (cap) path.emplace_back(new_link(cap->value)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE));
  const Rate alone = topology.pair_rate(src, dst);
  const double demand = std::min(alone, cap.value_or(alone)).value;
  s4u::Host *from = start_of(route, topology), *to = hosts_[dst.index()];
  simgrid_versions::add_route(zone_, *from, *to, path);
  routes_.emplace(route, Route{from, to, {uses.begin(), uses.end()}, demand, parts});
}

void SimGridPlatform::count(const Route& route, int change) {
  for (const auto& use : route.groups) {
    CapacityGroup::Load& load = loads_[use.group.index()]->now;
    const double unit = change * (load.unit / route.parts), demand = change * route.demand / route.parts;
    load.flows += use.parts * unit;
    load.forward += use.forward * unit, load.forward_demand += use.forward * demand;
    load.backward += use.backward * unit, load.backward_demand += use.backward * demand;
  }
}

}  // namespace tilerail
