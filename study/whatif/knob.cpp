#include "study/whatif/knob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "study/whatif/faster.hpp"

namespace tilerail::study {
namespace {

constexpr std::array<std::string_view, 4> roles{"h2d", "d2h", "peer", "total"};

/// The greatest of the times that issuing takes.
Seconds longest(const IssueCost& issue) {
  const GraphCost graph = issue.graph.value_or(GraphCost{});
  return std::max({issue.per_op, issue.per_call, issue.per_dependency, issue.per_kernel.value_or(Seconds{0}),
                   issue.hand_on, graph.per_call, graph.per_copy, graph.per_kernel, graph.per_dependency,
                   graph.between_gpus});
}

std::string rate_of(const CapacityGroup& group) {
  const auto& curve = group.capacity ? group.capacity : group.both_busy;
  return brief_text(curve->saturated());
}

}  // namespace

const char* to_string(Knob::Kind kind) {
  switch (kind) {
    case Knob::Kind::link:
      return "link";
    case Knob::Kind::group:
      return "group";
    case Knob::Kind::engine:
      return "engine";
    case Knob::Kind::kernels:
      return "kernels";
    case Knob::Kind::latency:
      return "latency";
    case Knob::Kind::issue:
      return "issue";
  }
  return "";
}

std::vector<Knob> knobs_of(const Topology& topology) {
  std::vector<Knob> knobs;
  const Topology::Description& d = topology.description();
  for (const auto i : indices(d.links)) knobs.push_back({Knob::Kind::link, i});
  for (const auto i : indices(d.groups)) knobs.push_back({Knob::Kind::group, i});
  for (const auto i : indices(d.memories))
    for (const auto role : indices(roles))
      if (engines_of(d.memories[i], role)) knobs.push_back({Knob::Kind::engine, i, role});
  for (const auto i : indices(d.kernels)) knobs.push_back({Knob::Kind::kernels, i});
  for (const auto i : indices(d.links))
    if (d.links[i].latency > Seconds{0}) knobs.push_back({Knob::Kind::latency, i});
  if (longest(d.issue) > Seconds{0}) knobs.push_back({Knob::Kind::issue});
  return knobs;
}

std::string place_of(const Knob& knob, const Topology& topology) {
  const Topology::Description& d = topology.description();
  switch (knob.kind) {
    case Knob::Kind::link:
    case Knob::Kind::latency:
      return d.links[knob.index].name;
    case Knob::Kind::group:
      return d.groups[knob.index].name;
    case Knob::Kind::engine:
      return fmt::format("{}.{}", d.memories[knob.index].name, roles[knob.role]);
    case Knob::Kind::kernels:
      return d.kernels[knob.index].name;
    case Knob::Kind::issue:
      return "";
  }
  return "";
}

std::string name_of(const Knob& knob, const Topology& topology) {
  const std::string place = place_of(knob, topology);
  return place.empty() ? to_string(knob.kind) : fmt::format("{}:{}", to_string(knob.kind), place);
}

std::string value_of(const Knob& knob, const Topology& topology, const GemmProblem& problem) {
  const Topology::Description& d = topology.description();
  switch (knob.kind) {
    case Knob::Kind::link:
      return brief_text(d.links[knob.index].bandwidth);
    case Knob::Kind::latency:
      return brief_text(d.links[knob.index].latency);
    case Knob::Kind::group:
      return rate_of(d.groups[knob.index]);
    case Knob::Kind::engine:
      return fmt::format("{}", *engines_of(d.memories[knob.index], knob.role));
    case Knob::Kind::kernels: {
      const KernelTimes& kernels = d.kernels[knob.index];
      const bool known = kernels.knows(problem.dtype, problem.trans_a, problem.trans_b);
      return known ? brief_text(kernels.peak(problem.dtype, problem.trans_a, problem.trans_b)) : "unknown";
    }
    case Knob::Kind::issue:
      return brief_text(d.issue.per_op > Seconds{0} ? d.issue.per_op : longest(d.issue));
  }
  return "";
}

Topology improved(const Topology& topology, std::span<const Knob> knobs, double factor) {
  Topology::Description d = topology.description();
  std::vector<bool> unbounded(d.groups.size(), false);
  for (const Knob& knob : knobs) switch (knob.kind) {
      case Knob::Kind::link:
        make_faster(d.links[knob.index], factor);
        break;
      case Knob::Kind::group:
        unbounded[knob.index] = factor == without_limit;
        if (!unbounded[knob.index]) make_faster(d.groups[knob.index], factor);
        break;
      case Knob::Kind::engine:
        multiply_engines(d.memories[knob.index], knob.role, factor);
        break;
      case Knob::Kind::kernels:
        make_faster(d.kernels[knob.index], factor);
        break;
      case Knob::Kind::latency:
        d.links[knob.index].latency = shorter(d.links[knob.index].latency, factor);
        break;
      case Knob::Kind::issue:
        make_faster(d.issue, factor);
        break;
    }
  std::vector<CapacityGroup> groups;
  for (size_t i = 0; i < d.groups.size(); ++i)
    if (!unbounded[i]) groups.push_back(std::move(d.groups[i]));
  d.groups = std::move(groups);
  return Topology{std::move(d)};
}

}  // namespace tilerail::study
