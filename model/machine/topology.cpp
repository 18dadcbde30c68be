#include "model/machine/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/machine/routes.hpp"
#include "model/machine/spread_memories.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Linear interpolation: `low` at x = a, `high` at x = b.
double between(double low, double high, double x, double a, double b) { return low + (high - low) * (x - a) / (b - a); }

}  // namespace

Rate CapacityCurve::at(double flows) const {
  const auto above = std::ranges::find_if(points, [=](const Point& p) { return flows <= p.flows; });
  if (above == points.begin()) return points.front().rate;
  if (above == points.end()) return points.back().rate;
  const Point &a = above[-1], &b = above[0];
  return Rate{between(a.rate.value, b.rate.value, flows, a.flows, b.flows)};
}

Rate CapacityGroup::bound(double flows, bool on_forward, bool on_backward) const {
  const auto& curve = on_forward && on_backward && both_busy ? both_busy : capacity;
  return curve ? curve->at(flows) : Rate{infinity};
}

/// Each side gets its share, or what the other side leaves if that is more.
CapacityGroup::Bounds CapacityGroup::bounds(const Load& load) const {
  const double flows = load.flows / load.unit;
  const Rate all = bound(flows, load.forward > 0, load.backward > 0);
  if (!forward_share || flows < 2 || load.forward == 0 || load.backward == 0)
    return {all, Rate{infinity}, Rate{infinity}};
  const auto side = [&](double share, double other_demand) {
    return Rate{std::max(share * all.value, all.value - other_demand)};
  };
  return {all, side(*forward_share, load.backward_demand), side(1 - *forward_share, load.forward_demand)};
}

namespace {

using StridedPoints = std::span<const StridedEfficiency::Point>;

/// By points of one pitch: linear in the logarithm of the column, constant beyond the points.
double by_column(StridedPoints points, Bytes column) {
  const auto above = std::ranges::find_if(points, [=](const auto& p) { return column <= p.column; });
  if (above == points.begin()) return points.front().efficiency;
  if (above == points.end()) return points.back().efficiency;
  const auto &a = above[-1], &b = above[0];
  return between(a.efficiency, b.efficiency, std::log2(column.value), std::log2(a.column.value),
                 std::log2(b.column.value));
}

/// By points of all pitches: linear in the logarithm of the pitch, too, and constant beyond. A pitch that is a multiple
/// of the border is compared with such pitches only, any other one with the others, where there are points of its kind.
double interpolated(StridedPoints points, Bytes border, Bytes column, Bytes pitch) {
  const auto on_border = [&](Bytes at) {
    return border > Bytes{0} && (std::isinf(at.value) || std::fmod(at.value, border.value) == 0);
  };
  const auto alike = [&](const auto& point) { return on_border(point.pitch) == on_border(pitch); };
  const bool any_alike = std::ranges::any_of(points, alike);
  double below = 1, efficiency = 1;
  std::optional<Bytes> before;
  for (size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    while (end < points.size() && points[end].pitch == points[begin].pitch) ++end;
    if (any_alike && !alike(points[begin])) continue;
    const Bytes here = points[begin].pitch;
    efficiency = by_column(points.subspan(begin, end - begin), column);
    if (pitch <= here)
      return before
                 ? between(below, efficiency, std::log2(pitch.value), std::log2(before->value), std::log2(here.value))
                 : efficiency;
    below = efficiency, before = here;
  }
  return efficiency;
}

}  // namespace

double StridedEfficiency::at(Bytes column) const { return interpolated(points, border, column, Bytes{infinity}); }

/// With x the time of finding the pages over that of packed bytes, and x' that of columns so far apart that none finds
/// the line of another, finding them in company takes
///   (1 + any (beside - 1)) (x + kernels forgotten max(0, x' - x))
double StridedEfficiency::beside_others(const std::vector<Point>& curve, const Copy& copy) const {
  const auto finding = [&](Bytes pitch) { return 1 / interpolated(curve, border, copy.column, pitch) - 1; };
  double time = finding(copy.pitch);
  if (const double pushed = copy.company.kernels * forgotten; pushed > 0 && copy.pitch < line)
    time += pushed * std::max(0.0, finding(copy.pitch * std::ceil(line / copy.pitch)) - time);
  return 1 / (1 + (1 + copy.company.any * (beside - 1)) * time);
}

double StridedEfficiency::of(const Copy& copy) const {
  const bool as_peer = copy.between_devices && !peer.empty();
  const bool as_back = copy.to_host && !back.empty();
  const std::vector<Point>& curve = as_peer ? peer : as_back ? back : points;
  const double first =
      copy.between_devices ? interpolated(curve, border, copy.column, copy.pitch) : beside_others(curve, copy);
  if (as_peer || as_back || copy.between_devices || copy.again == 0 || again.empty()) return first;
  const double second = interpolated(again, border, copy.column, copy.pitch);
  return 1 / ((1 - copy.again) / first + copy.again / second);
}

Topology::Topology(Description description) {
  check_description(description);
  const auto names = link_names(description.nodes, description.links);
  for (const auto i : indices(names)) description.links[i].name = names[i];
  d_ = std::make_shared<const Description>(std::move(description));
  memories_ = std::make_shared<const std::vector<Memory>>(with_spread_memories(d_->memories));
  for (const auto i : indices(d_->memories)) (is_host(MemoryId{i}) ? hosts_ : gpus_).push_back(MemoryId{i});
  std::ranges::sort(gpus_, {}, [this](MemoryId gpu) { return memory(gpu).device; });
  routes_ = std::make_shared<const Routes>(d_, memories_);
}

std::optional<MemoryId> Topology::find_gpu(int device) const {
  for (MemoryId gpu : gpus_)
    if (memory(gpu).device == device) return gpu;
  return std::nullopt;
}

std::optional<MemoryId> Topology::find_memory(std::string_view name) const {
  for (const auto i : indices(memories()))
    if (memories()[i].name == name) return MemoryId{i};
  return std::nullopt;
}

std::span<const LinkId> Topology::route(MemoryId src, MemoryId dst) const { return routes_->of(src, dst).links; }

std::span<const Topology::Way> Topology::ways(MemoryId src, MemoryId dst) const { return routes_->of(src, dst).ways; }

int Topology::parts(MemoryId src, MemoryId dst) const { return routes_->of(src, dst).parts; }

std::span<const Topology::LinkUse> Topology::links_on(MemoryId src, MemoryId dst) const {
  return routes_->of(src, dst).uses;
}

std::span<const Topology::GroupUse> Topology::groups_on(MemoryId src, MemoryId dst) const {
  return routes_->of(src, dst).groups;
}

Seconds Topology::latency(MemoryId src, MemoryId dst) const { return routes_->of(src, dst).latency; }

Rate Topology::pair_rate(MemoryId src, MemoryId dst) const {
  if (!has_route(src, dst))
    throw InputError{fmt::format("{}: no route from '{}' to '{}'", name(), memory(src).name, memory(dst).name)};
  const Routes::Route& way = routes_->of(src, dst);
  Rate rate{infinity};
  const auto bounded = [&](Rate bound, int parts) { rate = std::min(rate, bound * way.parts / parts); };
  for (const LinkUse& use : way.uses) {
    bounded(link(use.link).bandwidth, use.parts);
    if (const auto cap = link(use.link).per_flow) bounded(*cap, use.parts);
  }
  for (const GroupUse& use : way.groups)
    bounded(group(use.group).bound(double(use.parts) / way.parts, use.forward > 0, use.backward > 0), use.parts);
  return rate;
}

}  // namespace tilerail
