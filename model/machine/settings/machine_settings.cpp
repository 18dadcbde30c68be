#include "model/machine/settings/machine_settings.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "model/base/contains.hpp"
#include "model/base/digest.hpp"
#include "model/base/indices.hpp"
#include "model/base/known_names.hpp"
#include "model/base/name_pattern.hpp"
#include "model/base/number_text.hpp"
#include "model/base/parse.hpp"
#include "model/base/text.hpp"
#include "model/machine/figure_reader.hpp"
#include "model/machine/toml_text.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

using F = MachineFigures;
using Strings = std::vector<std::string>;
using Description = Topology::Description;

/// A kind of named items of a machine, and their figures that settings can change.
struct Kind {
  std::string name;
  Strings figures;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> kinds{{"link", keys_of(F::of_links, true)},
                            {"memory", keys_of(F::of_memories, true)},
                            {"group", keys_of(F::of_groups, true)},
                            {"kernels", keys_of(F::of_kernels, true)}};
    kinds[2].figures.emplace_back("bounds");
    kinds[3].figures.emplace_back("rate");
    for (const std::string_view dtype : dtype_names)
      kinds[3].figures.push_back(fmt::format("{}.rate", dtype));
    return kinds;
  }();
  return all;
}

/// "link:host->gpu*.bandwidth" as its kind, the name of items and the figure; the figure
/// may be empty.
struct Key {
  const Kind* kind = nullptr;  // null: a key without items
  std::string name, figure;

  /// The figure is the longest match, since names and some figures contain dots.
  explicit Key(std::string_view key) {
    for (const Kind& each : kinds())
      if (key.starts_with(each.name + ":")) kind = &each;
    if (!kind) return;
    name = key.substr(kind->name.size() + 1);
    for (const std::string& each : kind->figures)
      if (each.size() > figure.size() && name.size() > each.size() + 1 &&
          name.ends_with("." + each))
        figure = each;
    if (!figure.empty()) name.resize(name.size() - figure.size() - 1);
  }

  bool is_of(std::string_view kind_name) const { return kind && kind->name == kind_name; }
  /// Whole links or memories: "link:gpu0<->gpu1".
  bool is_part() const {
    return (is_of("link") || is_of("memory")) && figure.empty() && !name.empty();
  }
};

/// By item, whether a name matches: the item with exactly this name, else all items that
/// match the pattern. Names of links "a<->b" match both directions.
template <class Items>
std::vector<bool> named(const std::string& name, const Items& items) {
  const auto exists = [&](const std::string& one) {
    return std::ranges::any_of(items, [&](const auto& item) { return item.name == one; });
  };
  Strings directions{name};
  if (const size_t both = name.find("<->"); both != std::string::npos && !exists(name)) {
    const std::string left = name.substr(0, both), right = name.substr(both + 3);
    directions = {left + "->" + right, right + "->" + left};
  }
  std::vector<bool> fits(items.size());
  for (const std::string& each : directions) {
    const bool is_name = exists(each);
    const auto texts = is_name ? Strings{each} : expanded_names(each, F::links);
    const std::set<std::string> names{texts.begin(), texts.end()};
    const bool is_pattern = !is_name && each.find_first_of("*?") != std::string::npos;
    for (const auto i : indices(items))
      fits[i] = fits[i] || names.contains(items[i].name) ||
                (is_pattern && std::ranges::any_of(names, [&](const auto& like) {
                   return fits_pattern(like, items[i].name);
                 }));
  }
  return fits;
}

/// "x2" as 2; none for other texts.
std::optional<double> factor_of(std::string_view text) {
  if (!text.starts_with('x')) return std::nullopt;
  const auto factor = number_in<double>(text.substr(1));
  return factor && std::isfinite(*factor) && *factor >= 0 ? factor : std::nullopt;
}

/// A value as text and, if it is valid TOML, as a parsed vertex. Copies of vertices lose
/// their line number.
toml::table both_forms(const std::string& text) {
  toml::table forms{{"text", text}, {"parsed", text}};
  try {
    const toml::table parsed = parsed_toml("value = " + text, "");
    if (parsed.size() == 1) forms.insert_or_assign("parsed", *parsed.get("value"));
  } catch (const InputError&) {  // without quotes, "12 GB/s" is not TOML
  }
  return forms;
}

/// The value of a setting: a figure as in a topology file, but without quotes; "x2", a
/// factor; "inf", unlimited; or "none", as if the file lacked the key. Every member
/// throws InputError with the setting.
class SettingValue {
 public:
  /// `setting`: the complete setting, for errors.
  SettingValue(std::string_view text, std::string setting)
      : text_{text},
        setting_{std::move(setting)},
        factor_{factor_of(text)},
        table_{both_forms(text_)} {
    if (text.starts_with('x') && !factor_) fail("is not a factor", "such as x2 or x0.5");
  }

  bool is_factor() const { return factor_.has_value(); }
  bool is_inf() const { return text_ == "inf"; }
  bool is_none() const { return text_ == "none"; }
  const std::string& text() const { return text_; }
  [[noreturn]] void fail(std::string_view problem, std::string_view expected) const {
    throw InputError{setting_, text_, problem, expected};
  }

  /// Replaces a required figure. "inf" for a rate is the maximum of the range.
  template <class Value>
  bool apply(Value& figure, const Range<Value>& range) const {
    if (is_none())
      throw InputError{setting_, split_setting(setting_).first, "cannot be absent",
                       "a value"};
    if (is_factor())
      figure = product(figure, range);
    else if (!is_inf())
      figure = value(std::is_arithmetic_v<Value> ? "parsed" : "text").in(range);
    else if constexpr (std::is_same_v<Value, Rate> || std::is_same_v<Value, FlopRate>)
      figure = range.most;
    else
      fail("is invalid here", range.text);
    return true;
  }

  /// Replaces an optional figure. Returns false without a change if the value is a factor
  /// and the figure is absent.
  template <class Value>
  bool apply(std::optional<Value>& figure, const Range<Value>& range) const {
    constexpr bool absent_is_unbounded = std::is_same_v<Value, Bytes> ||
                                         std::is_same_v<Value, Rate> ||
                                         std::is_same_v<Value, int>;
    if (is_factor() && !figure) return false;
    Value changed = figure.value_or(Value{});
    if (is_none() || (is_inf() && absent_is_unbounded))
      figure.reset();
    else if (apply(changed, range))
      figure = changed;
    return true;
  }

  bool apply(std::optional<CapacityCurve>& curve) const {
    if (is_factor() && !curve) return false;
    if (is_none())
      curve.reset();
    else if (is_inf())
      curve = CapacityCurve{{{1, F::rate.most}}};
    else if (!is_factor())
      curve = read_curve(value("parsed"));
    else
      for (CapacityCurve::Point& point : curve->points) apply(point.rate, F::rate);
    return true;
  }

 private:
  template <class Value>
  Value product(Value figure, const Range<Value>& range) const {
    constexpr bool is_count = std::is_same_v<Value, int>;
    const auto result = figure * *factor_;
    bool fits = range.holds(result);
    if constexpr (is_count) fits = fits && result == std::floor(result);
    if (!fits)
      fail(fmt::format("gives {}", to_text(result)),
           fmt::format("{}{}", is_count ? "an integer, " : "", range.text));
    return static_cast<Value>(result);
  }

  TomlValue value(const char* form) const { return {table_.at(form), no_file, setting_}; }

  inline static const std::string no_file;
  std::string text_;
  std::string setting_;
  std::optional<double> factor_;
  toml::table table_;
};

FlopRate fastest(const GemmCurve& curve) {
  return curve.tiled ? curve.tiled->peak : curve.fastest();
}

/// Changes the rate of a curve. Measured shapes of a rule keep their ratio to the rule.
void speed_up(GemmCurve& curve, const KernelTimes& kernels, double factor) {
  for (GemmCurve::Point& point : curve.points) point.rate *= factor;
  for (auto& times : curve.tiles)
    for (GemmCurve::TileTime& tile : times) tile.time = tile.time / factor;
  if (!curve.tiled) return;
  const TiledGemm before = *curve.tiled;
  curve.tiled->peak *= factor;
  for (TiledGemm::Shape& shape : curve.tiled->shapes) {
    const auto time = [&](const TiledGemm& tiled) {
      return tiled
          .uncorrected({shape.m, shape.n, shape.k}, kernels.tiled_device(curve.dtype))
          .time;
    };
    shape.time *= time(*curve.tiled) / time(before);
  }
}

bool is_unbounded(const std::optional<CapacityCurve>& curve) {
  return !curve || std::ranges::all_of(curve->points, [](const auto& point) {
    return point.rate >= F::rate.most;
  });
}

using Stays = std::vector<bool>;  // by id

/// By old id: the new id of each kept item.
template <class Id>
using Renumbered = std::vector<std::optional<Id>>;

/// Removes all other items; returns the new ids.
template <class Id, class Item>
Renumbered<Id> keep(std::vector<Item>& items, const Stays& stays) {
  Renumbered<Id> ids(items.size());
  std::vector<Item> left;
  for (const auto i : indices(items)) {
    if (!stays[i]) continue;
    ids[i] = Id{left.size()};
    left.push_back(std::move(items[i]));
  }
  items = std::move(left);
  return ids;
}

/// Renumbers the kept items and removes the others.
template <class Id>
void renumber(std::vector<Id>& items, const Renumbered<Id>& ids) {
  std::erase_if(items, [&](Id id) { return !ids[id.index()]; });
  for (Id& id : items) id = *ids[id.index()];
}

/// Renumbers the parts of nodes, and removes nodes without memories.
void keep_parts(std::vector<Node>& nodes, const Renumbered<MemoryId>& memories,
                const Renumbered<VertexId>& vertices) {
  for (Node& node : nodes) {
    renumber(node.memories, memories);
    renumber(node.nics, vertices);
  }
  std::erase_if(nodes, [](const Node& node) { return node.memories.empty(); });
}

/// Keeps these memories and links. Also removes links at removed memories, removed links
/// of groups, groups without links, nodes without memories, and routes with a removed end
/// or link; their pairs then take the shortest path.
void keep_parts(Description& d, const Stays& memory_stays, Stays link_stays) {
  Stays vertex_stays(d.vertices.size(), true);
  for (const auto i : indices(d.memories))
    vertex_stays[d.memories[i].vertex.index()] = memory_stays[i];
  for (const auto i : indices(d.links))
    if (!vertex_stays[d.links[i].from.index()] || !vertex_stays[d.links[i].to.index()])
      link_stays[i] = false;
  const auto vertices = keep<VertexId>(d.vertices, vertex_stays);
  const auto memories = keep<MemoryId>(d.memories, memory_stays);
  const auto links = keep<LinkId>(d.links, link_stays);
  for (Memory& each : d.memories) each.vertex = *vertices[each.vertex.index()];
  keep_parts(d.nodes, memories, vertices);
  for (Link& each : d.links)
    each.from = *vertices[each.from.index()], each.to = *vertices[each.to.index()];
  for (CapacityGroup& group : d.groups) {
    renumber(group.forward, links);
    renumber(group.backward, links);
    if (group.forward.empty()) group.forward.swap(group.backward);
    if (group.backward.empty()) group.both_busy.reset(), group.forward_share.reset();
  }
  std::erase_if(d.groups, [](auto& group) {
    return group.forward.empty() || (!group.capacity && !group.both_busy);
  });
  std::erase_if(d.routes, [&](auto& route) {
    const size_t length = route.links.size();
    renumber(route.links, links);
    return !memories[route.from.index()] || !memories[route.to.index()] ||
           route.links.size() < length;
  });
  for (auto& route : d.routes)
    route.from = *memories[route.from.index()], route.to = *memories[route.to.index()];
}

/// Changes figures of a description, one setting after another, and gives changed items a
/// source that lists the settings.
class DescriptionEditor {
 public:
  explicit DescriptionEditor(Description description) : d_{std::move(description)} {
    while (std::ranges::find(d_.sources, source_, &Source::key) != d_.sources.end())
      source_ += "+set";
  }

  /// Applies "KEY=VALUE". Throws InputError "KEY=VALUE: ...".
  void apply(const std::string& setting) {
    setting_ = setting;
    const auto [text, value_text] = split_setting(setting);
    SettingValue value{value_text, setting};
    Key key{text};
    if (text == "name") {
      d_.name = value.text();
      renamed_ = true;
    } else if (text == "gpus") {
      apply_to_gpus(value);
    } else if (text.starts_with("issue.")) {
      apply_to_issue(text.substr(std::string_view{"issue."}.size()), value);
    } else if (!key.kind) {
      fail(fmt::format("the key {} is unknown", in_quotes(text)), setting_keys);
    } else if (key.is_part() && (value.is_none() || value.text() == "x1")) {
      apply_to_part(key, value);
    } else {
      apply_to_items(key, value);
    }
    settings_.push_back(setting);
  }

  /// The description with the new name and the new source. Throws InputError if the name
  /// is invalid.
  Description result() {
    if (!marked_.empty())
      d_.sources.push_back({source_, Source::Kind::assumed,
                            fmt::format("set: {}", fmt::join(marked_, "; "))});
    if (!renamed_) d_.name = name_with(d_.name, settings_);
    if (!is_name(d_.name))
      throw InputError{"name=" + d_.name, d_.name, "is not a name", expected_name};
    return std::move(d_);
  }

 private:
  [[noreturn]] void fail(std::string_view problem, std::string_view expected) const {
    throw fault_of(setting_, problem, expected);
  }

  /// Sets `source` to the source with the settings.
  void mark(std::string& source) {
    source = source_;
    if (marked_.empty() || marked_.back() != setting_) marked_.push_back(setting_);
  }

  void apply_to_gpus(const SettingValue& value) {
    std::vector<int> numbers;
    for (const Memory& memory : d_.memories)
      if (memory.kind == VertexKind::gpu) numbers.push_back(memory.processor->device);
    std::ranges::sort(numbers);
    const auto gpus = int(numbers.size());
    int count = gpus;  // the base of factors
    const std::string range = fmt::format("1 to {}, the GPUs of the machine", gpus);
    value.apply(count, {1, gpus, range.c_str()});
    Stays stays;
    for (const Memory& memory : d_.memories)
      stays.push_back(memory.kind != VertexKind::gpu ||
                      memory.processor->device <= numbers[size_t(count) - 1]);
    keep_parts(d_, stays, Stays(d_.links.size(), true));
  }

  /// By item, whether the key matches. Moves the begin of an unknown figure, as in
  /// "NAME.f99.rate", from the name to the figure.
  template <class Items>
  std::vector<bool> named_items(const Items& items, Key& key) const try {
    for (const size_t end : {key.name.size(), key.name.rfind('.')}) {
      std::vector<bool> fits = named(key.name.substr(0, end), items);
      if (std::ranges::count(fits, true) == 0) continue;
      if (end < key.name.size()) {
        const std::string dot = key.figure.empty() ? "" : ".";
        key.figure.insert(0, key.name.substr(end + 1) + dot);
        key.name.resize(end);
      }
      return fits;
    }
    Strings names;
    for (const auto& item : items) names.push_back(item.name);
    throw InputError{key.kind->name, key.name, "does not exist; " + known_names(names)};
  } catch (const InputError& error) {
    throw error.within(setting_);
  }

  /// Removes the matching items if the value is "none".
  void apply_to_part(Key& key, const SettingValue& value) {
    Stays memories(d_.memories.size(), true), links(d_.links.size(), true);
    if (key.is_of("link"))
      (links = named_items(d_.links, key)).flip();
    else
      (memories = named_items(d_.memories, key)).flip();
    if (!value.is_none()) return;
    for (const auto i : indices(memories))
      if (!memories[i] && d_.memories[i].kind != VertexKind::gpu)
        fail(fmt::format("{} is host memory", in_quotes(d_.memories[i].name)), "GPUs");
    keep_parts(d_, memories, links);
    std::string removed;
    mark(removed);
  }

  void apply_to_items(Key& key, SettingValue& value) {
    const auto set_in = [&](const auto& figures) {
      return [&](auto& part) { return set(part, figures, key.figure, value); };
    };
    if (key.is_of("link")) each(d_.links, key, value, set_in(F::of_links));
    if (key.is_of("memory")) each(d_.memories, key, value, set_in(F::of_memories));
    if (key.is_of("kernels"))
      each(d_.kernels, key, value,
           [&](auto& kernels) { return set_kernels(kernels, key.figure, value); });
    if (key.is_of("group")) {
      each(d_.groups, key, value,
           [&](auto& group) { return set_bounds(group, key.figure, value); });
      std::erase_if(d_.groups, [](auto& group) {
        return is_unbounded(group.capacity) && is_unbounded(group.both_busy);
      });
    }
    for (const Memory& memory : d_.memories)
      d_.vertices[memory.vertex.index()].source = memory.source;
  }

  /// Calls `change`, which applies the value to the key's figure, for every matching
  /// item, and marks the items for which it returns true.
  template <class Items, class Change>
  void each(Items& items, Key& key, SettingValue& value, const Change& change) {
    const std::vector<bool> fits = named_items(items, key);
    const auto change_all = [&] {
      bool changed = false;
      for (const auto i : indices(items)) {
        if (!fits[i] || !change(items[i])) continue;
        changed = true;
        mark(items[i].source);
      }
      return changed;
    };
    if (change_all()) return;
    const std::string removal = key.is_part() ? ", or NAME=none, which removes it" : "";
    const std::string problem = fmt::format("{} {} has no figure {}", key.kind->name,
                                            in_quotes(key.name), in_quotes(key.figure));
    Strings existing;
    value = {"x1", setting_};
    for (const std::string& figure : key.kind->figures)
      if (key.figure = figure; change_all()) existing.push_back(figure);
    fail(problem, fmt::format("one of: {}{}", fmt::join(existing, ", "), removal));
  }

  /// False if the part lacks the figure.
  template <class Part, class Figures>
  static bool set(Part& part, const Figures& figures, std::string_view key,
                  const SettingValue& value) {
    return change_at(part, figures, key, [&](const auto& figure, auto& member) {
      if constexpr (requires { figure.range; })
        return value.apply(member, figure.range);
      else if constexpr (requires { value.apply(member); })
        return value.apply(member);
      else
        return false;
    });
  }

  static bool set_bounds(CapacityGroup& group, const std::string& figure,
                         const SettingValue& value) {
    if (figure == "both_busy" && group.backward.empty()) return false;
    if (figure != "bounds") return set(group, F::of_groups, figure, value);
    const bool both = group.both_busy && value.apply(group.both_busy);
    return value.apply(group.capacity) || both;
  }

  bool set_kernels(KernelTimes& kernels, const std::string& figure,
                   const SettingValue& value) {
    if (!figure.ends_with("rate")) return set(kernels, F::of_kernels, figure, value);
    if (figure == "rate" && !value.is_factor() && !value.is_inf())
      value.fail("is one rate for all types",
                 "a factor such as x2, or the rate of one: NAME.f64.rate");
    const auto meant = [&](const GemmCurve& curve) {
      return figure == "rate" || figure == fmt::format("{}.rate", to_string(curve.dtype));
    };
    FlopRate before{0};
    for (const GemmCurve& curve : kernels.gemm)
      if (meant(curve)) before = std::max(before, fastest(curve));
    if (before == FlopRate{0}) return false;
    FlopRate after = before;
    value.apply(after, F::flop_rate);
    for (GemmCurve& curve : kernels.gemm) {
      if (!meant(curve)) continue;
      speed_up(curve, kernels, after / before);
      mark(curve.source);
    }
    return true;
  }

  void apply_to_issue(const std::string& figure, const SettingValue& value) {
    const auto keys = keys_of(F::of_issue, true);
    if (!contains(keys, figure))
      fail("the key is unknown",
           fmt::format("issue. and one of {}", fmt::join(keys, ", ")));
    if (!set(d_.issue, F::of_issue, figure, value))
      fail(fmt::format("the machine has no issue.{}", figure), "an existing one");
    mark(d_.issue.source);
  }

  Description d_;
  std::string setting_;  // the current setting
  Strings settings_;
  bool renamed_ = false;
  std::string source_ = "set";  // source of changed items
  Strings marked_;              // settings with an effect
};

}  // namespace

bool is_setting_key(std::string_view key) {
  return key == "gpus" || key == "name" || key.starts_with("issue.") ||
         !Key{key}.figure.empty();
}

bool begins_as_setting(std::string_view key) {
  return is_setting_key(key) || Key{key}.kind;
}

std::pair<std::string, std::string> split_setting(std::string_view setting) {
  const size_t equals = setting.find('=');
  const std::string key = trimmed(setting.substr(0, equals));
  if (equals == std::string_view::npos || key.empty())
    throw InputError{"", setting, "is not a setting",
                     fmt::format("KEY=VALUE, where KEY is {}", setting_keys)};
  return {key, trimmed(setting.substr(equals + 1))};
}

std::string name_with(const std::string& base, std::span<const std::string> settings) {
  std::string all;
  for (const std::string& setting : settings) {
    const auto [key, value] = split_setting(setting);
    all += fmt::format("+{}={}", key, value);
  }
  if (base.size() + all.size() <= TopologyLimits::name_length) return base + all;
  const std::string brief =
      fmt::format("+{} settings {}", settings.size(), digest_text(base + all));
  return std::string{cut(base, TopologyLimits::name_length - brief.size())} + brief;
}

Topology with_settings(const Topology& machine, std::span<const std::string> settings) {
  if (settings.empty()) return machine;
  DescriptionEditor editor{machine.description()};
  for (const std::string& setting : settings) editor.apply(setting);
  Description description = editor.result();
  const std::string name = description.name;
  try {
    return Topology{std::move(description)};
  } catch (const TopologyDefect& defect) {
    throw defect.within(name);
  }
}

}  // namespace tilerail
