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
constexpr double load_precision = 1.01;  // to which the simulator makes load and times agree

std::optional<Rate> most(const std::optional<CapacityCurve>& curve) {
  if (!curve) return std::nullopt;
  Rate rate{0};
  for (const CapacityCurve::Point& point : curve->points) rate = std::max(rate, point.rate);
  return rate;
}

}  // namespace

/// A resource is busy for the sum of the terms.
void BoundProgram::add_resource(std::string_view kind, std::string name, Terms busy, double idle) {
  busy.push_back({need_, -1});
  resources_.push_back({program_.add_row(-unlimited, 0, busy), kind, std::move(name), idle});
}

/// No kernel starts before some of A and some of B are there, and C leaves after it.
void BoundProgram::add_compute() {
  all_.assign(devices_.size(), unlimited);
  for (std::size_t d = 0; product_ && d < devices_.size(); ++d) {
    const KernelTimes& kernels = topology_.kernels_of(devices_[d]);
    if (!kernels.knows(problem_.dtype, problem_.trans_a, problem_.trans_b)) continue;
    const std::string& name = topology_.memory(devices_[d]).name;
    const double idle = (std::max(way(problem_.place_a, devices_[d]), way(problem_.place_b, devices_[d])) +
                         way(devices_[d], problem_.place_c)) /
                        unit_seconds_;
    const FlopRate peak = kernels.peak(problem_.dtype, problem_.trans_a, problem_.trans_b);
    const double under_load = kernels.most_under_load(problem_.dtype, problem_.trans_a, problem_.trans_b);
    all_[d] = problem_.flops().value / (peak.value * std::min(1.0, load_precision * under_load)) / unit_seconds_;
    add_resource("kernels", "kernels of " + name, {{device_[d].share, all_[d]}}, idle);
    const auto memory = kernels.peak_memory_rate(problem_.dtype, problem_.trans_a, problem_.trans_b);
    if (!memory) continue;
    add_resource("memory", "memory of " + name,
                 {{device_[d].holds[a], time_by(*memory)},
                  {device_[d].holds[b], time_by(*memory)},
                  {device_[d].holds[c], (problem_.beta != 0 ? 2 : 1) * time_by(*memory)}},
                 idle);
  }
}

/// The least latency between two memories: of the route, or of a first hop and a last one over others.
double BoundProgram::way(MemoryId src, MemoryId dst) const {
  if (src == dst) return 0;
  double straight = unlimited, first = unlimited, last = unlimited;
  const auto latency = [&](MemoryId from, MemoryId to) {
    return from != to && topology_.has_route(from, to) ? topology_.latency(from, to).value : unlimited;
  };
  for (std::size_t i = 0; i < topology_.memories().size(); ++i) {
    const MemoryId other{i};
    if (other == dst) straight = latency(src, dst);
    first = std::min(first, latency(src, other)), last = std::min(last, latency(other, dst));
  }
  const double least = std::min(straight, first + last);
  return least == unlimited ? 0 : least;
}

void BoundProgram::add_links() {
  std::vector<Terms> on(topology_.links().size());
  for (const Flow& flow : flows_)
    for (const LinkId link : flow.links)
      on[link.index()].push_back({flow.variable, time_by(topology_.link(link).bandwidth)});
  for (std::size_t l = 0; l < on.size(); ++l)
    if (!on[l].empty()) add_resource("link", "link " + topology_.links()[l].name, std::move(on[l]));
}

/// Time is shared out between one side of a group, the other, and both at once.
void BoundProgram::add_groups() {
  std::vector<Terms> all(topology_.groups().size()), forward(all.size()), backward(all.size());
  for (const Flow& flow : flows_)
    for (const Topology::GroupUse& use : flow.groups) {
      if (use.forward && use.backward) continue;  // loads both sides at once: left out
      all[use.group.index()].push_back({flow.variable, 1});
      (use.forward ? forward : backward)[use.group.index()].push_back({flow.variable, 1});
    }
  for (std::size_t g = 0; g < all.size(); ++g) {
    if (all[g].empty()) continue;
    const CapacityGroup& group = topology_.groups()[g];
    const std::optional<Rate> capacity = most(group.capacity), both = most(group.both_busy);
    if (!both && !capacity) continue;
    if (!both) {
      for (Term& term : all[g]) term.second = time_by(*capacity);
      add_resource("group", "group " + group.name, all[g]);
    } else {
      add_two_ways(group, capacity, *both, {std::move(forward[g]), std::move(backward[g])});
    }
  }
}

void BoundProgram::add_two_ways(const CapacityGroup& group, std::optional<Rate> capacity, Rate both,
                                std::array<Terms, 2> sides) {
  Terms busy, together;
  const std::size_t both_time = program_.add_variable();
  busy.push_back({both_time, 1}), together.push_back({both_time, -1 / time_by(both)});
  for (std::size_t side = 0; side < 2; ++side) {
    if (sides[side].empty()) continue;
    Rate alone{0};
    for (const LinkId link : side == 0 ? group.forward : group.backward)
      alone = Rate{alone.value + topology_.link(link).bandwidth.value};
    if (capacity) alone = std::min(alone, *capacity);
    const std::size_t with_other = program_.add_variable(), alone_time = program_.add_variable();
    together.push_back({with_other, 1}), busy.push_back({alone_time, 1});
    sides[side].push_back({with_other, -1}), sides[side].push_back({alone_time, -1 / time_by(alone)});
    program_.add_row(-unlimited, 0, sides[side]);
  }
  program_.add_row(-unlimited, 0, together);
  add_resource("group", "group " + group.name, busy);
}

/// An engine has one copy at a time, which is no faster than alone.
void BoundProgram::add_engines() {
  std::map<std::pair<MemoryId, int>, Terms> of;
  for (const Flow& flow : flows_)
    if (flow.engine) of[*flow.engine].push_back({flow.variable, time_by(flow.alone)});
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
