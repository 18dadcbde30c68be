#include "model/machine/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/base/topology_limits.hpp"
#include "model/machine/pair_table.hpp"
#include "model/machine/shortest_paths.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Linear interpolation: `low` at x = a, `high` at x = b.
double between(double low, double high, double x, double a, double b) {
  return low + (high - low) * (x - a) / (b - a);
}

}  // namespace

Rate CapacityCurve::at(double flows) const {
  const auto above =
      std::ranges::find_if(points, [=](const Point& p) { return flows <= p.flows; });
  if (above == points.begin()) return points.front().rate;
  if (above == points.end()) return points.back().rate;
  const Point &a = above[-1], &b = above[0];
  return Rate{between(a.rate.value, b.rate.value, flows, a.flows, b.flows)};
}

Rate CapacityGroup::bound(double flows, bool on_forward, bool on_backward) const {
  const auto& curve = on_forward && on_backward && both_busy ? both_busy : capacity;
  return curve ? curve->at(flows) : Rate{infinity};
}

/// Each side gets its share, or the rate left by the other side if that is larger.
CapacityGroup::Bounds CapacityGroup::bounds(const Load& load) const {
  const double flows = load.flows / load.unit;
  const Rate all = bound(flows, load.forward > 0, load.backward > 0);
  if (!forward_share || flows < 2 || load.forward == 0 || load.backward == 0)
    return {all, Rate{infinity}, Rate{infinity}};
  const auto side = [&](double share, double other_demand) {
    return Rate{std::max(share * all.value, all.value - other_demand)};
  };
  return {all, side(*forward_share, load.backward_demand),
          side(1 - *forward_share, load.forward_demand)};
}

namespace {

using StridedPoints = std::span<const StridedEfficiency::Point>;

/// Interpolates points of one pitch: linear in the logarithm of the column, constant
/// beyond the points.
double by_column(StridedPoints points, Bytes column) {
  const auto above =
      std::ranges::find_if(points, [=](const auto& p) { return column <= p.column; });
  if (above == points.begin()) return points.front().efficiency;
  if (above == points.end()) return points.back().efficiency;
  const auto &a = above[-1], &b = above[0];
  return between(a.efficiency, b.efficiency, std::log2(column.value),
                 std::log2(a.column.value), std::log2(b.column.value));
}

/// Interpolates points of all pitches: linear also in the logarithm of the pitch, and
/// constant beyond the points. Multiples of the border and other pitches are interpolated
/// separately, if points of the same kind exist.
double interpolated(StridedPoints points, Bytes border, Bytes column, Bytes pitch) {
  const auto on_border = [&](Bytes at) {
    return border > Bytes{0} &&
           (std::isinf(at.value) || std::fmod(at.value, border.value) == 0);
  };
  const auto alike = [&](const auto& point) {
    return on_border(point.pitch) == on_border(pitch);
  };
  const bool any_alike = std::ranges::any_of(points, alike);
  double below = 1, efficiency = 1;
  std::optional<Bytes> before;
  for (size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && points[end].pitch == points[begin].pitch) ++end;
    if (any_alike && !alike(points[begin])) continue;
    const Bytes here = points[begin].pitch;
    efficiency = by_column(points.subspan(begin, end - begin), column);
    if (pitch <= here)
      return before ? between(below, efficiency, std::log2(pitch.value),
                              std::log2(before->value), std::log2(here.value))
                    : efficiency;
    below = efficiency, before = here;
  }
  return efficiency;
}

}  // namespace

double StridedEfficiency::at(Bytes column) const {
  return interpolated(points, border, column, Bytes{infinity});
}

/// With x the time to find the pages relative to packed bytes, and x' the same for
/// columns that are too far apart to share lines, the relative time under interference is
///   (1 + any (beside - 1)) (x + kernels forgotten max(0, x' - x))
double StridedEfficiency::beside_others(const std::vector<Point>& curve,
                                        const Copy& copy) const {
  const auto finding = [&](Bytes pitch) {
    return 1 / interpolated(curve, border, copy.column, pitch) - 1;
  };
  double time = finding(copy.pitch);
  if (const double pushed = copy.interference.kernels * forgotten;
      pushed > 0 && copy.pitch < line)
    time +=
        pushed * std::max(0.0, finding(copy.pitch * std::ceil(line / copy.pitch)) - time);
  return 1 / (1 + (1 + copy.interference.any * (beside - 1)) * time);
}

double StridedEfficiency::of(const Copy& copy) const {
  const bool as_peer = copy.between_devices && !peer.empty();
  const bool as_back = copy.to_host && !back.empty();
  const std::vector<Point>& curve = as_peer ? peer : as_back ? back : points;
  const double first = copy.between_devices
                           ? interpolated(curve, border, copy.column, copy.pitch)
                           : beside_others(curve, copy);
  if (as_peer || as_back || copy.between_devices || copy.again == 0 || again.empty())
    return first;
  const double second = interpolated(again, border, copy.column, copy.pitch);
  return 1 / ((1 - copy.again) / first + copy.again / second);
}

namespace {

std::vector<Memory> with_interleaved_memory(std::vector<Memory> memories) {
  Memory interleaved;
  interleaved.name = interleaved_name, interleaved.kind = VertexKind::host;
  for (const auto i : indices(memories))
    if (memories[i].kind == VertexKind::host) interleaved.over.push_back(MemoryId{i});
  if (interleaved.over.size() > 1) memories.push_back(std::move(interleaved));
  return memories;
}

}  // namespace

/// A route between two memories.
struct Route {
  std::vector<LinkId> links = {};  // in order; empty without a route and if src == dst
  int parts = 1;                   // equal parts of the bytes of a copy
  std::vector<Topology::LinkUse> uses = {};     // in the order of `links`
  std::vector<Topology::GroupUse> groups = {};  // ascending, each once
  Seconds latency{0};
  Rate alone{infinity};  // of a single copy
  std::vector<Topology::RouteShare> shares =
      {};  // between two memories of the description, if there are several
};

/// The routes of a machine, found on first use. The constructor of Topology documents the
/// rule.
class Routes {
 public:
  /// `description` must be checked; `memories` begins with its memories, followed by
  /// memories that represent several of them.
  Routes(std::shared_ptr<const Topology::Description> description,
         std::shared_ptr<const std::vector<Memory>> memories)
      : d_{std::move(description)},
        memories_{std::move(memories)},
        paths_{*d_},
        groups_of_(d_->links.size()),
        routes_{memories_->size()} {
    for (const auto& named : d_->routes) {
      RouteShares& shares = named_[{
          named.from, named.to}];  // stays empty if the description forbids copies
      if (!named.links.empty()) shares.push_back({named.links, named.share});
    }
    for (auto& [pair, shares] : named_) {
      int divisor = 0;
      for (const Topology::RouteShare& each : shares)
        divisor = std::gcd(divisor, each.share);
      if (divisor < 2) continue;
      for (Topology::RouteShare& each : shares) each.share /= divisor;
    }
    for (const auto i : indices(d_->groups)) {
      for (const LinkId link : d_->groups[i].forward)
        groups_of_[link.index()].push_back({GroupId{i}, 1, 0, 1});
      for (const LinkId link : d_->groups[i].backward)
        groups_of_[link.index()].push_back({GroupId{i}, 0, 1, 1});
    }
  }

  const Route& of(MemoryId src, MemoryId dst) {
    // runs in one thread at a time
    return routes_.of(src, dst, [&] { return found(src, dst); });
  }

 private:
  Route found(MemoryId src, MemoryId dst) {
    if (src == dst) return {};
    std::vector<RouteShares> pairs;
    int parts = 1;  // per pair: a common multiple of the parts of every pair
    for (const MemoryId& from : parts_of(src))
      for (const MemoryId& to : parts_of(dst)) {
        pairs.push_back(shares_of(from, to));
        if (pairs.back().empty()) return {};  // part of the bytes cannot get there
        parts = std::lcm(parts, parts_in(pairs.back()));
      }
    Route route;
    route.parts = int(pairs.size()) * parts;
    for (const RouteShares& shares : pairs)
      for (const Topology::RouteShare& each : shares)
        add(each.links, each.share * (parts / parts_in(shares)), route);
    if (pairs.size() == 1 && pairs.front().size() > 1)
      route.shares = std::move(pairs.front());
    std::ranges::sort(route.groups, {}, &Topology::GroupUse::group);
    route.alone = rate_of(route);
    return route;
  }

  /// The rate of a single copy.
  Rate rate_of(const Route& taken) const {
    Rate rate{infinity};
    const auto bounded = [&](Rate bound, int parts) {
      rate = std::min(rate, bound * taken.parts / parts);
    };
    for (const Topology::LinkUse& use : taken.uses) {
      const Link& link = d_->links[use.link.index()];
      bounded(link.bandwidth, use.parts);
      if (link.per_flow) bounded(*link.per_flow, use.parts);
    }
    for (const Topology::GroupUse& use : taken.groups)
      bounded(d_->groups[use.group.index()].bound(double(use.parts) / taken.parts,
                                                  use.forward > 0, use.backward > 0),
              use.parts);
    return rate;
  }

  std::span<const MemoryId> parts_of(const MemoryId& memory) const {
    const std::vector<MemoryId>& over = (*memories_)[memory.index()].over;
    return over.empty() ? std::span{&memory, 1} : std::span{over};
  }

  using RouteShares = std::vector<Topology::RouteShare>;

  static int parts_in(const RouteShares& shares) {
    return std::accumulate(
        shares.begin(), shares.end(), 0,
        [](int sum, const Topology::RouteShare& each) { return sum + each.share; });
  }

  /// Routes between two memories of the description; a single empty route within one.
  RouteShares shares_of(MemoryId src, MemoryId dst) {
    if (src == dst) return RouteShares(1);
    if (const auto named = named_.find({src, dst}); named != named_.end())
      return named->second;
    RouteShares shares;
    for (auto& links : paths_.all(src, dst, d_->split_paths ? TopologyLimits::ways : 1))
      shares.push_back({std::move(links)});
    return shares;
  }

  /// Adds a route for this many parts of the bytes.
  void add(const std::vector<LinkId>& path, int parts, Route& route) const {
    Seconds latency{0};
    for (const LinkId link : path) {
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
    for (const Topology::GroupUse& use : groups_on(path)) {
      auto known = std::ranges::find(route.groups, use.group, &Topology::GroupUse::group);
      if (known == route.groups.end())
        known = route.groups.insert(known, {use.group, 0, 0, 0});
      known->forward += parts * use.forward, known->backward += parts * use.backward;
      known->parts += parts;
    }
  }

  /// Each group once, however many of its links are in the route.
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
  std::map<std::pair<MemoryId, MemoryId>, RouteShares> named_;
  std::vector<std::vector<Topology::GroupUse>> groups_of_;  // by link
  PairTable<Route> routes_;
};

Topology::Topology(Description description) {
  name_links(description);
  check_description(description);
  d_ = std::make_shared<const Description>(std::move(description));
  memories_ =
      std::make_shared<const std::vector<Memory>>(with_interleaved_memory(d_->memories));
  for (const auto i : indices(d_->memories))
    (is_host(MemoryId{i}) ? hosts_ : gpus_).push_back(MemoryId{i});
  std::ranges::sort(gpus_, {}, [this](MemoryId gpu) { return processor(gpu).device; });
  processors_ = gpus_;
  std::ranges::copy_if(hosts_, std::back_inserter(processors_),
                       [this](MemoryId host) { return computes(host); });
  routes_ = std::make_shared<Routes>(d_, memories_);
}

std::optional<MemoryId> Topology::find_gpu(int device) const {
  for (MemoryId gpu : gpus_)
    if (processor(gpu).device == device) return gpu;
  return std::nullopt;
}

std::string Topology::processor_name(MemoryId id) const {
  if (is_gpu(id)) return memory(id).name;
  const auto host = std::ranges::find(hosts_, id) - hosts_.begin();
  const std::string name = fmt::format("cpu{}", host);
  const bool is_taken =
      std::ranges::find(d_->vertices, name, &Vertex::name) != d_->vertices.end();
  return is_taken ? fmt::format("cores{}", host) : name;
}

std::optional<MemoryId> Topology::find_processor(std::string_view text) const {
  for (const MemoryId id : processors_) {
    const int device = processor(id).device;
    if (text == processor_name(id) || (device >= 0 && text == std::to_string(device)))
      return id;
  }
  return std::nullopt;
}

std::optional<MemoryId> Topology::find_memory(std::string_view name) const {
  for (const auto i : indices(memories()))
    if (memories()[i].name == name) return MemoryId{i};
  return std::nullopt;
}

std::span<const LinkId> Topology::route(MemoryId src, MemoryId dst) const {
  return routes_->of(src, dst).links;
}

std::span<const Topology::RouteShare> Topology::route_shares(MemoryId src,
                                                             MemoryId dst) const {
  return routes_->of(src, dst).shares;
}

int Topology::parts(MemoryId src, MemoryId dst) const {
  return routes_->of(src, dst).parts;
}

std::span<const Topology::LinkUse> Topology::links_on(MemoryId src, MemoryId dst) const {
  return routes_->of(src, dst).uses;
}

std::span<const Topology::GroupUse> Topology::groups_on(MemoryId src,
                                                        MemoryId dst) const {
  return routes_->of(src, dst).groups;
}

Seconds Topology::latency(MemoryId src, MemoryId dst) const {
  return routes_->of(src, dst).latency;
}

Rate Topology::pair_rate(MemoryId src, MemoryId dst) const {
  if (!has_route(src, dst))
    throw InfeasibleError{
        name(),
        {},
        fmt::format("no route from '{}' to '{}'", memory(src).name, memory(dst).name)};
  return routes_->of(src, dst).alone;
}

}  // namespace tilerail
