#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/base/name_pattern.hpp"
#include "model/machine/expanded_names.hpp"
#include "model/machine/node_pairs.hpp"
#include "model/machine/topology_reader.hpp"

namespace tilerail {

using Table = TopologyDefect::Table;

namespace {

/// Of names that a text stands for: "'b' is no node", or "'b', 'c', 'd' and 4 more are no nodes".
std::string missing_text(const TomlValue& text, const std::vector<std::string>& names, const char* one,
                         const char* several) {
  if (names.size() == 1)
    return fmt::format("{}is {}", text.text() == names.front() ? "" : in_quotes(names.front()) + " ", one);
  constexpr std::size_t most_told = 4;
  std::string told;
  for (std::size_t i = 0; i < std::min(names.size(), most_told); ++i) told += (i > 0 ? ", " : "") + in_quotes(names[i]);
  if (names.size() > most_told) told += fmt::format(" and {} more", names.size() - most_told);
  return fmt::format("{} are {}", told, several);
}

}  // namespace

/// One name, or a list of different ones, each of which may have ranges. Those that are none are reported and left out.
std::vector<NodeId> TopologyReader::nodes(const TomlValue& names, bool& complete) const {
  std::vector<TomlValue> list{names};
  if (names.is_list()) list = names.list(TopologyLimits::nodes);
  std::vector<NodeId> result;
  std::set<NodeId> seen;
  const auto add_nodes = [&](const TomlValue& each) {
    std::vector<std::string> missing;
    for (const std::string& name : expanded_names(each, TopologyLimits::nodes)) {
      const std::size_t node = find_node(name);
      if (node == std::string_view::npos)
        missing.push_back(name);
      else if (seen.insert(NodeId{node}).second)
        result.emplace_back(node);
      else
        each.fail(fmt::format("{}is listed twice; expected it once", each.text() == name ? "" : in_quotes(name) + " "));
    }
    if (!missing.empty() && unknown_.nodes) throw TomlConsequence{};
    if (!missing.empty())
      each.fail(missing_text(each, missing, "no node", "no nodes") + "; expected the name of a memory or switch");
  };
  for (const TomlValue& each : list) complete = collecting(errors_, [&] { add_nodes(each); }) && complete;
  if (list.empty()) names.report("is empty; expected at least one name");
  return result;
}

/// A name is not linked to itself, and each direction is added once.
void TopologyReader::add_links(TomlTable& table, const std::vector<std::pair<NodeId, NodeId>>& pairs,
                               const Link& link) {
  const auto both_value = table.find("both");
  const bool both = both_value && both_value->boolean();
  if (d_.links.size() + pairs.size() * (both ? 2 : 1) > TopologyLimits::links)
    table.fail(fmt::format("too many links; expected at most {} in the file", TopologyLimits::links));
  std::set<std::pair<NodeId, NodeId>> added;
  const auto add = [&](NodeId a, NodeId b) {
    if (a == b || !added.emplace(a, b).second) return;
    d_.links.push_back(link);
    d_.links.back().from = a;
    d_.links.back().to = b;
    places_[Table::link].push_back(table.place());
  };
  for (const auto& [a, b] : pairs) {
    add(a, b);
    if (both) add(b, a);
  }
}

void TopologyReader::read_links(TomlTable& table) {
  table.allow_only({"from", "to", "pairing", "bandwidth", "latency", "per_flow", "both", "source"});
  const TomlValue from = table.need("from"), to = table.need("to");
  bool complete = true;
  const auto sources = nodes(from, complete), targets = nodes(to, complete);
  if (sources.size() == 1 && targets == sources) to.fail("is where the link comes from; expected another node");
  const auto end = [this](const TomlValue& names, const std::vector<NodeId>& known) {
    if (known.empty()) return names.is_text() ? names.text() : "...";
    return d_.nodes[known.front().index()].name + (known.size() > 1 ? ",..." : "");
  };
  table.rename("link " + in_quotes(end(from, sources) + "->" + end(to, targets)));
  Link link;
  link.bandwidth = table.need("bandwidth").rate(TopologyLimits::rate);
  link.latency = table.need("latency").seconds(TopologyLimits::latency);
  if (const auto per_flow = table.find("per_flow")) link.per_flow = per_flow->rate(TopologyLimits::rate);
  link.source = source_of(table);
  if (!complete || sources.empty() || targets.empty()) throw TomlConsequence{};
  add_links(table, node_pairs(sources, targets, table), link);
}

std::string TopologyReader::full_name(const std::string& end) const {
  const std::string name = end.substr(0, end.find('#'));  // "#2" of a second link
  const std::size_t node = find_node(name);
  return node == std::string::npos ? scope_->prefix() + end : d_.nodes[node].name + end.substr(name.size());
}

const std::vector<LinkId>& TopologyReader::candidates(const std::string& from, const std::string& to) const {
  const std::size_t first = find_node(from), last = find_node(to);
  if (first != std::string::npos) return links_at_[first].out;
  return last != std::string::npos ? links_at_[last].in : all_links_;
}

/// Links that fit with one end at least among the scope's own nodes.
void TopologyReader::add_matching_links(const TomlValue& text, const std::string& from, const std::string& to,
                                        std::vector<std::string>& names) const {
  constexpr std::size_t most_matched = std::size_t{1} << 24;  // seconds of work; files of machines need thousands
  std::vector<NamePattern> patterns;
  for (const std::string& outer : scope_->prefixes) {
    patterns.emplace_back(fmt::format("{}{}->{}{}", scope_->prefix(), from, outer, to));
    patterns.emplace_back(fmt::format("{}{}->{}{}", outer, from, scope_->prefix(), to));
  }
  const auto& links = candidates(from, to);
  matched_ += links.size() * patterns.size();
  if (matched_ > most_matched) text.fail("is one pattern too many for so many links; expected names of links");
  for (const LinkId link : links) {
    const std::string& name = ordered_links_[link.index()];
    if (std::ranges::any_of(patterns, [&](const NamePattern& pattern) { return pattern.matches(name); }))
      names.push_back(name);
  }
}

void TopologyReader::index_links() {
  ordered_links_ = tilerail::link_names(d_.nodes, d_.links);
  links_at_.resize(d_.nodes.size());
  for (std::size_t i = 0; i < d_.links.size(); ++i) {
    links_.emplace(ordered_links_[i], LinkId{i});
    links_at_[d_.links[i].from.index()].out.push_back(LinkId{i});
    links_at_[d_.links[i].to.index()].in.push_back(LinkId{i});
    all_links_.push_back(LinkId{i});
  }
}

std::vector<std::string> TopologyReader::link_names_of(const TomlValue& text) const {
  std::vector<std::string> names;
  for (const std::string& name : expanded_names(text, TopologyLimits::links)) {
    const std::size_t arrow = name.find("->");
    if (arrow == std::string::npos) text.fail("is a missing link; expected \"from->to\" of a [[link]]");
    const std::string from = name.substr(0, arrow), to = name.substr(arrow + 2);
    if (name.find_first_of("*?") == std::string::npos)
      names.push_back(full_name(from) + "->" + full_name(to));
    else
      add_matching_links(text, from, to, names);
  }
  if (names.empty() && unknown_.links) throw TomlConsequence{};
  if (names.empty()) text.fail("fits no link; expected \"from->to\" of some [[link]]");
  std::vector<std::string> missing;
  std::ranges::copy_if(names, std::back_inserter(missing), [this](const auto& name) { return !links_.contains(name); });
  if (!missing.empty() && unknown_.links) throw TomlConsequence{};
  if (!missing.empty())
    text.fail(missing_text(text, missing, "a missing link", "missing links") + "; expected \"from->to\" of a [[link]]");
  return names;
}

std::vector<std::vector<LinkId>> TopologyReader::links(const TomlValue& list, std::size_t count, bool& complete) const {
  std::vector<std::vector<LinkId>> entries(count);
  const auto add_links_of = [&](const TomlValue& text) {
    const auto names = link_names_of(text);
    for (std::size_t i = 0; i < count; ++i)
      for (const std::string& name : names.size() == 1 ? names : part_of(names, i, count, text))
        entries[i].push_back(links_.find(name)->second);
  };
  for (const TomlValue& each : list.list(TopologyLimits::links))
    complete = collecting(errors_, [&] { add_links_of(each); }) && complete;
  return entries;
}

CapacityGroup TopologyReader::read_bounds(const TomlTable& table) {
  table.allow_only({"name", "names", "forward", "backward", "capacity", "both_busy", "forward_share", "source"});
  CapacityGroup group;
  if (const auto capacity = table.find("capacity")) group.capacity = read_capacity(*capacity);
  if (const auto both_busy = table.find("both_busy")) group.both_busy = read_capacity(*both_busy);
  if (const auto share = table.find("forward_share"))
    group.forward_share = share->number(TopologyLimits::forward_share);
  group.source = source_of(table);
  return group;
}

/// The links of several groups in one table are dealt out: each of their texts stands for as many links for each, or
/// for one link that they share.
void TopologyReader::read_groups(TomlTable& table) {
  const auto names = expanded_names(table);
  table.rename("group " + in_quotes(scope_->prefix() + names.front()));
  CapacityGroup group = read_bounds(table);
  bool complete = true;
  const auto forward = links(table.need("forward"), names.size(), complete);
  const auto other = table.find("backward");
  const auto backward = other ? links(*other, names.size(), complete) : std::vector<std::vector<LinkId>>(names.size());
  if (!complete) throw TomlConsequence{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    group.name = scope_->prefix() + names[i];
    group.forward = forward[i];
    group.backward = backward[i];
    d_.groups.push_back(group);
    places_[Table::group].push_back(table.place());
  }
}

std::vector<MemoryId> TopologyReader::memories(const TomlValue& text, bool& complete) const {
  std::vector<MemoryId> result;
  const auto add_memories = [&] {
    std::vector<std::string> missing;
    for (const std::string& name : expanded_names(text, TopologyLimits::routes)) {
      const std::size_t node = find_node(name);
      const auto known = node == std::string_view::npos ? memories_.end() : memories_.find(NodeId{node});
      if (known == memories_.end())
        missing.push_back(name);
      else
        result.push_back(known->second);
    }
    if (!missing.empty() && unknown_.nodes) throw TomlConsequence{};
    if (!missing.empty())
      text.fail(missing_text(text, missing, "no memory", "no memories") + "; expected the name of one");
  };
  complete = collecting(errors_, add_memories) && complete;
  return result;
}

/// How many names there are, known or not; none where they cannot be told, which somebody else says.
std::size_t names_in(const TomlValue& text) try {
  return expanded_names(text, TopologyLimits::routes).size();
} catch (const InputError&) {
  return 0;
}

/// From each of `from` to that of `to` beside it, where one may stand for all; links are dealt out as those of groups.
void TopologyReader::read_routes(TomlTable& table) {
  table.allow_only({"from", "to", "links", "share", "source"});
  const TomlValue from = table.need("from"), to = table.need("to");
  table.rename(fmt::format("route {} to {}", in_quotes(from.text()), in_quotes(to.text())));
  bool complete = true;
  const auto starts = memories(from, complete), ends = memories(to, complete);
  const auto share_value = table.find("share");
  const auto share =
      share_value ? static_cast<int>(share_value->integer(TopologyLimits::share.least, TopologyLimits::share.most)) : 1;
  const std::string source = source_of(table);
  const std::size_t count = std::max(starts.size(), ends.size());
  if (complete && std::min(starts.size(), ends.size()) != count && starts.size() != 1 && ends.size() != 1)
    to.fail(
        fmt::format("stands for {} memories, and 'from' for {}; expected as many, or one", ends.size(), starts.size()));
  const auto over = links(table.need("links"), std::max({count, names_in(from), names_in(to)}), complete);
  if (!complete) throw TomlConsequence{};
  for (std::size_t i = 0; i < count; ++i) {
    const auto end_of = [&](const std::vector<MemoryId>& all) { return all[all.size() == 1 ? 0 : i]; };
    d_.routes.push_back({end_of(starts), end_of(ends), over[i], source, share});
    places_[Table::route].push_back(table.place());
  }
}

}  // namespace tilerail
