#include "sched/policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

#include "model/error.hpp"

namespace tilerail {
namespace {

template <class Enum>
using Names = std::initializer_list<std::pair<std::string_view, Enum>>;

[[noreturn]] void reject(std::string_view key, std::string_view value, const std::string& expected) {
  throw InputError{"--set " + std::string{key} + "=" + std::string{value} + ": expected " + expected};
}

template <class Enum>
Enum pick(std::string_view key, std::string_view value, Names<Enum> names) {
  std::string expected = "one of";
  for (const auto& [name, choice] : names) {
    if (name == value) return choice;
    expected += " " + std::string{name};
  }
  reject(key, value, expected);
}

bool on_off(std::string_view key, std::string_view value) {
  return pick<bool>(key, value, {{"on", true}, {"off", false}});
}

template <class Number>
Number number(std::string_view key, std::string_view value, Number low, Number high) {
  Number result{};
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (failure != std::errc{} || end != value.data() + value.size() || !(result >= low && result <= high))
    reject(key, value, "a number from " + std::to_string(low) + " to " + std::to_string(high));
  return result;
}

/// The presets: one row a policy (docs/model.md#policies). Fields in the order of struct Policy.
const std::array<Policy, 3>& presets() {
  static const std::array<Policy, 3> table{{
      {.name = "baseline", .caching = false, .overlap = false, .compute_streams = 1, .single_issuer = true},
      {.name = "gemmex",
       .routing = Routing::eta,
       .batch = true,
       .c_tiles = CTiles::automatic,
       .order = Order::eta,
       .single_issuer = true},
      {.name = "tilerail",
       .grid = GridChoice::automatic,
       .tile_choice = TileChoice::search,
       .routing = Routing::link_eta,
       .batch = true,
       .min_chunk_bytes = 1 << 20,
       .c_tiles = CTiles::automatic,
       .order = Order::eta,
       .memory = MemoryChoice::evict,
       .memory_fraction = 0.9},
  }};
  return table;
}

using Setter = void (*)(Policy&, std::string_view key, std::string_view value);

/// Every field that can be overridden.
constexpr std::pair<std::string_view, Setter> setters[] = {
    {"grid",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.grid = pick<GridChoice>(k, v, {{"square", GridChoice::square}, {"auto", GridChoice::automatic}});
     }},
    {"tile-choice",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.tile_choice = pick<TileChoice>(k, v, {{"thesis", TileChoice::thesis}, {"search", TileChoice::search}});
     }},
    {"tile",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.tile = v == "auto" ? 0 : number<std::int64_t>(k, v, 1, std::int64_t{1} << 20);
     }},
    {"routing",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.routing = pick<Routing>(k, v,
                                 {{"initial", Routing::initial},
                                  {"bandwidth", Routing::bandwidth},
                                  {"eta", Routing::eta},
                                  {"link-eta", Routing::link_eta}});
     }},
    {"batch", [](Policy& p, std::string_view k, std::string_view v) { p.batch = on_off(k, v); }},
    {"chunks", [](Policy& p, std::string_view k, std::string_view v) { p.chunks = number<int>(k, v, 1, 1024); }},
    {"min-chunk-bytes",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.min_chunk_bytes = number<std::int64_t>(k, v, 0, std::int64_t{1} << 40);
     }},
    {"c-tiles",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.c_tiles =
           pick<CTiles>(k, v, {{"eager", CTiles::eager}, {"lazy", CTiles::lazy}, {"auto", CTiles::automatic}});
     }},
    {"order",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.order =
           pick<Order>(k, v, {{"fifo", Order::fifo}, {"fewest-fetches", Order::fewest_fetches}, {"eta", Order::eta}});
     }},
    {"caching", [](Policy& p, std::string_view k, std::string_view v) { p.caching = on_off(k, v); }},
    {"overlap", [](Policy& p, std::string_view k, std::string_view v) { p.overlap = on_off(k, v); }},
    {"compute-streams",
     [](Policy& p, std::string_view k, std::string_view v) { p.compute_streams = number<int>(k, v, 1, 64); }},
    {"memory",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.memory = pick<MemoryChoice>(k, v, {{"cubes", MemoryChoice::cubes}, {"evict", MemoryChoice::evict}});
     }},
    {"memory-fraction",
     [](Policy& p, std::string_view k, std::string_view v) { p.memory_fraction = number<double>(k, v, 0.001, 1.0); }},
    {"issue",
     [](Policy& p, std::string_view k, std::string_view v) {
       p.single_issuer = pick<bool>(k, v, {{"single", true}, {"per-device", false}});
     }},
};

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
  if (equals == std::string_view::npos)
    throw InputError{"--set " + std::string{assignment} + ": expected key=value"};
  const auto key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  std::string known;
  for (const auto& [name, set] : setters) {
    if (name == key) {
      set(policy, key, value);
      policy.name += "+" + std::string{assignment};
      return;
    }
    known += " " + std::string{name};
  }
  throw InputError{"--set " + std::string{key} + ": no such field; there are:" + known};
}

}  // namespace tilerail
