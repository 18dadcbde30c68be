#include "model/machine/graph_names.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/base/name_pattern.hpp"
#include "model/base/topology_limits.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

using Names = std::vector<std::string>;
using Limits = TopologyLimits;

/// "'b' is not a node", or "'b', 'c', 'd', 'e' and 4 more are not nodes"; nothing of a name that is the whole text.
std::string missing_text(const TomlValue& text, const Names& names, const char* one, const char* several,
                         const char* expected) {
  constexpr size_t most_told = 4;
  Names told;
  for (size_t i = 0; i < std::min(names.size(), most_told); ++i) told.push_back(in_quotes(names[i]));
  if (names.size() > most_told) told.back() += fmt::format(" and {} more", names.size() - most_told);
  const std::string who = text.text() == names[0] ? "" : fmt::format("{} ", fmt::join(told, ", "));
  return fmt::format("{}{} {}; expected {}", who, names.size() == 1 ? "is not a" : "are not",
                     names.size() == 1 ? one : several, expected);
}

/// Part `index` of `count` equal ones.
Names part_of(const Names& items, size_t index, size_t count, const TomlValue& value) {
  const size_t length = items.size() / count;
  if (items.empty() || items.size() % count != 0)
    value.fail(
        fmt::format("stands for {} names, and the table for {}; expected as many for each", items.size(), count));
  const auto begin = items.begin() + ptrdiff_t(index * length);
  return {begin, begin + ptrdiff_t(length)};
}

}  // namespace

std::vector<std::string> expanded_names(const TomlValue& text, size_t most) {
  const std::string pattern = text.text();
  if (pattern.find('[') == std::string::npos) return {pattern};
  try {
    return NamePattern{pattern}.expanded(most);
  } catch (const InputError& error) {
    text.fail(fmt::format("is not a list of names: {}", error.what()));
  }
}

std::vector<std::string> expanded_names(const TomlTable& table) {
  const auto name = table.find("name"), names = table.find("names");
  if (!names) return {table.need("name").text()};
  if (name) names->fail("stands next to 'name'; expected one of the two");
  if (!names->is_list()) return expanded_names(*names, Limits::nodes);
  Names all;
  for (const TomlValue& each : names->list(Limits::nodes))
    std::ranges::move(expanded_names(each, Limits::nodes), std::back_inserter(all));
  if (all.empty()) names->fail("is empty; expected at least one name");
  if (all.size() > Limits::nodes)
    names->fail(fmt::format("stands for {} names; expected at most {}", all.size(), Limits::nodes));
  return all;
}

NodePairs node_pairs(const std::vector<NodeId>& from, const std::vector<NodeId>& to, const TomlTable& table) {
  static constexpr std::array<std::string_view, 4> pairings{"all", "zip", "blocks", "cyclic"};
  const auto pairing = table.find("pairing");
  const std::string_view how = pairings[pairing ? pairing->one_of(pairings) : 0];
  NodePairs pairs;
  if (how == "all") {
    if (from.size() * to.size() > 2 * Limits::links)
      table.fail(fmt::format("too many links; expected at most {} in the file", Limits::links));
    for (const NodeId a : from)
      for (const NodeId b : to) pairs.emplace_back(a, b);
    return pairs;
  }
  const size_t longer = std::max(from.size(), to.size()), shorter = std::min(from.size(), to.size());
  if (how == "zip" ? longer != shorter : longer % shorter != 0)
    pairing->fail(fmt::format("joins {} nodes with {}; expected {}", from.size(), to.size(),
                              how == "zip" ? "as many on both sides" : "a multiple of one on the other side"));
  for (size_t i = 0; i < longer; ++i) {
    const size_t partner = how == "cyclic" ? i % shorter : i / (longer / shorter);
    pairs.emplace_back(from[from.size() == longer ? i : partner], to[to.size() == longer ? i : partner]);
  }
  return pairs;
}

/// The node that a name of the scope means; npos if there is none.
size_t GraphNames::find_node(std::string_view name) const {
  for (const std::string& prefix : scope->prefixes) {
    const auto known = nodes_.find(prefix + std::string{name});
    if (known != nodes_.end()) return known->second.index();
  }
  return npos;
}

/// Calls add(name) for each name that a text stands for. Refuses a name if add returns false.
template <class Add>
void GraphNames::each_name(const TomlValue& text, size_t most, const char* one, const char* several,
                           const char* expected, const Add& add) {
  Names missing;
  for (const std::string& name : expanded_names(text, most))
    if (!add(name)) missing.push_back(name);
  if (!missing.empty()) text.fail(missing_text(text, missing, one, several, expected));
}

std::vector<NodeId> GraphNames::nodes(const TomlValue& names) const {
  std::vector<TomlValue> list{names};
  if (names.is_list()) list = names.list(Limits::nodes);
  if (list.empty()) names.fail("is empty; expected at least one name");
  std::vector<NodeId> result;
  std::set<NodeId> seen;
  for (const TomlValue& text : list) {
    const auto add = [&](const std::string& name) {
      const size_t node = find_node(name);
      if (node == npos) return false;
      if (!seen.insert(NodeId{node}).second)
        text.fail(fmt::format("{}is listed twice; expected it once", text.text() == name ? "" : in_quotes(name) + " "));
      result.emplace_back(node);
      return true;
    };
    each_name(text, Limits::nodes, "node", "nodes", "names of memories or switches", add);
  }
  return result;
}

std::vector<MemoryId> GraphNames::memories(const TomlValue& text) const {
  std::vector<MemoryId> result;
  const auto add = [&](const std::string& name) {
    const size_t node = find_node(name);
    const auto known = node == npos ? memories_.end() : memories_.find(NodeId{node});
    if (known != memories_.end()) result.push_back(known->second);
    return known != memories_.end();
  };
  each_name(text, Limits::routes, "memory", "memories", "names of memories", add);
  return result;
}

void GraphNames::add_links() {
  link_names_ = link_names(d_.nodes, d_.links);
  links_at_.resize(d_.nodes.size());
  for (size_t i = 0; i < d_.links.size(); ++i) {
    links_.emplace(link_names_[i], LinkId{i});
    links_at_[d_.links[i].from.index()].out.push_back(LinkId{i});
    links_at_[d_.links[i].to.index()].in.push_back(LinkId{i});
    all_links_.push_back(LinkId{i});
  }
}

/// The end of a link as the machine names it, with the "#2" of a second link.
std::string GraphNames::full_name(const std::string& end) const {
  const std::string name = end.substr(0, end.find('#'));
  const size_t node = find_node(name);
  return node == npos ? scope->prefix() + end : d_.nodes[node].name + end.substr(name.size());
}

/// The links of which some may be from `from` to `to`, names or patterns.
const std::vector<LinkId>& GraphNames::candidates(const std::string& from, const std::string& to) const {
  const size_t first = find_node(from), last = find_node(to);
  if (first != npos) return links_at_[first].out;
  return last != npos ? links_at_[last].in : all_links_;
}

/// Links that fit with one end at least among the scope's own nodes.
void GraphNames::add_matching_links(const TomlValue& text, const std::string& from, const std::string& to,
                                    Names& names) const {
  constexpr size_t most_matched = size_t{1} << 24;  // seconds of work; files of machines need thousands
  std::vector<NamePattern> patterns;
  for (const std::string& outer : scope->prefixes) {
    patterns.emplace_back(fmt::format("{}{}->{}{}", scope->prefix(), from, outer, to));
    patterns.emplace_back(fmt::format("{}{}->{}{}", outer, from, scope->prefix(), to));
  }
  const auto& links = candidates(from, to);
  matched_ += links.size() * patterns.size();
  if (matched_ > most_matched) text.fail("is one pattern too many for so many links; expected names of links");
  for (const LinkId link : links) {
    const std::string& name = link_names_[link.index()];
    if (std::ranges::any_of(patterns, [&](const NamePattern& pattern) { return pattern.matches(name); }))
      names.push_back(name);
  }
}

/// The links that "from->to#2" with ranges, '*' and '?' stands for.
Names GraphNames::links_of(const TomlValue& text) const {
  Names names, missing;
  for (const std::string& name : expanded_names(text, Limits::links)) {
    const size_t arrow = name.find("->");
    if (arrow == npos) text.fail("is not a link; expected \"from->to\" of a [[link]]");
    const std::string from = name.substr(0, arrow), to = name.substr(arrow + 2);
    if (name.find_first_of("*?") == npos)
      names.push_back(full_name(from) + "->" + full_name(to));
    else
      add_matching_links(text, from, to, names);
  }
  if (names.empty()) text.fail("fits no link; expected \"from->to\" of a [[link]]");
  std::ranges::copy_if(names, std::back_inserter(missing), [&](const auto& name) { return !links_.contains(name); });
  if (!missing.empty()) text.fail(missing_text(text, missing, "link", "links", "\"from->to\" of a [[link]]"));
  return names;
}

std::vector<std::vector<LinkId>> GraphNames::links(const TomlValue& list, size_t count) const {
  std::vector<std::vector<LinkId>> entries(count);
  for (const TomlValue& text : list.list(Limits::links)) {
    const Names names = links_of(text);
    for (size_t i = 0; i < count; ++i)
      for (const std::string& name : names.size() == 1 ? names : part_of(names, i, count, text))
        entries[i].push_back(links_.find(name)->second);
  }
  return entries;
}

}  // namespace tilerail
