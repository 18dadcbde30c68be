// What the machine and its devices can do in a time: the rows of BoundProgram that bound shares and flows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "cost/bound_program.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

using Term = LinearProgram::Term;

/// Of any number of copies.
std::optional<Rate> highest(const std::optional<CapacityCurve>& curve) {
  if (!curve) return std::nullopt;
  Rate rate{0};
  for (const CapacityCurve::Point& point : curve->points) rate = std::max(rate, point.rate);
  return rate;
}

/// Sets of at least two of so many devices and not all of them, which follow from their number alone: every set of few;
/// else those that are neighbours in their order, or every other one; none of many.
std::vector<std::vector<size_t>> sets_of(size_t count, size_t most_with_cuts) {
  constexpr size_t few = 5;
  std::set<std::vector<size_t>> sets;
  if (count > most_with_cuts) return {};
  const auto add = [&](auto&& is_in) {
    std::vector<size_t> set;
    for (size_t d = 0; d < count; ++d)
      if (is_in(d)) set.push_back(d);
    if (set.size() > 1 && set.size() < count) sets.insert(std::move(set));
  };
  if (count <= few) {
    for (size_t bits = 0; bits < size_t{1} << count; ++bits) add([&](size_t d) { return (bits >> d & 1) == 1; });
    return {sets.begin(), sets.end()};
  }
  for (size_t size = 2; size < count; ++size)
    for (size_t first = 0; first + size <= count; ++first)
      add([&](size_t d) { return d >= first && d < first + size; });
  for (const size_t rest : {0, 1}) add([&](size_t d) { return d % 2 == rest; });
  return {sets.begin(), sets.end()};
}

}  // namespace

/// A resource is busy for the sum of the terms.
BoundProgram::Resource& BoundProgram::add_resource(TimeUse kind, std::string name, Terms busy) {
  busy.push_back({need_, -1});
  return resources_.emplace_back(Resource{program_.add_row(-unlimited, 0, busy), kind, std::move(name)});
}

/// What multiplies reads A and B once, writes C, and reads the old C and the sums of others that it adds to its own.
/// The other kernels read and write what they name.
void BoundProgram::add_compute() {
  for (const auto d : indices(devices_)) {
    const Device& device = device_[d];
    const std::string& name = topology_.memory(devices_[d]).name;
    if (device.computes && device.limits.rate) {
      Resource& kernels = add_resource(TimeUse::kernels, "kernels of " + name, {{device.share, device.all}});
      kernels.device = d, kernels.multiplies = true;
    }
    if (!device.computes || !device.limits.memory) continue;
    const double time = time_by(*device.limits.memory);
    Terms traffic;
    for (const Matrix matrix : {a, b, c}) traffic.push_back({device.holds[matrix], size_[matrix] * time});
    if (product_ && problem_.has_b()) {
      traffic.push_back({added(d), size_[c] * time});
      if (problem_.beta != 0) traffic.push_back({device.holds[old], size_[c] * time});
    } else if (problem_.beta != 0) {
      traffic.back().second *= 2;
    }
    add_resource(TimeUse::memory, "memory of " + name, traffic).device = d;
  }
}

/// Elements of sums of other devices that one adds to its own: what came and what it has, less what leaves or stays.
size_t BoundProgram::added(size_t device) {
  Terms terms{{program_.add_variable(0, 2 * double(devices_.size())), 1}};
  double stays = 0;
  for (const Part& part : parts_) {
    if (part.matrix != c) continue;
    const size_t node = device_[device].node;
    for (const auto& term : comes(part, node, -1)) terms.push_back(term);
    for (const auto& term : held(part, device, -1)) terms.push_back(term);
    if (part.home == node) stays = part.size;
  }
  if (terms.size() > 1) program_.add_row(-stays, unlimited, terms);
  return terms.front().first;
}

/// In units of bytes.
BoundProgram::Terms BoundProgram::carried(size_t link, double factor) const {
  Terms terms;
  for (const Part& part : parts_) terms.push_back({part.flow[link], factor * size_[part.matrix]});
  return terms;
}

void BoundProgram::add_links() {
  for (size_t l = 0; l < graph_.links().size() && !parts_.empty(); ++l) {
    const Link& link = topology_.link(graph_.links()[l].id);
    add_resource(TimeUse::link, "link " + link.name, carried(l, time_by(link.bandwidth)));
  }
}

/// A copy loads a group once, however many of its links it crosses. So each link counts by what share of these it is at
/// least: by graph link, 0 where it is not of the group.
std::vector<double> BoundProgram::counted_once(const CapacityGroup& group) const {
  const std::vector<BoundGraph::Link>& links = graph_.links();
  std::vector<size_t> of_group;
  for (const auto l : indices(links))
    for (const auto* side : {&group.forward, &group.backward})
      if (std::ranges::find(*side, links[l].id) != side->end()) of_group.push_back(l);
  std::vector<double> weight(links.size(), 0);
  for (const size_t l : of_group) {
    size_t between = 1;  // links from one switch to another; of those of memories a way has the first and the last
    bool first = false, last = false;
    for (const size_t other : of_group) {
      if (!graph_.in_one_way(l, other) && !graph_.in_one_way(other, l)) continue;
      if (!graph_.is_switch(links[other].from))
        first = true;
      else if (!graph_.is_switch(links[other].to))
        last = true;
      else
        ++between;
    }
    weight[l] = 1.0 / double(between + (first ? 1 : 0) + (last ? 1 : 0));
  }
  return weight;
}

/// Time is shared out between one side of a group, the other, and both at once.
void BoundProgram::add_groups() {
  for (const CapacityGroup& group : topology_.groups()) {
    const std::optional<Rate> capacity = highest(group.capacity), both = highest(group.both_busy);
    const std::vector<double> weight = counted_once(group);
    std::array<Terms, 2> sides;
    for (const auto l : indices(weight)) {
      if (weight[l] == 0) continue;
      const bool is_forward = std::ranges::find(group.forward, graph_.links()[l].id) != group.forward.end();
      for (const Term& term : carried(l, weight[l])) sides[is_forward ? 0 : 1].push_back(term);
    }
    if (both) {
      add_two_ways(group, capacity, *both, std::move(sides));
    } else if (capacity) {
      Terms busy = std::move(sides[0]);
      busy.insert(busy.end(), sides[1].begin(), sides[1].end());
      for (Term& term : busy) term.second *= time_by(*capacity);
      if (!busy.empty()) add_resource(TimeUse::group, "group " + group.name, busy);
    }
  }
}

void BoundProgram::add_two_ways(const CapacityGroup& group, std::optional<Rate> capacity, Rate both,
                                std::array<Terms, 2> sides) {
  if (sides[0].empty() && sides[1].empty()) return;
  Terms busy, together;
  double bytes = 0;
  for (const Part& part : parts_)
    bytes += most(part) * size_[part.matrix] * double(group.forward.size() + group.backward.size());
  const size_t both_time = program_.add_variable(0, bytes * time_by(both));
  busy.push_back({both_time, 1}), together.push_back({both_time, -1 / time_by(both)});
  for (size_t side = 0; side < 2; ++side) {
    if (sides[side].empty()) continue;
    Rate alone{0};
    for (const LinkId link : side == 0 ? group.forward : group.backward)
      alone = Rate{alone.value + topology_.link(link).bandwidth.value};
    if (capacity) alone = std::min(alone, *capacity);
    const size_t with_other = program_.add_variable(0, bytes);
    const size_t alone_time = program_.add_variable(0, bytes * time_by(alone));
    together.push_back({with_other, 1}), busy.push_back({alone_time, 1});
    sides[side].push_back({with_other, -1}), sides[side].push_back({alone_time, -1 / time_by(alone)});
    program_.add_row(-unlimited, 0, sides[side]);
  }
  program_.add_row(-unlimited, 0, together);
  add_resource(TimeUse::group, "group " + group.name, busy);
}

/// How many copies of a role a memory has at a time, and the most that one of them gets, whatever else runs. Absent
/// where the links of the memory let no more pass anyway.
std::optional<std::pair<Rate, int>> BoundProgram::engine(MemoryId memory, Role role) const {
  const Engines& engines = topology_.memory(memory).engines;
  const std::optional<int> count = std::array{engines.h2d, engines.d2h, engines.peer}[role];
  if (!count) return std::nullopt;
  const size_t node = topology_.memory(memory).node.index();
  Rate links{0}, copy{0};
  for (const size_t l : role == h2d ? graph_.into(node) : graph_.out_of(node))
    links += topology_.link(graph_.links()[l].id).bandwidth;
  std::vector<size_t> hosts;
  for (const MemoryId host : topology_.hosts()) hosts.push_back(topology_.memory(host).node.index());
  const auto fastest = [&](std::span<const size_t> from, std::span<const size_t> to) {
    copy = std::max(copy, Rate{graph_.copy_rate(from, to)});
  };
  if (role != peer) {  // of a matrix in several hosts a copy has parts to all of them
    role == h2d ? fastest(hosts, std::array{node}) : fastest(std::array{node}, hosts);
  } else {
    constexpr size_t few = 16;
    std::vector<size_t> others;
    for (const MemoryId other : memories_)
      if (other != memory && topology_.is_gpu(other)) others.push_back(topology_.memory(other).node.index());
    if (others.size() > few)
      fastest(std::array{node}, others);
    else
      for (const size_t other : others) fastest(std::array{node}, std::array{other});
  }
  if (copy == Rate{0} || copy * *count >= links) return std::nullopt;  // it copies nothing, or is no limit
  return std::pair{copy, *count};
}

/// An engine has one copy at a time.
void BoundProgram::add_engines() {
  std::map<std::pair<MemoryId, Role>, std::pair<Rate, int>> engines;
  for (const MemoryId memory : memories_)
    for (const Role role : {h2d, d2h, peer})
      if (topology_.is_gpu(memory))
        if (const auto of_role = engine(memory, role)) engines.emplace(std::pair{memory, role}, *of_role);
  if (engines.empty()) return;
  std::array<std::vector<Terms>, 4> carries;  // by role and link
  carries.fill(std::vector<Terms>(graph_.links().size()));
  for (const Part& part : parts_) add_roles(part, carries);
  for (const auto& [which, engine] : engines) {
    const auto& [memory, role] = which;
    const size_t node = topology_.memory(memory).node.index();
    Terms busy;
    for (const size_t l : role == h2d ? graph_.into(node) : graph_.out_of(node))
      for (const auto& [flow, bytes] : carries[role][l])
        busy.push_back({flow, bytes * time_by(engine.first) / engine.second});
    constexpr std::array names{"h2d", "d2h", "peer"};
    if (!busy.empty())
      add_resource(TimeUse::engines, fmt::format("{} engines of {}", names[role], topology_.memory(memory).name), busy);
  }
}

/// A link between these kinds of nodes has copies of a role; switches have all.
bool BoundProgram::may_carry(const BoundGraph::Link& link, Role role) const {
  const auto is_of = [&](size_t node, bool host) {
    return graph_.is_switch(node) || (topology_.description().nodes[node].kind == NodeKind::host) == host;
  };
  return is_of(link.from, role == h2d || role == between_hosts) && is_of(link.to, role == d2h || role == between_hosts);
}

/// What crosses a link is carried by copies of all roles together, and no switch turns one into the other.
void BoundProgram::add_roles(const Part& part, std::array<std::vector<Terms>, 4>& carries) {
  constexpr std::array roles{h2d, d2h, peer, between_hosts};
  std::array<std::vector<Terms>, 4> comes;  // by role and node
  comes.fill(std::vector<Terms>(graph_.nodes()));
  for (const auto l : indices(graph_.links())) {
    const BoundGraph::Link& link = graph_.links()[l];
    Terms all{{part.flow[l], -1}};
    for (const Role role : roles) {
      if (!may_carry(link, role)) continue;
      const size_t flow = program_.add_variable(0, most(part));
      all.push_back({flow, 1});
      carries[role][l].push_back({flow, size_[part.matrix]});
      comes[role][link.to].push_back({flow, 1}), comes[role][link.from].push_back({flow, -1});
    }
    program_.add_row(0, 0, all);
  }
  for (size_t node = 0; node < graph_.nodes(); ++node)
    for (const Role role : roles)
      if (graph_.is_switch(node)) program_.add_row(0, 0, comes[role][node]);
}

/// It computes where it is known how fast; a plan that may choose leaves others out.
BoundProgram::Device BoundProgram::device_of(MemoryId memory) const {
  const KernelTimes& kernels = topology_.kernels_of(memory);
  Device device{};
  device.node = topology_.memory(memory).node.index();
  device.computes = !product_ || problem_.routine == Routine::axpy ||
                    kernels.knows(problem_.dtype, problem_.trans_a, problem_.trans_b);
  if (!device.computes) return device;
  device.limits = kernel_limits(kernels, problem_);
  if (device.limits.rate) device.all = problem_.flops() / *device.limits.rate / Seconds{unit_seconds_};
  return device;
}

/// No kernel starts before some of what it reads is there, and C leaves after it. A product may be added to C later.
void BoundProgram::set_idle() {
  for (const auto d : indices(devices_)) {
    const size_t node = device_[d].node;
    double first = 0;
    if (inputs_come_) first = latency(problem_.place_a, node, false);
    if (inputs_come_ && problem_.has_b()) first = std::max(first, latency(problem_.place_b, node, false));
    if (!(product_ && problem_.has_b()) && problem_.beta != 0)
      first = std::max(first, latency(problem_.place_c, node, false));
    device_[d].idle = (first + latency(problem_.place_c, node, true)) / unit_seconds_;
  }
}

/// The least from the nearest block of a matrix, or from the farthest part of interleaved pages; with `back` to them.
double BoundProgram::latency(MemoryId place, size_t node, bool back) {
  double least = unlimited;
  for (const MemoryId home : homes_of(place, topology_)) {
    double farthest = 0;
    for (const MemoryId part : topology_.parts_of(home)) {
      const auto [known, is_new] = latencies_.try_emplace({part, back});
      if (is_new) known->second = graph_.latencies(topology_.memory(part).node.index(), back);
      farthest = std::max(farthest, known->second[node]);
    }
    least = std::min(least, farthest);
  }
  return least == unlimited ? 0 : least;
}

/// Every multiplication is somebody's. An element of A takes part in n of them, one of B in m, one of C in k: a share
/// w of the multiplications touches a share w of each matrix at least.
void BoundProgram::add_shares() {
  Terms all, read;
  for (const MemoryId memory : devices_) {
    Device& device = device_.emplace_back(device_of(memory));
    device.share = program_.add_variable(0, device.computes ? 1 : 0);
    all.push_back({device.share, 1});
    for (const Matrix matrix : {a, b, c, old}) device.holds[matrix] = program_.add_variable(0, 1);
    for (const Matrix matrix : {a, b, c})
      program_.add_row(0, unlimited, {{device.holds[matrix], 1}, {device.share, -1}});
    read.push_back({device.holds[old], 1});
  }
  set_idle();
  program_.add_row(1, 1, all);
  if (problem_.beta != 0) program_.add_row(1, unlimited, read);
}

void BoundProgram::add_regions() {
  for (const auto d : indices(devices_)) regions_.push_back({{d}});
  if (!product_ || !problem_.has_b()) return;
  for (auto& devices : sets_of(devices_.size(), most_with_cuts)) regions_.push_back({std::move(devices)});
}

/// The share of the multiplications that its devices can do in T.
double BoundProgram::most(const Region& region) const {
  double share = 0;
  for (const size_t d : region.devices)
    if (device_[d].computes) share += device_[d].all > 0 ? work(device_[d]) / device_[d].all : 1;
  constexpr double least = 1e-9;
  return std::clamp(share, least, 1.0);
}

/// Loomis and Whitney: a share w of the multiplications touches shares x, y, z of A, B, C with x y z >= w^2, hence
///   (x0 y0 z0)^(1/3) (x / x0 + y / y0 + z / z0) >= 3 w / W^(1/3)    for any x0, y0, z0 and w <= W
/// (the means' inequality, and w^(2/3) >= w / W^(1/3)). W is what the devices could multiply in T; nothing else of the
/// row follows from T or the machine.
void BoundProgram::set_reuse() {
  for (const Region& region : regions_)
    for (const size_t row : region.rows)
      for (const size_t d : region.devices)
        program_.set_coefficient(row, device_[d].share, -3 / std::cbrt(most(region)));
}

/// Of the rows whose x0 / z0 and y0 / z0 are powers of the root of two, that which the solution breaks most.
bool BoundProgram::add_reuse(Region& region, const std::array<Touched, 3>& touched) {
  constexpr double steps = 2, most_steps = 24, least = 1e-12;
  double share = 0;
  for (const size_t d : region.devices) share += program_.value(device_[d].share);
  const double asked = 3 * share / std::cbrt(most(region));
  const auto nearest = [&](Matrix matrix) {
    const double ratio = std::max(least, touched[matrix].value) / std::max(least, touched[c].value);
    return std::clamp(std::round(steps * std::log2(ratio)), -most_steps, most_steps);
  };
  std::array<double, 3> best{};
  double has = asked - precise;
  for (const double i : {-1, 0, 1})
    for (const double j : {-1, 0, 1}) {
      const double x = std::exp2((nearest(a) + i) / steps), y = std::exp2((nearest(b) + j) / steps);
      const double mean = std::cbrt(x * y);
      const std::array factors{mean / x, mean / y, mean};
      const double sum = factors[a] * touched[a].value + factors[b] * touched[b].value + factors[c] * touched[c].value;
      if (sum < has) has = sum, best = factors;
    }
  if (best[c] == 0) return false;
  Terms terms;
  double there = 0;  // what needs no terms
  for (const Matrix matrix : {a, b, c}) {
    if (touched[matrix].terms.empty()) there += best[matrix] * touched[matrix].value;
    for (const auto& [variable, coefficient] : touched[matrix].terms)
      terms.push_back({variable, best[matrix] * coefficient});
  }
  for (const size_t d : region.devices) terms.push_back({device_[d].share, -3 / std::cbrt(most(region))});
  region.rows.push_back(program_.add_row(-there, unlimited, terms));
  return true;
}

}  // namespace tilerail
