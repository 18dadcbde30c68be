#include "study/whatif/alike.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail::study {
namespace {

/// The figures of an item and the colours of its neighbours, as numbers.
using Features = std::vector<double>;

/// Colour refinement: items have colours and neighbours. The colours of the neighbours split each colour, until no
/// colour splits.
class ColourRefinement {
 public:
  size_t add(Features features) {
    features_.push_back(std::move(features));
    neighbours_.emplace_back();
    return features_.size() - 1;
  }
  Features& features(size_t item) { return features_[item]; }
  /// A directed edge: the two ends see it differently.
  void join(size_t a, size_t b, double edge) {
    neighbours_[a].emplace_back(edge, b);
    neighbours_[b].emplace_back(-edge, a);
  }

  std::vector<size_t> colours() const {
    std::vector<size_t> colours;
    size_t before = 0, now = recolour(colours, features_);
    for (; now > before; before = std::exchange(now, refine(colours))) {
    }
    return colours;
  }

 private:
  /// Numbers the colours from 0, equal keys alike. Returns the number of colours.
  static size_t recolour(std::vector<size_t>& colours, const std::vector<Features>& all) {
    std::map<Features, size_t> numbers;
    colours.clear();
    for (const Features& features : all) colours.push_back(numbers.emplace(features, numbers.size()).first->second);
    return numbers.size();
  }

  size_t refine(std::vector<size_t>& colours) const {
    std::vector<Features> all;
    for (const auto i : indices(colours)) {
      std::vector<std::pair<double, size_t>> seen;
      for (const auto& [edge, other] : neighbours_[i]) seen.emplace_back(edge, colours[other]);
      std::ranges::sort(seen);
      all.push_back({double(colours[i])});
      for (const auto& [edge, colour] : seen) all.back().insert(all.back().end(), {edge, double(colour)});
    }
    return recolour(colours, all);
  }

  std::vector<Features> features_;
  std::vector<std::vector<std::pair<double, size_t>>> neighbours_;
};

void add(Features& features, const std::optional<CapacityCurve>& curve) {
  features.push_back(curve ? double(curve->points.size()) : -1);
  if (curve)
    for (const CapacityCurve::Point& point : curve->points)
      features.insert(features.end(), {point.flows, point.rate.value});
}

Features features_of(MemoryId id, const Topology& topology, const GemmProblem& problem,
                     std::span<const MemoryId> devices) {
  const Memory& memory = topology.memory(id);
  Features features{double(memory.kind), memory.capacity.value_or(Bytes{-1}).value, double(memory.kernels)};
  for (const auto& count : {memory.engines.h2d, memory.engines.d2h, memory.engines.peer, memory.engines.total})
    features.push_back(count.value_or(0));
  for (const MemoryId& place : {problem.place_a, problem.place_b, problem.place_c}) {
    const auto parts = topology.parts_of(place);
    features.push_back(std::ranges::find(parts, id) != parts.end());
  }
  features.push_back(std::ranges::find(devices, id) != devices.end());
  return features;
}

/// Nodes, links and groups, in this order.
ColourRefinement refinement_of(const Topology& topology, const GemmProblem& problem,
                               std::span<const MemoryId> devices) {
  enum Edge { from = 1, to, forward, backward, unreachable };
  const Topology::Description& d = topology.description();
  ColourRefinement items;
  for (const Node& node : d.nodes) items.add({0, double(node.kind)});
  for (const auto i : indices(d.memories))
    items.features(d.memories[i].node.index()) = features_of(MemoryId{i}, topology, problem, devices);
  std::vector<Features> shares(d.links.size());
  for (const auto& route : d.routes) {
    for (const LinkId link : route.links) shares[link.index()].push_back(route.share);
    if (route.links.empty())
      items.join(d.memories[route.from.index()].node.index(), d.memories[route.to.index()].node.index(), unreachable);
  }
  for (const auto i : indices(d.links)) {
    const Link& link = d.links[i];
    std::ranges::sort(shares[i]);
    const size_t item =
        items.add({1, link.bandwidth.value, link.latency.value, link.per_flow.value_or(Rate{-1}).value});
    items.features(item).insert(items.features(item).end(), shares[i].begin(), shares[i].end());
    items.join(item, link.from.index(), from);
    items.join(item, link.to.index(), to);
  }
  for (const CapacityGroup& group : d.groups) {
    const size_t item = items.add({2, group.forward_share.value_or(-1)});
    add(items.features(item), group.capacity);
    add(items.features(item), group.both_busy);
    for (const LinkId link : group.forward) items.join(item, d.nodes.size() + link.index(), forward);
    for (const LinkId link : group.backward) items.join(item, d.nodes.size() + link.index(), backward);
  }
  return items;
}

/// "gpu12->plx0" as the texts between its numbers and the numbers. Long ones stay text.
struct NumberedName {
  std::vector<std::string> texts{1};
  std::vector<long> numbers;

  explicit NumberedName(const std::string& name) {
    constexpr size_t most_digits = 9;
    for (size_t i = 0; i < name.size();) {
      size_t end = i;
      while (end < name.size() && end - i < most_digits && name[end] >= '0' && name[end] <= '9') ++end;
      if (end == i) {
        texts.back() += name[i++];
        continue;
      }
      numbers.push_back(std::stol(name.substr(i, end - i)));
      texts.emplace_back(), i = end;
    }
  }
};

/// "3", "[0-3]" or "[0,2-4]".
std::string numbers_text(std::vector<long> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() == 1) return fmt::format("{}", numbers.front());
  std::vector<std::string> runs;
  for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    runs.push_back(end - begin == 1 ? fmt::format("{}", numbers[begin])
                                    : fmt::format("{}-{}", numbers[begin], numbers[end - 1]));
  }
  return fmt::format("[{}]", fmt::join(runs, ","));
}

}  // namespace

std::vector<std::vector<Knob>> classes_of_alike(const Topology& topology, const GemmProblem& problem,
                                                std::span<const MemoryId> devices) {
  const Topology::Description& d = topology.description();
  const std::vector<size_t> colours = refinement_of(topology, problem, devices).colours();
  const auto colour_of = [&](const Knob& knob) -> size_t {
    switch (knob.kind) {
      case Knob::Kind::link:
        return colours[d.nodes.size() + knob.index];
      case Knob::Kind::group:
        return colours[d.nodes.size() + d.links.size() + knob.index];
      case Knob::Kind::engine:
        return 4 * colours[d.memories[knob.index].node.index()] + knob.role;
      case Knob::Kind::kernels:
        return knob.index;
      default:
        return 0;  // latencies are one part, and so is the issue cost
    }
  };
  std::vector<std::vector<Knob>> classes;
  std::map<std::pair<Knob::Kind, size_t>, size_t> number_of;
  for (const Knob& knob : knobs_of(topology)) {
    const auto [found, fresh] = number_of.emplace(std::pair{knob.kind, colour_of(knob)}, classes.size());
    if (fresh) classes.emplace_back();
    classes[found->second].push_back(knob);
  }
  return classes;
}

std::string common_name(std::span<const std::string> names) {
  const NumberedName first{names.front()};
  std::vector<std::vector<long>> numbers(first.numbers.size());
  for (const std::string& name : names) {
    const NumberedName each{name};
    if (each.texts != first.texts)
      return names.size() == 2 ? fmt::format("{}, {}", names[0], names[1])
                               : fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
    for (const auto i : indices(numbers)) numbers[i].push_back(each.numbers[i]);
  }
  std::string text = first.texts.front();
  for (const auto i : indices(numbers)) text += numbers_text(numbers[i]) + first.texts[i + 1];
  return text;
}

}  // namespace tilerail::study
