#include "study/whatif/alike.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tilerail::study {
namespace {

/// What something looks like, as numbers: those of its figures and the colours around it.
using Look = std::vector<double>;

/// Equal looks get equal colours, numbered by their order.
std::vector<double> colours_of(const std::vector<Look>& looks) {
  std::map<Look, double> numbers;
  for (const Look& look : looks) numbers.emplace(look, 0);
  double next = 0;
  for (auto& [look, number] : numbers) number = next++;
  std::vector<double> colours;
  for (const Look& look : looks) colours.push_back(numbers.at(look));
  return colours;
}

std::size_t kinds(const std::vector<double>& colours) {
  return colours.empty() ? 0 : static_cast<std::size_t>(*std::ranges::max_element(colours)) + 1;
}

void add(Look& look, const std::optional<CapacityCurve>& curve) {
  look.push_back(curve ? static_cast<double>(curve->points.size()) : -1);
  if (curve)
    for (const CapacityCurve::Point& point : curve->points) look.insert(look.end(), {point.flows, point.rate.value});
}

void add_sorted(Look& look, Look around) {
  std::ranges::sort(around);
  look.push_back(static_cast<double>(around.size()));
  look.insert(look.end(), around.begin(), around.end());
}

/// Colours of nodes, links and groups that get finer as each takes up those around it.
class Refinement {
 public:
  Refinement(const Topology& topology, const GemmProblem& problem, std::span<const MemoryId> devices)
      : d_{topology.description()} {
    std::vector<Look> nodes, links, groups;
    for (const Node& node : d_.nodes) nodes.push_back({static_cast<double>(node.kind)});
    for (std::size_t i = 0; i < d_.memories.size(); ++i)
      nodes[d_.memories[i].node.index()] = look_of(MemoryId{i}, topology, problem, devices);
    for (const Link& link : d_.links)
      links.push_back({link.bandwidth.value, link.latency.value, link.per_flow.value_or(Rate{-1}).value});
    for (const CapacityGroup& group : d_.groups) {
      add(groups.emplace_back(), group.capacity), add(groups.back(), group.both_busy);
      groups.back().push_back(group.forward_share.value_or(-1));
    }
    nodes_ = colours_of(nodes), links_ = colours_of(links), groups_ = colours_of(groups);
    for (std::size_t before = 0, now = count(); now > before; before = now, now = count()) refine();
  }

  const std::vector<double>& links() const { return links_; }
  const std::vector<double>& groups() const { return groups_; }
  double memory(std::size_t index) const { return nodes_[d_.memories[index].node.index()]; }

 private:
  Look look_of(MemoryId id, const Topology& topology, const GemmProblem& problem,
               std::span<const MemoryId> devices) const {
    const Memory& memory = d_.memories[id.index()];
    Look look{static_cast<double>(memory.kind), memory.capacity.value_or(Bytes{-1}).value,
              static_cast<double>(memory.kernels)};
    for (const auto& count : {memory.engines.h2d, memory.engines.d2h, memory.engines.peer, memory.engines.total})
      look.push_back(count.value_or(0));
    for (const MemoryId& place : {problem.place_a, problem.place_b, problem.place_c}) {
      const auto parts = topology.parts_of(place);
      look.push_back(std::ranges::find(parts, id) != parts.end());
    }
    look.push_back(std::ranges::find(devices, id) != devices.end());
    return look;
  }

  std::size_t count() const { return kinds(nodes_) + kinds(links_) + kinds(groups_); }

  void refine() {
    std::vector<Look> nodes, links, groups;
    for (const double colour : nodes_) nodes.push_back({colour});
    for (const double colour : groups_) groups.push_back({colour});
    std::vector<Look> around_link(d_.links.size()), around_node(d_.nodes.size());
    for (std::size_t g = 0; g < d_.groups.size(); ++g) {
      for (const LinkId link : d_.groups[g].forward) around_link[link.index()].push_back(2 * groups_[g]);
      for (const LinkId link : d_.groups[g].backward) around_link[link.index()].push_back(2 * groups_[g] + 1);
      for (const auto* side : {&d_.groups[g].forward, &d_.groups[g].backward}) add_sorted(groups[g], colours(*side));
    }
    for (const auto& route : d_.routes) {
      for (const LinkId link : route.links) around_link[link.index()].push_back(-route.share);
      if (route.links.empty()) add_unreachable(route, around_node);
    }
    for (std::size_t i = 0; i < d_.links.size(); ++i) {
      const Link& link = d_.links[i];
      links.push_back({links_[i], nodes_[link.from.index()], nodes_[link.to.index()]});
      add_sorted(links.back(), std::move(around_link[i]));
      around_node[link.from.index()].push_back(2 * links_[i]);
      around_node[link.to.index()].push_back(2 * links_[i] + 1);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) add_sorted(nodes[i], std::move(around_node[i]));
    nodes_ = colours_of(nodes), links_ = colours_of(links), groups_ = colours_of(groups);
  }

  /// Of a pair without copies between them, whatever the links.
  void add_unreachable(const Topology::Description::NamedRoute& route, std::vector<Look>& around_node) const {
    const NodeId from = d_.memories[route.from.index()].node, to = d_.memories[route.to.index()].node;
    around_node[from.index()].push_back(-2 * nodes_[to.index()] - 1);
    around_node[to.index()].push_back(-2 * nodes_[from.index()] - 2);
  }

  Look colours(const std::vector<LinkId>& ids) const {
    Look found;
    for (const LinkId id : ids) found.push_back(links_[id.index()]);
    return found;
  }

  const Topology::Description& d_;
  std::vector<double> nodes_, links_, groups_;
};

/// "gpu12->plx0" as the texts between its numbers and the numbers. Long ones stay text.
struct NumberedName {
  std::vector<std::string> texts{1};
  std::vector<long> numbers;

  explicit NumberedName(const std::string& name) {
    constexpr std::size_t most_digits = 9;
    for (std::size_t i = 0; i < name.size();) {
      std::size_t end = i;
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
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    runs.push_back(end - begin == 1 ? fmt::format("{}", numbers[begin])
                                    : fmt::format("{}-{}", numbers[begin], numbers[end - 1]));
  }
  return fmt::format("[{}]", fmt::join(runs, ","));
}

}  // namespace

std::vector<std::vector<Knob>> classes_of_alike(const Topology& topology, const GemmProblem& problem,
                                                std::span<const MemoryId> devices) {
  const Refinement colours{topology, problem, devices};
  const auto colour_of = [&](const Knob& knob) {
    switch (knob.kind) {
      case Knob::Kind::link:
        return colours.links()[knob.index];
      case Knob::Kind::group:
        return colours.groups()[knob.index];
      case Knob::Kind::engine:
        return 4 * colours.memory(knob.index) + static_cast<double>(knob.role);
      case Knob::Kind::kernels:
        return static_cast<double>(knob.index);
      default:
        return 0.0;  // latencies are one part, and so is the issue cost
    }
  };
  std::vector<std::vector<Knob>> classes;
  std::map<std::pair<Knob::Kind, double>, std::size_t> number_of;
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
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].push_back(each.numbers[i]);
  }
  std::string text = first.texts.front();
  for (std::size_t i = 0; i < numbers.size(); ++i) text += numbers_text(numbers[i]) + first.texts[i + 1];
  return text;
}

}  // namespace tilerail::study
