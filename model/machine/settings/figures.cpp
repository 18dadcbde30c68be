#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "model/base/name_pattern.hpp"
#include "model/base/nearest.hpp"
#include "model/machine/settings/description_editor.hpp"
#include "model/machine/settings/parts_left.hpp"

namespace tilerail {
namespace {

/// What a name of a setting stands for: the item that has this very name, else all that fit; of links "a<->b" both
/// directions.
class Names {
 public:
  template <class Items>
  Names(const std::string& name, const Items& items) {
    const auto is_there = [&](const std::string& one) {
      return std::any_of(items.begin(), items.end(), [&](const auto& item) { return item.name == one; });
    };
    std::vector<std::string> directions{name};
    if (const std::size_t both = name.find("<->"); both != std::string::npos && !is_there(name)) {
      const std::string left = name.substr(0, both), right = name.substr(both + 3);
      directions = {fmt::format("{}->{}", left, right), fmt::format("{}->{}", right, left)};
    }
    for (const std::string& each : directions)
      if (is_there(each))
        exact_.push_back(each);
      else
        patterns_.emplace_back(each);
  }

  bool hold(const std::string& name) const {
    return std::find(exact_.begin(), exact_.end(), name) != exact_.end() ||
           std::any_of(patterns_.begin(), patterns_.end(), [&](const NamePattern& p) { return p.matches(name); });
  }

 private:
  std::vector<std::string> exact_;
  std::vector<NamePattern> patterns_;
};

/// Each figure that a field of a key stands for.
std::vector<std::string> figures_in(const std::string& field) {
  if (field == "bounds") return {"capacity", "both_busy"};
  if (field == "rate") return {"f64.rate", "f32.rate", "f16.rate", "bf16.rate", "tf32.rate"};
  return {field};
}

FlopRate fastest(const GemmCurve& curve) {
  if (curve.tiled) return curve.tiled->peak;
  FlopRate rate{0};
  for (const GemmCurve::Point& point : curve.points) rate = std::max(rate, point.rate);
  return rate;
}

/// Of a rule, the measured shapes stay as many times faster or slower than the rule as they were.
void speed_up(GemmCurve& curve, const KernelTimes& kernels, double factor) {
  for (GemmCurve::Point& point : curve.points) point.rate *= factor;
  if (!curve.tiled) return;
  const TiledGemm before = *curve.tiled;
  curve.tiled->peak *= factor;
  for (TiledGemm::Shape& shape : curve.tiled->shapes) {
    const auto time = [&](const TiledGemm& tiled) {
      return tiled
          .uncorrected(shape.m, shape.n, shape.k, kernels.multiprocessors,
                       static_cast<double>(element_size(curve.dtype)), *kernels.memory_bandwidth)
          .time;
    };
    shape.time *= time(*curve.tiled) / time(before);
  }
}

}  // namespace

template <class Items>
std::vector<bool> DescriptionEditor::named(const Items& items, const char* kind, const std::string& name) const {
  const Names names = [&] {
    try {
      return Names{name, items};
    } catch (const InputError& error) {
      fail(error.what());
    }
  }();
  std::vector<bool> fits;
  std::vector<std::string> there;
  for (const auto& item : items) fits.push_back(names.hold(item.name)), there.push_back(item.name);
  if (std::ranges::count(fits, true) == 0)
    fail(fmt::format("there is no {} {}; {}", kind, in_quotes(name), known_names(name, there)));
  return fits;
}

template <class Items, class Change>
void DescriptionEditor::each(Items& items, const char* kind, const Target& target, const Change& change) {
  const std::vector<bool> fits = named(items, kind, target.name);
  bool changed = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!fits[i] || !change(items[i])) continue;
    changed = true;
    mark(items[i].source);
    for (const std::string& figure : figures_in(target.field))
      figures_.insert(fmt::format("{} {}.{}", kind, items[i].name, figure));
  }
  if (!changed)
    fail(fmt::format("{} {} has no such figure; expected one that the machine has", kind, in_quotes(target.name)));
}

void DescriptionEditor::apply_to_part(std::string_view key, const SettingValue& value) {
  const bool of_links = key.starts_with("link:");
  const std::string name{key.substr(key.find(':') + 1)};
  const auto fits = of_links ? named(d_.links, "link", name) : named(d_.memories, "memory", name);
  const auto keeps = [&](std::size_t i) { return !fits[i]; };
  for (std::size_t i = 0; i < fits.size(); ++i)
    if (fits[i]) figures_.insert(of_links ? "link " + d_.links[i].name : "memory " + d_.memories[i].name);
  if (!value.is_none()) return;
  if (of_links) {
    d_ = with_parts(
        d_, [](const Memory&) { return true; }, [&](LinkId link) { return keeps(link.index()); });
  } else {
    for (std::size_t i = 0; i < fits.size(); ++i)
      if (fits[i] && d_.memories[i].kind != NodeKind::gpu)
        fail(fmt::format("{} is host memory; expected GPUs", in_quotes(d_.memories[i].name)));
    d_ = with_parts(
        d_, [&](const Memory& memory) { return keeps(static_cast<std::size_t>(&memory - d_.memories.data())); },
        [](LinkId) { return true; });
  }
  std::string removed;
  mark(removed);
}

void DescriptionEditor::apply_to_links(const Target& target, const SettingValue& value) {
  each(d_.links, "link", target, [&](Link& link) {
    if (target.field == "per_flow") return value.apply(link.per_flow, TopologyLimits::rate);
    if (target.field == "bandwidth")
      value.apply(link.bandwidth, TopologyLimits::rate);
    else
      value.apply(link.latency, TopologyLimits::latency);
    return true;
  });
}

void DescriptionEditor::apply_to_groups(const Target& target, const SettingValue& value) {
  each(d_.groups, "group", target, [&](CapacityGroup& group) {
    if (target.field == "forward_share") return value.apply(group.forward_share, TopologyLimits::forward_share);
    if (target.field == "both_busy" && group.backward.empty()) return false;
    const bool first = target.field != "both_busy" && value.apply(group.capacity);
    const bool second = target.field == "both_busy" || (target.field == "bounds" && group.both_busy);
    return (second && value.apply(group.both_busy)) || first;
  });
  const auto unbounded = [](const std::optional<CapacityCurve>& curve) {
    return !curve || std::all_of(curve->points.begin(), curve->points.end(),
                                 [](const auto& point) { return point.rate >= TopologyLimits::rate.most; });
  };
  std::erase_if(d_.groups,
                [&](const CapacityGroup& group) { return unbounded(group.capacity) && unbounded(group.both_busy); });
}

void DescriptionEditor::apply_to_memories(const Target& target, const SettingValue& value) {
  const auto figure = [&](Memory& memory) {
    if (target.field == "capacity") return value.apply(memory.capacity, TopologyLimits::capacity);
    if (target.field == "watts.idle") return value.apply(memory.idle_watts, TopologyLimits::watts);
    if (target.field == "watts.busy") return value.apply(memory.busy_watts, TopologyLimits::watts);
    Engines& engines = memory.engines;
    auto& count = target.field == "engines.h2d"    ? engines.h2d
                  : target.field == "engines.d2h"  ? engines.d2h
                  : target.field == "engines.peer" ? engines.peer
                                                   : engines.total;
    return value.apply(count, TopologyLimits::engines);
  };
  each(d_.memories, "memory", target, figure);
  for (const Memory& memory : d_.memories) d_.nodes[memory.node.index()].source = memory.source;
}

bool DescriptionEditor::apply_rate(KernelTimes& kernels, std::string_view dtype, const SettingValue& value) {
  const auto meant = [&](const GemmCurve& curve) { return dtype.empty() || to_string(curve.dtype) == dtype; };
  if (dtype.empty() && !value.is_factor() && !value.is_inf())
    value.fail("is one rate for all types; expected a factor such as x2, or the rate of one: NAME.f64.rate");
  FlopRate most{0};
  for (const GemmCurve& curve : kernels.gemm)
    if (meant(curve)) most = std::max(most, fastest(curve));
  if (most == FlopRate{0}) return false;
  const double factor = value.factor_on(most);
  for (GemmCurve& curve : kernels.gemm) {
    if (!meant(curve)) continue;
    speed_up(curve, kernels, factor);
    mark(curve.source);
  }
  return true;
}

void DescriptionEditor::apply_to_kernels(const Target& target, const SettingValue& value) {
  const std::size_t dot = target.field.find('.');
  const std::string dtype = dot == std::string::npos ? "" : target.field.substr(0, dot);
  each(d_.kernels, "kernels", target, [&](KernelTimes& kernels) {
    if (target.field == "memory_bandwidth") return value.apply(kernels.memory_bandwidth, TopologyLimits::rate);
    if (target.field == "launch")
      value.apply(kernels.launch, TopologyLimits::latency);
    else if (target.field == "multiprocessors")
      value.apply(kernels.multiprocessors, TopologyLimits::multiprocessors);
    else
      return apply_rate(kernels, dtype, value);
    return true;
  });
}

void DescriptionEditor::apply_to_issue(std::string_view field, const SettingValue& value) {
  IssueCost& issue = d_.issue;
  constexpr std::string_view of_graph = "graph.";
  if (field.starts_with(of_graph))
    apply_to_graph(field.substr(of_graph.size()), value);
  else if (field == "per_op")
    value.apply(issue.per_op, TopologyLimits::latency);
  else if (field == "per_call")
    value.apply(issue.per_call, TopologyLimits::latency);
  else if (field == "per_dependency")
    value.apply(issue.per_dependency, TopologyLimits::latency);
  else if (field == "hand_on")
    value.apply(issue.hand_on, TopologyLimits::latency);
  else if (field != "per_kernel")
    fail(
        "the key is unknown; expected issue. and one of per_op, per_kernel, per_dependency, per_call, hand_on, graph.");
  else if (!value.apply(issue.per_kernel, TopologyLimits::latency))
    fail("the machine has no such figure to multiply; expected a value");
  mark(issue.source);
  figures_.insert(fmt::format("issue.{}", field));
}

void DescriptionEditor::apply_to_graph(std::string_view field, const SettingValue& value) {
  constexpr std::array<std::pair<std::string_view, Seconds GraphCost::*>, 5> figures{
      {{"per_call", &GraphCost::per_call},
       {"per_copy", &GraphCost::per_copy},
       {"per_kernel", &GraphCost::per_kernel},
       {"per_dependency", &GraphCost::per_dependency},
       {"between_gpus", &GraphCost::between_gpus}}};
  const auto* const named = std::ranges::find(figures, field, &decltype(figures)::value_type::first);
  if (named == figures.end())
    fail(
        "the key is unknown; expected issue.graph. and one of per_call, per_copy, per_kernel, per_dependency, "
        "between_gpus");
  if (!d_.issue.graph) fail("the machine has no costs of graphs; expected a machine with a 'graph' in [issue]");
  value.apply((*d_.issue.graph).*named->second, TopologyLimits::latency);
}

}  // namespace tilerail
