// What the machine can do in a time: the rows of BoundProgram that bound shares and flows.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

using Term = LinearProgram::Term;
constexpr double unlimited = LinearProgram::infinity;

/// Of any number of copies.
std::optional<Rate> most(const std::optional<CapacityCurve>& curve) {
  if (!curve) return std::nullopt;
  Rate rate{0};
  for (const CapacityCurve::Point& point : curve->points) rate = std::max(rate, point.rate);
  return rate;
}

}  // namespace

/// A resource is busy for the sum of the terms.
BoundProgram::Resource& BoundProgram::add_resource(std::string_view kind, std::string name, Terms busy) {
  busy.push_back({need_, -1});
  return resources_.emplace_back(Resource{program_.add_row(-unlimited, 0, busy), kind, std::move(name)});
}

/// What multiplies reads A and B once, and writes C or adds to it. The other kernels read and write what they name.
void BoundProgram::add_compute() {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const Device& device = device_[d];
    const std::string& name = topology_.memory(devices_[d]).name;
    if (device.computes && device.limits.rate) {
      Resource& kernels = add_resource("kernels", "kernels of " + name, {{device.share, device.all}});
      kernels.device = d, kernels.multiplies = true;
    }
    if (!device.computes || !device.limits.memory) continue;
    const double time = time_by(*device.limits.memory);
    const Terms traffic{
        {device.holds[a], time}, {device.holds[b], time}, {device.holds[c], (problem_.beta != 0 ? 2 : 1) * time}};
    add_resource("memory", "memory of " + name, traffic).device = d;
  }
}

/// No kernel starts before some of what it reads is there, and C leaves after it. A product may be added to C later.
double BoundProgram::idle(MemoryId device) const {
  double first = 0;
  if (inputs_come_) first = first_way(problem_.place_a, device);
  if (inputs_come_ && problem_.has_b()) first = std::max(first, first_way(problem_.place_b, device));
  if (!(product_ && problem_.has_b()) && problem_.beta != 0)
    first = std::max(first, first_way(problem_.place_c, device));
  return first + last_way(device, problem_.place_c);
}

/// The least latency between two memories: of the route, or of a first hop and a last one over others.
double BoundProgram::way(MemoryId src, MemoryId dst) const {
  if (src == dst) return 0;
  double straight = unlimited, first = unlimited, last = unlimited;
  const auto latency = [&](MemoryId from, MemoryId to) {
    return from != to && topology_.has_route(from, to) ? topology_.latency(from, to).value : unlimited;
  };
  for (std::size_t i = 0; i < topology_.sources(); ++i) {
    const MemoryId other{i};
    if (other == dst) straight = latency(src, dst);
    first = std::min(first, latency(src, other)), last = std::min(last, latency(other, dst));
  }
  const double least = std::min(straight, first + last);
  return least == unlimited ? 0 : least;
}

/// From the nearest block of a matrix, and to the nearest.
double BoundProgram::first_way(MemoryId home, MemoryId dst) const {
  double least = unlimited;
  for (const MemoryId& memory : homes_of(home, topology_)) least = std::min(least, way(memory, dst));
  return least;
}

double BoundProgram::last_way(MemoryId src, MemoryId home) const {
  double least = unlimited;
  for (const MemoryId& memory : homes_of(home, topology_)) least = std::min(least, way(src, memory));
  return least;
}

void BoundProgram::add_links() {
  std::vector<Terms> on(topology_.links().size());
  for (const Flow& flow : flows_)
    for (const auto& [link, parts] : flow.links)
      on[link.index()].push_back({flow.variable, time_by(topology_.link(link).bandwidth * flow.parts / parts)});
  for (std::size_t l = 0; l < on.size(); ++l)
    if (!on[l].empty()) add_resource("link", "link " + topology_.links()[l].name, std::move(on[l]));
}

/// Time is shared out between one side of a group, the other, and both at once.
void BoundProgram::add_groups() {
  std::vector<Terms> all(topology_.groups().size()), forward(all.size()), backward(all.size());
  for (const Flow& flow : flows_)
    for (const Topology::GroupUse& use : flow.groups) {
      if (use.forward && use.backward) continue;  // loads both sides at once: left out
      const double share = static_cast<double>(use.parts) / flow.parts;
      all[use.group.index()].push_back({flow.variable, share});
      (use.forward ? forward : backward)[use.group.index()].push_back({flow.variable, share});
    }
  for (std::size_t g = 0; g < all.size(); ++g) {
    if (all[g].empty()) continue;
    const CapacityGroup& group = topology_.groups()[g];
    const std::optional<Rate> capacity = most(group.capacity), both = most(group.both_busy);
    if (!both && !capacity) continue;
    if (!both) {
      for (Term& term : all[g]) term.second *= time_by(*capacity);
      add_resource("group", "group " + group.name, all[g]);
    } else {
      add_two_ways(group, capacity, *both, {std::move(forward[g]), std::move(backward[g])});
    }
  }
}

void BoundProgram::add_two_ways(const CapacityGroup& group, std::optional<Rate> capacity, Rate both,
                                std::array<Terms, 2> sides) {
  Terms busy, together;
  double bytes = 0;
  for (const Flow& flow : flows_)
    for (const Topology::GroupUse& use : flow.groups)
      if (&topology_.group(use.group) == &group) bytes += flow.most * use.parts / flow.parts;
  const std::size_t both_time = program_.add_variable(0, bytes * time_by(both));
  busy.push_back({both_time, 1}), together.push_back({both_time, -1 / time_by(both)});
  for (std::size_t side = 0; side < 2; ++side) {
    if (sides[side].empty()) continue;
    Rate alone{0};
    for (const LinkId link : side == 0 ? group.forward : group.backward)
      alone = Rate{alone.value + topology_.link(link).bandwidth.value};
    if (capacity) alone = std::min(alone, *capacity);
    const std::size_t with_other = program_.add_variable(0, bytes);
    const std::size_t alone_time = program_.add_variable(0, bytes * time_by(alone));
    together.push_back({with_other, 1}), busy.push_back({alone_time, 1});
    sides[side].push_back({with_other, -1}), sides[side].push_back({alone_time, -1 / time_by(alone)});
    program_.add_row(-unlimited, 0, sides[side]);
  }
  program_.add_row(-unlimited, 0, together);
  add_resource("group", "group " + group.name, busy);
}

/// The most that a copy gets, whatever else runs: copies on a group may be faster the more there are, and those of one
/// side while there are some of the other.
Rate BoundProgram::fastest(MemoryId src, MemoryId dst) const {
  const int parts = topology_.parts(src, dst);
  Rate rate{unlimited};
  for (const auto& [link, crossing] : topology_.links_on(src, dst)) {
    const Link& l = topology_.link(link);
    rate = std::min(rate, std::min(l.bandwidth, l.per_flow.value_or(l.bandwidth)) * parts / crossing);
  }
  for (const Topology::GroupUse& use : topology_.groups_on(src, dst)) {
    const CapacityGroup& group = topology_.group(use.group);
    std::optional<Rate> bound = most(group.capacity);
    const std::optional<Rate> both = most(group.both_busy);
    if (both && use.forward > 0 && use.backward > 0)
      bound = both;
    else if (both && bound && !group.backward.empty())
      bound = std::max(*bound, *both);
    if (bound) rate = std::min(rate, *bound * parts / use.parts);
  }
  return rate;
}

/// An engine has one copy at a time.
void BoundProgram::add_engines() {
  std::map<std::pair<MemoryId, int>, Terms> of;
  for (const Flow& flow : flows_)
    if (flow.engine) of[*flow.engine].push_back({flow.variable, time_by(flow.fastest)});
  for (auto& [engine, busy] : of) {
    const Engines& engines = topology_.memory(engine.first).engines;
    const std::optional<int> count = std::array{engines.h2d, engines.d2h, engines.peer}[engine.second];
    if (!count) continue;
    for (Term& term : busy) term.second /= *count;
    constexpr std::array names{"h2d", "d2h", "peer"};
    add_resource("engines", fmt::format("{} engines of {}", names[engine.second], topology_.memory(engine.first).name),
                 busy);
  }
}

}  // namespace tilerail
