#include "sched/policy/policy.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <type_traits>
#include <utility>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

/// The presets: one row a policy (docs/model.md#policies). Fields in the order of struct Policy.
const std::array<Policy, 4>& presets() {
  static const std::array<Policy, 4> table{{
      {.name = "baseline", .caching = false, .overlap = false, .compute_streams = 1, .single_issuer = true},
      {.name = "paralia",
       .select_by = SelectBy::model,
       .distribution = Distribution::cyclic_2d,
       .tile_choice = TileChoice::model,
       .routing = Routing::link_map,
       .write_backs = WriteBacks::own_queues,
       .memory = MemoryChoice::evict},
      {.name = "gemmex",
       .routing = Routing::eta,
       .batch = true,
       .c_tiles = CTiles::automatic,
       .order = Order::eta,
       .single_issuer = true},
      {.name = "tilerail",
       .device_choice = DeviceChoice::search,
       .grid = GridChoice::automatic,
       .shares = Shares::by_speed,
       .tile_choice = TileChoice::search,
       .routing = Routing::link_eta,
       .relays = true,
       .batch = true,
       .min_chunk_bytes = 8 << 20,
       .sends = Sends::in_order,
       .c_tiles = CTiles::automatic,
       .order = Order::eta,
       .compute_streams = 0,
       .memory = MemoryChoice::evict,
       .memory_fraction = 0.9},
  }};
  return table;
}

/// A field that can be overridden.
struct Field {
  std::string_view key;
  std::string accepted;                                // "on, off" or "1 to 64"
  std::function<bool(Policy&, std::string_view)> set;  // false: the text is not accepted
  std::function<std::string(const Policy&)> get;
};

template <class Value>
using Names = std::vector<std::pair<std::string_view, Value>>;

template <class Value>
Field choice(std::string_view key, Value Policy::*member, const Names<Value>& names) {
  std::string accepted;
  for (const auto& [name, value] : names) accepted += (accepted.empty() ? "" : ", ") + std::string{name};
  const auto set = [=](Policy& policy, std::string_view text) {
    for (const auto& [name, value] : names) {
      if (name == text) return policy.*member = value, true;
    }
    return false;
  };
  const auto get = [=](const Policy& policy) {
    for (const auto& [name, value] : names) {
      if (policy.*member == value) return std::string{name};
    }
    return std::string{};
  };
  return {key, accepted, set, get};
}

template <class Number>
std::string number_text(Number value) {
  if constexpr (std::is_integral_v<Number>) return std::to_string(value);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", static_cast<double>(value));
  return text.data();
}

template <class Number>
Field number(std::string_view key, Number Policy::*member, Number low, Number high) {
  const auto set = [=](Policy& policy, std::string_view text) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || !(value >= low && value <= high)) return false;
    return policy.*member = value, true;
  };
  return {key, number_text(low) + " to " + number_text(high), set,
          [=](const Policy& policy) { return number_text(policy.*member); }};
}

Field on_off(std::string_view key, bool Policy::*member) {
  return choice<bool>(key, member, {{"on", true}, {"off", false}});
}

/// The same field, for which "auto" stands for 0.
template <class Number>
Field or_auto(Field field, Number Policy::*member) {
  field.accepted = "auto, " + field.accepted;
  field.set = [set = field.set, member](Policy& policy, std::string_view text) {
    if (text != "auto") return set(policy, text);
    return policy.*member = 0, true;
  };
  field.get = [get = field.get, member](const Policy& policy) { return policy.*member == 0 ? "auto" : get(policy); };
  return field;
}

/// The same field, for which the name of an overlap model stands for that model.
Field or_model(Field field) {
  for (const OverlapModel model : overlap_models) field.accepted += ", " + std::string{to_string(model)};
  field.set = [set = field.set](Policy& policy, std::string_view text) {
    for (const OverlapModel model : overlap_models)
      if (text == to_string(model)) return policy.tile_choice = TileChoice::model, policy.tile_model = model, true;
    return set(policy, text);
  };
  field.get = [get = field.get](const Policy& policy) {
    return policy.tile_choice == TileChoice::model ? std::string{to_string(policy.tile_model)} : get(policy);
  };
  return field;
}

Field select_field() {
  Names<const Metric*> names{{"none", nullptr}};
  for (const Metric& metric : metrics) names.emplace_back(metric.name, &metric);
  return choice<const Metric*>("select", &Policy::select, names);
}

const std::vector<Field>& fields() {
  static const std::vector<Field> table{
      choice<DeviceChoice>("devices", &Policy::device_choice,
                           {{"all", DeviceChoice::all}, {"search", DeviceChoice::search}}),
      select_field(),
      choice<SelectBy>("select-by", &Policy::select_by, {{"model", SelectBy::model}, {"plans", SelectBy::plans}}),
      number<double>("select-ms", &Policy::select_ms, 0, 1e6),
      choice<GridChoice>("grid", &Policy::grid, {{"square", GridChoice::square}, {"auto", GridChoice::automatic}}),
      choice<Distribution>("distribution", &Policy::distribution,
                           {{"blocks", Distribution::blocks},
                            {"sequential", Distribution::sequential},
                            {"round-robin", Distribution::round_robin},
                            {"1d-cyclic", Distribution::cyclic_1d},
                            {"2d-cyclic", Distribution::cyclic_2d}}),
      choice<Shares>("shares", &Policy::shares, {{"equal", Shares::equal}, {"speed", Shares::by_speed}}),
      or_model(choice<TileChoice>("tile-choice", &Policy::tile_choice,
                                  {{"thesis", TileChoice::thesis}, {"search", TileChoice::search}})),
      or_auto(number<std::int64_t>("tile", &Policy::tile, 1, std::int64_t{1} << 40), &Policy::tile),
      choice<Routing>("routing", &Policy::routing,
                      {{"initial", Routing::initial},
                       {"bandwidth", Routing::bandwidth},
                       {"link-map", Routing::link_map},
                       {"eta", Routing::eta},
                       {"link-eta", Routing::link_eta}}),
      on_off("relays", &Policy::relays),
      number<int>("max-hops", &Policy::max_hops, 0, SharedLinks::most_hops),
      on_off("batch", &Policy::batch),
      number<int>("chunks", &Policy::chunks, 1, 1024),
      number<std::int64_t>("min-chunk-bytes", &Policy::min_chunk_bytes, 0, std::int64_t{1} << 40),
      choice<Sends>("sends", &Policy::sends, {{"free", Sends::free}, {"in-order", Sends::in_order}}),
      choice<CTiles>("c-tiles", &Policy::c_tiles,
                     {{"eager", CTiles::eager}, {"lazy", CTiles::lazy}, {"auto", CTiles::automatic}}),
      choice<WriteBacks>("write-backs", &Policy::write_backs,
                         {{"in-order", WriteBacks::in_order}, {"own-queues", WriteBacks::own_queues}}),
      choice<Order>("order", &Policy::order,
                    {{"fifo", Order::fifo}, {"fewest-fetches", Order::fewest_fetches}, {"eta", Order::eta}}),
      on_off("caching", &Policy::caching),
      on_off("overlap", &Policy::overlap),
      or_auto(number<int>("compute-streams", &Policy::compute_streams, 1, 64), &Policy::compute_streams),
      choice<MemoryChoice>("memory", &Policy::memory, {{"cubes", MemoryChoice::cubes}, {"evict", MemoryChoice::evict}}),
      number<double>("memory-fraction", &Policy::memory_fraction, 0.001, 1.0),
      choice<bool>("issue", &Policy::single_issuer, {{"single", true}, {"per-device", false}}),
  };
  return table;
}

}  // namespace

Policy preset(std::string_view name) {
  std::string known;
  for (const Policy& row : presets()) {
    if (row.name == name) return row;
    known += " " + row.name;
  }
  throw InputError{"--policy " + std::string{name} + ": no such policy; there are:" + known};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Policy& row : presets()) names.push_back(row.name);
  return names;
}

void apply_override(Policy& policy, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) throw InputError{"--set " + std::string{assignment} + ": expected key=value"};
  const auto key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  std::string known;
  for (const Field& field : fields()) {
    if (field.key == key) {
      if (!field.set(policy, value)) {
        throw InputError{"--set " + std::string{assignment} + ": expected " + field.accepted};
      }
      policy.name += "+" + std::string{assignment};
      return;
    }
    known += " " + std::string{field.key};
  }
  throw InputError{"--set " + std::string{key} + ": no such field; there are:" + known};
}

std::vector<PolicyField> fields_of(const Policy& policy) {
  std::vector<PolicyField> result;
  for (const Field& field : fields()) result.push_back({std::string{field.key}, field.get(policy), field.accepted});
  return result;
}

}  // namespace tilerail
