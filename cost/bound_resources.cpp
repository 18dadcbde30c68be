// Limits of the machine and its devices: the rows of BoundProgram that bound shares and
// flows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cost/bound_program.hpp"
#include "model/base/contains.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// The highest rate for any number of copies.
std::optional<Rate> highest(const std::optional<CapacityCurve>& curve) {
  if (!curve) return std::nullopt;
  return std::ranges::max_element(curve->points, {}, &CapacityCurve::Point::rate)->rate;
}

/// Proper subsets of at least two of so many devices; they depend on the number alone.
/// Few devices: all subsets. Otherwise: sets of neighbours in their order, and every
/// other device.
std::set<std::vector<size_t>> sets_of(size_t count) {
  constexpr size_t few = 5, even = 0x5555;
  const size_t all = (size_t{1} << count) - 1;
  std::set<std::vector<size_t>> sets;
  for (size_t bits = 1; bits < all; ++bits) {
    const size_t lowest = bits & (~bits + 1);
    const bool are_neighbours = (bits & (bits + lowest)) == 0;
    if (count > few && !are_neighbours && bits != (even & all) && bits != (~even & all))
      continue;
    std::vector<size_t> set;
    for (size_t d = 0; d < count; ++d)
      if ((bits >> d & 1) == 1) set.push_back(d);
    if (set.size() > 1) sets.insert(set);
  }
  return sets;
}

}  // namespace

/// A resource is busy for the sum of the terms.
BoundProgram::Resource& BoundProgram::add_resource(TimeUse kind, const std::string& name,
                                                   Terms busy) {
  busy.push_back({need_, -1});
  return resources_.emplace_back(Resource{add_at_most_zero(busy), kind, name});
}

/// A product reads A and B once, writes C, and reads the old C and the sums of other
/// devices that it adds to its own. The other kernels read and write their operands.
void BoundProgram::add_compute() {
  for (const auto d : indices(devices_)) {
    const Device& device = device_[d];
    const std::string& name = topology_.memory(devices_[d]).name;
    if (!device.computes) continue;
    if (device.limits.rate) {
      Resource& kernels =
          add_resource(TimeUse::kernels, name, {{device.share, device.all}});
      kernels.device = d;
      kernels.multiplies = true;
    }
    if (!device.limits.memory) continue;
    const double time = time_by(*device.limits.memory);
    Terms traffic;
    for (const Matrix matrix : {a, b, c})
      traffic.push_back({device.holds[matrix], size_[matrix] * time});
    if (has_b_) traffic.push_back({added(d), size_[c] * time});
    if (has_b_ && problem_.beta != 0)
      traffic.push_back({device.holds[old], size_[c] * time});
    if (!has_b_ && problem_.beta != 0) traffic.back().second *= 2;
    add_resource(TimeUse::memory, name, traffic).device = d;
  }
}

/// Elements of other devices' sums that a device adds to its own: arriving and own
/// elements minus those that leave or stay.
size_t BoundProgram::added(size_t device) {
  const size_t sums = program_.add_variable(2 * double(devices_.size()));
  Terms terms{{sums, 1}};
  double stays = 0;
  for (const Part& part : parts_) {
    if (part.matrix != c) continue;
    const size_t vertex = device_[device].vertex;
    append(terms, comes(part, vertex, -1));
    terms.push_back(held(part, device, -1));
    if (part.home == vertex) stays += part.size;
  }
  if (terms.size() > 1) add_at_least(-stays, terms);
  return sums;
}

/// Traffic of a link in units of bytes.
BoundProgram::Terms BoundProgram::carried(size_t link, double factor) const {
  Terms terms;
  for (const Part& part : parts_)
    terms.push_back({part.flow[link], factor * size_[part.matrix]});
  return terms;
}

void BoundProgram::add_links() {
  if (parts_.empty()) return;
  for (const auto l : indices(graph_.links)) {
    const Link& link = topology_.link(graph_.links[l].id);
    add_resource(TimeUse::link, link.name, carried(l, time_by(link.bandwidth)));
  }
}

/// A copy loads a group once, however many of its links it crosses. Each link is weighted
/// with its least share of these links. By graph link; 0 if the link is not in the group.
std::vector<double> BoundProgram::counted_once(const CapacityGroup& group) const {
  std::vector<size_t> of_group;
  for (const auto l : indices(graph_.links)) {
    const LinkId id = graph_.links[l].id;
    if (contains(group.forward, id) || contains(group.backward, id))
      of_group.push_back(l);
  }
  std::vector<double> weight(graph_.links.size(), 0);
  for (const size_t l : of_group) {
    int between = 1;  // links between switches; a path has at most one first and one last
                      // link at a memory
    int first = 0, last = 0;
    for (const size_t other : of_group) {
      if (!graph_.in_one_way(l, other) && !graph_.in_one_way(other, l)) continue;
      if (!graph_.is_switch[graph_.links[other].from])
        first = 1;
      else if (!graph_.is_switch[graph_.links[other].to])
        last = 1;
      else
        ++between;
    }
    weight[l] = 1.0 / (between + first + last);
  }
  return weight;
}

/// Time is divided between one side of a group, the other side, and both simultaneously.
void BoundProgram::add_groups() {
  for (const CapacityGroup& group : topology_.groups()) {
    const std::optional<Rate> capacity = highest(group.capacity),
                              both = highest(group.both_busy);
    const std::vector<double> weight = counted_once(group);
    Terms forward, backward;
    for (const auto l : indices(weight)) {
      const bool is_forward = contains(group.forward, graph_.links[l].id);
      if (weight[l] != 0) append(is_forward ? forward : backward, carried(l, weight[l]));
    }
    if (forward.empty() && backward.empty()) continue;
    if (both) {
      add_duplex(group, capacity, *both, {forward, backward});
    } else if (capacity) {
      append(forward, backward);
      for (Term& term : forward) term.second *= time_by(*capacity);
      add_resource(TimeUse::group, group.name, forward);
    }
  }
}

void BoundProgram::add_duplex(const CapacityGroup& group, std::optional<Rate> capacity,
                              Rate both, std::array<Terms, 2> sides) {
  double bytes = 0;
  for (const Part& part : parts_)
    bytes += most(part) * size_[part.matrix] *
             double(group.forward.size() + group.backward.size());
  const size_t both_time = program_.add_variable(bytes * time_by(both));
  Terms busy{{both_time, 1}}, together{{both_time, -1 / time_by(both)}};
  for (const size_t side : {0, 1}) {
    if (sides[side].empty()) continue;
    Rate alone;
    for (const LinkId link : side == 0 ? group.forward : group.backward)
      alone += topology_.link(link).bandwidth;
    if (capacity) alone = std::min(alone, *capacity);
    const size_t with_other = program_.add_variable(bytes);
    const size_t alone_time = program_.add_variable(bytes * time_by(alone));
    together.push_back({with_other, 1});
    busy.push_back({alone_time, 1});
    append(sides[side], {{with_other, -1}, {alone_time, -1 / time_by(alone)}});
    add_at_most_zero(sides[side]);
  }
  add_at_most_zero(together);
  add_resource(TimeUse::group, group.name, busy);
}

/// How many copies of a role a memory has simultaneously, and the highest rate of one.
/// Absent if the links of the memory are the tighter limit.
std::optional<BoundProgram::Engine> BoundProgram::engine(MemoryId memory,
                                                         Role role) const {
  constexpr std::array names{"h2d", "d2h", "peer"};
  const Engines& engines = topology_.memory(memory).engines();
  const std::optional<int> count =
      std::array{engines.h2d, engines.d2h, engines.peer}[role];
  if (!count || !topology_.is_gpu(memory)) return std::nullopt;
  const std::array vertex{vertex_of(memory)};
  Engine engine;
  engine.name =
      fmt::format("{} engines of {}", names[role], topology_.memory(memory).name);
  engine.role = role;
  engine.links = role == h2d ? graph_.into[vertex[0]] : graph_.out_of[vertex[0]];
  engine.count = *count;
  Rate links;
  for (const size_t l : engine.links)
    links += topology_.link(graph_.links[l].id).bandwidth;
  std::vector<size_t> hosts, others;
  for (const MemoryId host : topology_.hosts()) hosts.push_back(vertex_of(host));
  for (const MemoryId other : memories_)
    if (other != memory && topology_.is_gpu(other)) others.push_back(vertex_of(other));
  const auto fastest = [&](Numbers from, Numbers to) {
    engine.rate = std::max(engine.rate, Rate{graph_.copy_rate(from, to)});
  };
  constexpr size_t few = 16;
  if (role == h2d)  // a copy may have parts in several hosts
    fastest(hosts, vertex);
  else if (role == d2h)
    fastest(vertex, hosts);
  else if (others.size() > few)
    fastest(vertex, others);
  else
    for (const size_t other : others) fastest(vertex, std::array{other});
  if (engine.rate == Rate{0} || engine.rate * *count >= links)
    return std::nullopt;  // no copies, or not a limit
  return engine;
}

/// An engine runs one copy at a time.
void BoundProgram::add_engines() {
  std::vector<Engine> engines;
  for (const MemoryId memory : memories_)
    for (const Role role : {h2d, d2h, peer})
      if (const auto limited = engine(memory, role)) engines.push_back(*limited);
  if (engines.empty()) return;
  TermsByRole carries;  // by role, then by link
  carries.fill(std::vector<Terms>(graph_.links.size()));
  for (const Part& part : parts_) add_roles(part, carries);
  for (const Engine& engine : engines) {
    Terms busy;
    for (const size_t l : engine.links)
      for (const auto& [flow, bytes] : carries[engine.role][l])
        busy.push_back({flow, bytes * time_by(engine.rate) / engine.count});
    if (!busy.empty()) add_resource(TimeUse::engines, engine.name, busy);
  }
}

/// A link's flow is the sum over copies of all roles, and switches preserve the role.
void BoundProgram::add_roles(const Part& part, TermsByRole& carries) {
  constexpr std::array roles{h2d, d2h, peer, between_hosts};
  const auto may_be = [&](size_t vertex,
                          bool host) {  // a host, or a device; switches may be both
    return graph_.is_switch[vertex] ||
           (topology_.description().vertices[vertex].kind == VertexKind::host) == host;
  };
  TermsByRole comes;  // by role, then by vertex
  comes.fill(std::vector<Terms>(graph_.is_switch.size()));
  for (const auto l : indices(graph_.links)) {
    const BoundGraph::Link& link = graph_.links[l];
    Terms all{{part.flow[l], -1}};
    for (const Role role : roles) {
      if (!may_be(link.from, role == h2d || role == between_hosts)) continue;
      if (!may_be(link.to, role == d2h || role == between_hosts)) continue;
      const size_t flow = program_.add_variable(most(part));
      all.push_back({flow, 1});
      carries[role][l].push_back({flow, size_[part.matrix]});
      comes[role][link.to].push_back({flow, 1});
      comes[role][link.from].push_back({flow, -1});
    }
    add_equal(0, all);
  }
  for (const auto vertex : indices(graph_.is_switch))
    for (const Role role : roles)
      if (graph_.is_switch[vertex]) add_equal(0, comes[role][vertex]);
}

/// No kernel starts before some of its inputs have arrived, and C leaves after the
/// kernel. The old C of a product may be added later.
double BoundProgram::idle_of(size_t vertex) {
  double first = 0;
  if (inputs_come_) first = latency(problem_.place_a, vertex, false);
  if (inputs_come_ && has_b_)
    first = std::max(first, latency(problem_.place_b, vertex, false));
  if (!has_b_ && problem_.beta != 0)
    first = std::max(first, latency(problem_.place_c, vertex, false));
  return (first + latency(problem_.place_c, vertex, true)) / unit_seconds_;
}

/// Least latency from the nearest block of a matrix, or from the farthest part of
/// interleaved pages; with `back` to them.
double BoundProgram::latency(const Layout& place, size_t vertex, bool back) {
  double least = unlimited;
  for (const MemoryId home : place.members()) {
    double farthest = 0;
    for (const MemoryId part : topology_.parts_of(home)) {
      const auto [known, is_new] = latencies_.try_emplace({part, back});
      if (is_new) known->second = graph_.latencies(vertex_of(part), back);
      farthest = std::max(farthest, known->second[vertex]);
    }
    least = std::min(least, farthest);
  }
  return least == unlimited ? 0 : least;
}

/// Every multiplication is done by a device. An element of A takes part in n of them, one
/// of B in m, one of C in k: a share w of the multiplications touches at least a share w
/// of each matrix. A device computes if its speed is known; plans with a choice of
/// devices leave the others out.
void BoundProgram::add_shares() {
  Terms all, read;
  for (const MemoryId memory : devices_) {
    const KernelTimes& kernels = topology_.kernels_of(memory);
    Device& device = device_.emplace_back();
    device.vertex = vertex_of(memory);
    device.computes =
        !product_ || problem_.routine == Routine::axpy ||
        kernels.has_times(problem_.dtype, problem_.trans_a, problem_.trans_b);
    if (device.computes) device.limits = kernel_limits(kernels, problem_);
    if (device.limits.rate)
      device.all = problem_.flops() / *device.limits.rate / Seconds{unit_seconds_};
    device.idle = idle_of(device.vertex);
    device.share = program_.add_variable(device.computes ? 1 : 0);
    all.push_back({device.share, 1});
    for (const Matrix matrix : {a, b, c, old})
      device.holds[matrix] = program_.add_variable(1);
    for (const Matrix matrix : {a, b, c})
      add_at_least(0, {{device.holds[matrix], 1}, {device.share, -1}});
    read.push_back({device.holds[old], 1});
  }
  add_equal(1, all);
  if (problem_.beta != 0) add_at_least(1, read);
  for (const auto d : indices(devices_)) regions_.push_back({{d}});
  if (has_b_ && devices_.size() <= most_with_cuts)
    for (const auto& devices : sets_of(devices_.size())) regions_.push_back({devices});
}

/// The share of the multiplications that its devices can do in T.
double BoundProgram::most(const Region& region) const {
  double share = 0;
  for (const size_t d : region.devices)
    if (device_[d].computes)
      share += device_[d].all > 0 ? work(device_[d]) / device_[d].all : 1;
  constexpr double least = 1e-9;
  return std::clamp(share, least, 1.0);
}

/// Loomis and Whitney: a share w of the multiplications touches shares x, y, z of A, B, C
/// with x y z >= w^2, hence
///   (x0 y0 z0)^(1/3) (x / x0 + y / y0 + z / z0) >= 3 w / W^(1/3)    for any x0, y0, z0
///   and w <= W
/// (the means' inequality, and w^(2/3) >= w / W^(1/3)). W is the share that the devices
/// could multiply in T; nothing else of the row depends on T or the machine.
void BoundProgram::set_reuse() {
  for (const Region& region : regions_)
    for (const size_t row : region.rows)
      for (const size_t d : region.devices)
        program_.set_coefficient(row, device_[d].share, -3 / std::cbrt(most(region)));
}

/// Adds the most violated row among those with x0 / z0 and y0 / z0 powers of the root of
/// two.
bool BoundProgram::add_reuse(Region& region, const std::array<DataShare, 3>& touched) {
  constexpr double steps = 2, most_steps = 24, least = 1e-12;
  double share = 0;
  for (const size_t d : region.devices) share += program_.value(device_[d].share);
  const double asked = 3 * share / std::cbrt(most(region));
  const auto nearest = [&](Matrix matrix) {
    const double ratio =
        std::max(least, touched[matrix].value) / std::max(least, touched[c].value);
    return std::clamp(std::round(steps * std::log2(ratio)), -most_steps, most_steps);
  };
  std::array<double, 3> best{};
  double has = asked - precise;
  for (const double i : {-1, 0, 1})
    for (const double j : {-1, 0, 1}) {
      const double x = std::exp2((nearest(a) + i) / steps),
                   y = std::exp2((nearest(b) + j) / steps);
      const double mean = std::cbrt(x * y);
      const std::array factors{mean / x, mean / y, mean};
      const double sum = factors[a] * touched[a].value + factors[b] * touched[b].value +
                         factors[c] * touched[c].value;
      if (sum < has) has = sum, best = factors;
    }
  if (best[c] == 0) return false;
  Terms terms;
  double there = 0;  // constant part
  for (const Matrix matrix : {a, b, c}) {
    if (touched[matrix].terms.empty()) there += best[matrix] * touched[matrix].value;
    for (const auto& [variable, coefficient] : touched[matrix].terms)
      terms.push_back({variable, best[matrix] * coefficient});
  }
  for (const size_t d : region.devices)
    terms.push_back({device_[d].share, -3 / std::cbrt(most(region))});
  region.rows.push_back(add_at_least(-there, terms));
  return true;
}

}  // namespace tilerail
