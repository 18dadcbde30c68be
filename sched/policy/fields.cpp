#include "sched/policy/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <stdexcept>
#include <utility>

#include "model/base/error.hpp"
#include "sched/policy/efforts.hpp"
#include "sched/policy/meanings.hpp"
#include "sched/policy/searched_fields.hpp"

namespace tilerail {
namespace {

/// A field that can be overridden.
struct Field {
  std::string_view key;
  std::string accepted;                                // "on, off" or "1 to 64"
  std::function<bool(Policy&, std::string_view)> set;  // false: the text is not accepted
  std::function<std::string(const Policy&)> get;
  std::function<std::vector<std::string>(const Policy&)> neighbors;  // values that a search tries, its own left out
  bool emulates = false;
  bool searched = false;
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
  const auto neighbors = [=](const Policy& policy) {
    std::vector<std::string> others;
    for (const auto& [name, value] : names)
      if (policy.*member != value) others.emplace_back(name);
    return others;
  };
  return {key, accepted, set, get, neighbors};
}

/// A number's neighbors are its half, its double and its least value.
template <class Number>
Field number(std::string_view key, Number Policy::*member, Number low, Number high) {
  const auto set = [=](Policy& policy, std::string_view text) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || !(value >= low && value <= high)) return false;
    return policy.*member = value == 0 ? Number{} : value, true;  // -0 is 0, and its plan has the hash of 0
  };
  const auto neighbors = [=](const Policy& policy) {
    std::vector<std::string> others;
    for (const Number value : {static_cast<Number>(policy.*member / 2), static_cast<Number>(policy.*member * 2), low})
      if (const std::string text = fmt::format("{}", std::clamp(value, low, high));
          text != fmt::format("{}", policy.*member) && std::ranges::find(others, text) == others.end())
        others.push_back(text);
    return others;
  };
  return {key, fmt::format("{} to {}", low, high), set,
          [=](const Policy& policy) { return fmt::format("{}", policy.*member); }, neighbors};
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
  field.neighbors = [neighbors = field.neighbors, member](const Policy& policy) {
    Policy known = policy;
    if (policy.*member == 0) known.*member = 1;
    std::vector<std::string> others = neighbors(known);
    if (policy.*member != 0) others.emplace_back("auto");
    return others;
  };
  return field;
}

/// The same field, for which "all" stands for as many as there are GPUs.
Field or_all(Field field) {
  field.accepted += ", all";
  field.set = [set = field.set](Policy& policy, std::string_view text) {
    if (text != "all") return set(policy, text);
    return policy.k_split = one_part_a_gpu, true;
  };
  field.get = [get = field.get](const Policy& policy) {
    return policy.k_split == one_part_a_gpu ? std::string{"all"} : get(policy);
  };
  field.neighbors = [neighbors = field.neighbors](const Policy& policy) {
    if (policy.k_split == one_part_a_gpu) return std::vector<std::string>{"1"};
    std::vector<std::string> others = neighbors(policy);
    others.emplace_back("all");
    return others;
  };
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

/// The same field, whose value a search may change.
Field searched(Field field) {
  field.searched = true;
  return field;
}

/// The same field, of which other values than those of our own preset only make plans like those of a library.
Field emulating(Field field) {
  field.emulates = true;
  return field;
}

Field select_field() {
  Names<const Metric*> names{{"none", nullptr}};
  for (const Metric& metric : metrics) names.emplace_back(metric.name, &metric);
  return choice<const Metric*>("select", &Policy::select, names);
}

/// Which GPUs take part and what they compute.
std::vector<Field> fields_of_work() {
  return {
      choice<DeviceChoice>(
          "devices", &Policy::device_choice,
          {{"all", DeviceChoice::all}, {"first", DeviceChoice::first}, {"search", DeviceChoice::search}}),
      select_field(),
      choice<SelectBy>("select-by", &Policy::select_by, {{"model", SelectBy::model}, {"plans", SelectBy::plans}}),
      number<double>("select-ms", &Policy::select_ms, 0, 1000000),
      choice<Ways>("ways", &Policy::ways, {{"fixed", Ways::fixed}, {"search", Ways::search}}),
      choice<std::int64_t>("effort", &Policy::judge_ops,
                           {{"fast", 0}, {"normal", normal_effort}, {"high", high_effort}}),
      searched(choice<GridChoice>(
          "grid", &Policy::grid,
          {{"square", GridChoice::square}, {"xkblas", GridChoice::xkblas}, {"auto", GridChoice::automatic}})),
      searched(or_all(number<int>("k-split", &Policy::k_split, 1, 1024))),
      searched(choice<Distribution>("distribution", &Policy::distribution,
                                    {{"blocks", Distribution::blocks},
                                     {"proportional", Distribution::proportional},
                                     {"sequential", Distribution::sequential},
                                     {"round-robin", Distribution::round_robin},
                                     {"1d-cyclic", Distribution::cyclic_1d},
                                     {"2d-cyclic", Distribution::cyclic_2d},
                                     {"even-blocks", Distribution::even_blocks}})),
      searched(choice<Shares>(
          "shares", &Policy::shares,
          {{"equal", Shares::equal}, {"speed", Shares::by_speed}, {"pdp", Shares::by_pdp}, {"edp", Shares::by_edp}})),
      or_model(choice<TileChoice>("tile-choice", &Policy::tile_choice,
                                  {{"thesis", TileChoice::thesis},
                                   {"search", TileChoice::search},
                                   {"gemmex", TileChoice::gemmex},
                                   {"repeat", TileChoice::repeat},
                                   {"paralia", TileChoice::paralia},
                                   {"cublasxt", TileChoice::cublasxt},
                                   {"xkblas", TileChoice::xkblas}})),
  };
}

/// What is cut and moved, and how.
std::vector<Field> fields_of_copies() {
  return {
      or_auto(number<std::int64_t>("tile", &Policy::tile, 1, std::int64_t{1} << 40), &Policy::tile),
      searched(choice<TileRows>("tile-rows", &Policy::tile_rows, {{"side", TileRows::side}, {"all", TileRows::all}})),
      searched(choice<TileDepth>("tile-depth", &Policy::tile_depth,
                                 {{"side", TileDepth::side},
                                  {"growing", TileDepth::growing},
                                  {"columns", TileDepth::columns},
                                  {"all", TileDepth::all}})),
      searched(choice<SmallTiles>("small-tiles", &Policy::small_tiles,
                                  {{"none", SmallTiles::none},
                                   {"k-first", SmallTiles::k_first},
                                   {"k-last", SmallTiles::k_last},
                                   {"c-last", SmallTiles::c_last}})),
      searched(choice<Ragged>("ragged", &Policy::ragged, {{"own", Ragged::own}, {"merged", Ragged::merged}})),
      searched(choice<Routing>("routing", &Policy::routing,
                               {{"initial", Routing::initial},
                                {"bandwidth", Routing::bandwidth},
                                {"link-map", Routing::link_map},
                                {"eta", Routing::eta},
                                {"link-eta", Routing::link_eta},
                                {"peer-rank", Routing::peer_rank},
                                {"nearest-id", Routing::nearest_id}})),
      on_off("relays", &Policy::relays),
      searched(number<int>("max-hops", &Policy::max_hops, 0, SharedLinks::most_hops)),
      searched(choice<HopRule>("hop-rule", &Policy::hop_rule,
                               {{"added", HopRule::added}, {"bottleneck", HopRule::bottleneck}})),
      searched(on_off("batch", &Policy::batch)),
      searched(number<int>("chunks", &Policy::chunks, 1, 1024)),
      searched(number<std::int64_t>("min-chunk-bytes", &Policy::min_chunk_bytes, 0, std::int64_t{1} << 40)),
      searched(choice<Sends>("sends", &Policy::sends, {{"free", Sends::free}, {"in-order", Sends::in_order}})),
      searched(choice<PeerCopies>(
          "peer-copies", &Policy::peer_copies,
          {{"direct", PeerCopies::direct}, {"staged", PeerCopies::staged}, {"staged-home", PeerCopies::staged_home}})),
      emulating(choice<CopyRates>("copy-rates", &Policy::copy_rates,
                                  {{"alone", CopyRates::alone}, {"duplex", CopyRates::duplex}})),
      searched(choice<CTiles>("c-tiles", &Policy::c_tiles,
                              {{"eager", CTiles::eager}, {"lazy", CTiles::lazy}, {"auto", CTiles::automatic}})),
  };
}

/// When something is done, and what is kept.
std::vector<Field> fields_of_tasks() {
  return {
      searched(choice<WriteBacks>("write-backs", &Policy::write_backs,
                                  {{"in-order", WriteBacks::in_order},
                                   {"own-queues", WriteBacks::own_queues},
                                   {"with-next", WriteBacks::with_next}})),
      searched(choice<Order>("order", &Policy::order,
                             {{"fifo", Order::fifo},
                              {"fewest-fetches", Order::fewest_fetches},
                              {"eta", Order::eta},
                              {"eta-all", Order::eta_all},
                              {"steps", Order::steps}})),
      searched(choice<Agent>(
          "agent", &Policy::agent,
          {{"none", Agent::none}, {"paralia", Agent::paralia}, {"xkblas", Agent::xkblas}, {"blasx", Agent::blasx}})),
      on_off("caching", &Policy::caching),
      on_off("in-place", &Policy::in_place),
      emulating(on_off("warm", &Policy::warm)),
      number<int>("input-buffers", &Policy::input_buffers, 0, 1024),
      on_off("overlap", &Policy::overlap),
      searched(or_auto(number<int>("compute-streams", &Policy::compute_streams, 1, 64), &Policy::compute_streams)),
      searched(choice<MemoryChoice>("memory", &Policy::memory,
                                    {{"cubes", MemoryChoice::cubes}, {"evict", MemoryChoice::evict}})),
      number<double>("memory-fraction", &Policy::memory_fraction, 0.001, 1.0),
  };
}

/// Who hands operations over, and what the run-time system of a library takes.
std::vector<Field> fields_of_threads() {
  return {
      searched(choice<bool>("issue", &Policy::single_issuer, {{"single", true}, {"per-device", false}})),
      on_off("graph", &Policy::graph),
      emulating(number<double>("task-us", &Policy::task_us, 0, 1e6)),
      emulating(number<double>("request-us", &Policy::request_us, 0, 1e6)),
      emulating(number<double>("peer-us", &Policy::peer_us, 0, 1e6)),
      emulating(number<double>("gpu-us", &Policy::gpu_us, 0, 1e6)),
  };
}

const std::vector<Field>& fields() {
  static const std::vector<Field> table = [] {
    std::vector<Field> all = fields_of_work();
    for (auto* more : {fields_of_copies, fields_of_tasks, fields_of_threads})
      for (Field& field : more()) all.push_back(std::move(field));
    return all;
  }();
  return table;
}

}  // namespace

void apply_override(Policy& policy, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    const auto named = std::ranges::find(fields(), assignment, &Field::key);
    throw InputError{"set", assignment, "is not key=value",
                     named == fields().end() ? "" : fmt::format("{}= and {}", assignment, named->accepted)};
  }
  const auto key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  std::vector<std::string> known;
  for (const Field& field : fields()) {
    if (field.key == key) {
      if (!field.set(policy, value)) throw InputError{"set", assignment, "is invalid", field.accepted};
      std::erase_if(policy.overridden, [&](const PolicyOverride& earlier) { return earlier.key == key; });
      policy.overridden.push_back({std::string{key}, field.get(policy)});  // in one spelling
      return;
    }
    known.emplace_back(field.key);
  }
  throw unknown_name("set", assignment, "a field of a policy", known);
}

namespace {

const Field& field_of(std::string_view key) {
  const auto found = std::ranges::find(fields(), key, &Field::key);
  if (found == fields().end()) throw std::logic_error{fmt::format("there is no field '{}'", key)};
  return *found;
}

}  // namespace

std::string value_of(const Policy& policy, std::string_view key) { return field_of(key).get(policy); }

std::vector<std::string_view> searched_keys() {
  std::vector<std::string_view> keys;
  for (const Field& field : fields())
    if (field.searched) keys.push_back(field.key);
  return keys;
}

std::vector<std::string> neighbors_of(const Policy& policy, std::string_view key) {
  return field_of(key).neighbors(policy);
}

void set_value(Policy& policy, std::string_view key, std::string_view value) {
  if (!field_of(key).set(policy, value))
    throw std::logic_error{fmt::format("field '{}' does not accept '{}'", key, value)};
}

std::vector<PolicyField> fields_of(const Policy& policy) {
  std::vector<PolicyField> result;
  for (const Field& field : fields())
    result.push_back(
        {std::string{field.key}, field.get(policy), field.accepted, meaning_of(field.key), field.emulates});
  return result;
}

std::string name_of(const Policy& policy) {
  std::string name = policy.preset;
  for (const auto& [key, value] : policy.overridden) name += fmt::format("+{}={}", key, value);
  return name;
}

bool overrides(const Policy& policy, std::string_view key) {
  return std::ranges::find(policy.overridden, key, &PolicyOverride::key) != policy.overridden.end();
}

}  // namespace tilerail
