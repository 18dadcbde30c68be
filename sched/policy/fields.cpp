#include "sched/policy/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "sched/policy/emulation.hpp"
#include "sched/policy/option_table.hpp"

namespace tilerail {
namespace {

constexpr int64_t most_bytes = int64_t{1} << 40;

Field chunks(int Choices::*member) {
  return varied({.key = "chunks", .values = {}, .number = number(member, 1, 1024)});
}

Value best_devices() {
  std::vector<Value> by_metric;
  for (const Metric& each : metrics)
    by_metric.push_back(value(each.name, &Policy::select, &each));
  const auto choose = [](Policy& policy) {
    policy.device_choice = DeviceChoice::search;  // if nothing is multiplied
    policy.select = &metrics.front();
  };
  return {"best",
          choose,
          [](const Policy& policy) { return policy.select != nullptr; },
          {{.key = "metric", .values = by_metric},
           {.key = "ms", .values = {}, .number = number(&Policy::select_ms, 0, 1e6)}}};
}

Value devices(std::string_view name, DeviceChoice choice) {
  const auto choose = [=](Policy& policy) {
    policy.device_choice = choice;
    policy.select = nullptr;
  };
  return {name, choose, [=](const Policy& policy) {
            return policy.device_choice == choice && policy.select == nullptr;
          }};
}

std::vector<Value> efforts() {
  std::vector<Value> all;
  for (const size_t i : indices(effort_names))
    all.push_back(value(effort_names[i], &Policy::effort, Effort(i)));
  return all;
}

Value grid(std::string_view name, GridChoice choice) {
  return value(name, &Policy::grid, choice)(
      {varied({.key = "layers",
               .values = {value("all", &Policy::k_split, one_part_a_gpu)},
               .number = number(&Policy::k_split, 1, 1024)})});
}

Value tile_rule(std::string_view name, TileChoice choice) {
  const auto choose = [=](Policy& policy) {
    policy.choices.tile = 0;
    policy.tile_choice = choice;
  };
  return {name, choose, [=](const Policy& policy) {
            return policy.choices.tile == 0 && policy.tile_choice == choice;
          }};
}

/// Participating GPUs and their work.
std::vector<Field> fields_of_work() {
  using D = Distribution;
  return {
      of_search(
          {"devices",
           "Chooses among the given GPUs: all, the first, as few as are estimated to be "
           "faster, or the "
           "set with the best rate (perf), energy times time (edp) or energy (pdp).",
           {devices("all", DeviceChoice::all), devices("first", DeviceChoice::first),
            devices("search", DeviceChoice::search), best_devices()}}),
      of_search(
          {"effort",
           "Limits the search: fast compares estimates, fixed also simulates plans of "
           "several tiles and "
           "sets of GPUs, normal and high vary the other options, too.",
           efforts()}),
      varied({"grid",
              "Lays the GPUs over C: nearly square, or with the least traffic on scarce "
              "links; "
              "each layer computes a part of k.",
              {grid("square", GridChoice::square), grid("auto", GridChoice::automatic)}}),
      varied(
          {"distribution",
           "Deals tiles of C to GPUs: in blocks, in proportion to `shares`, or in turn.",
           values(&Choices::distribution, {{"blocks", D::blocks},
                                           {"proportional", D::proportional},
                                           {"sequential", D::sequential},
                                           {"round-robin", D::round_robin},
                                           {"1d-cyclic", D::cyclic_1d},
                                           {"2d-cyclic", D::cyclic_2d},
                                           {"even-blocks", D::even_blocks}})}),
      varied({"shares",
              "Divides C among GPUs: equally, by speed, by speed over watts (pdp), or by "
              "speed squared over "
              "watts (edp).",
              values(&Policy::shares, {{"equal", Shares::equal},
                                       {"speed", Shares::by_speed},
                                       {"pdp", Shares::by_pdp},
                                       {"edp", Shares::by_edp}})}),
  };
}

/// Cuts of matrices.
std::vector<Field> fields_of_tiles() {
  return {
      {"tile",
       "Sets the side of square tiles, the columns of others, or the length of pieces of "
       "vectors: a number, the "
       "best of several plans, or the choice of a rule.",
       {tile_rule("search", TileChoice::search), tile_rule("thesis", TileChoice::thesis)},
       number(&Choices::tile, 1, most_bytes)},
      varied({"tile-rows",
              "Gives a tile of C as many rows as columns, or all rows of its block.",
              values(&Choices::tile_rows,
                     {{"side", TileRows::side}, {"all", TileRows::all}})}),
      varied({"tile-depth",
              "Sets how much of k a tile of A or B has: a side, twice as much from tile "
              "to tile, whole "
              "columns of one matrix, or all.",
              values(&Choices::tile_depth, {{"side", TileDepth::side},
                                            {"growing", TileDepth::growing},
                                            {"columns", TileDepth::columns},
                                            {"all", TileDepth::all}})}),
      varied({"small-tiles",
              "Cuts the first or last tiles of k, or the last tiles of C, so that "
              "kernels begin or end "
              "earlier.",
              values(&Choices::small_tiles, {{"none", SmallTiles::none},
                                             {"k-first", SmallTiles::k_first},
                                             {"k-last", SmallTiles::k_last},
                                             {"c-last", SmallTiles::c_last}})}),
      varied(
          {"ragged",
           "Makes a rest of at most half a tile a tile of its own, or a part of the tile "
           "before it.",
           values(&Choices::ragged, {{"own", Ragged::own}, {"merged", Ragged::merged}})}),
  };
}

/// Sources of tiles.
std::vector<Field> fields_of_routes() {
  const auto routing = [](std::string_view name, Routing choice) {
    return value(name, &Choices::routing, choice);
  };
  const std::vector<Field> of_link_map{
      varied({.key = "max-hops",
              .values = {},
              .number = number(&Choices::max_hops, 0, SharedLinks::most_hops)}),
      varied(
          {.key = "rule",
           .values = values(&Choices::hop_rule, {{"added", HopRule::added},
                                                 {"bottleneck", HopRule::bottleneck}})}),
      chunks(&Choices::route_chunks)};
  const std::vector<Field> of_batch{
      chunks(&Choices::batch_chunks),
      varied({.key = "min-bytes",
              .values = {},
              .number = number(&Choices::batch_min_bytes, 0, most_bytes)})};
  return {
      varied({"routing",
              "Fetches a tile from its home, over the fastest pair, over a route of the "
              "link map, or from where "
              "it arrives first (eta, link-eta).",
              {routing("initial", Routing::initial),
               routing("bandwidth", Routing::bandwidth),
               routing("link-map", Routing::link_map)(of_link_map),
               routing("eta", Routing::eta), routing("link-eta", Routing::link_eta)}}),
      varied({"batch",
              "Sends a tile to each GPU that needs it separately (off), or in pieces to "
              "all of them along a chain or a tree.",
              {value("off", &Choices::batch, Batch::off),
               value("chain", &Choices::batch, Batch::chain)(of_batch),
               value("tree", &Choices::batch, Batch::tree)(of_batch)}}),
  };
}

/// Copies of tiles.
std::vector<Field> fields_of_copies() {
  const std::vector<Field> of_stage{chunks(&Choices::stage_chunks)};
  const auto copies = [](std::string_view name, PeerCopies choice) {
    return value(name, &Choices::peer_copies, choice);
  };
  return {
      varied({"sends", "Runs copies from a GPU to others together, or one after another.",
              values(&Choices::sends,
                     {{"free", Sends::free}, {"in-order", Sends::in_order}})}),
      {"peer-copies",
       "Copies between GPUs directly, or over a host: all tiles, or those from and to "
       "their home.",
       {copies("direct", PeerCopies::direct),
        copies("staged", PeerCopies::staged)(of_stage),
        copies("staged-home", PeerCopies::staged_home)(of_stage)}},
      varied({"c-tiles",
              "Fetches a tile of C before its kernels, after them, or after them if C "
              "shares a home with A "
              "or B.",
              values(&Choices::c_tiles, {{"eager", CTiles::eager},
                                         {"lazy", CTiles::lazy},
                                         {"auto", CTiles::automatic}})}),
      varied({"write-backs",
              "Sends results home in the queue of other copies, in queues of their own, "
              "or with the next "
              "tile.",
              values(&Choices::write_backs, {{"in-order", WriteBacks::in_order},
                                             {"own-queues", WriteBacks::own_queues},
                                             {"with-next", WriteBacks::with_next}})}),
  };
}

/// Order of tasks, memory and submission.
std::vector<Field> fields_of_tasks() {
  return {
      varied({"order",
              "Takes the next tile of C by number, by missing tiles, by arrival, or goes "
              "through k in steps.",
              values(&Choices::order, {{"fifo", Order::fifo},
                                       {"fewest-fetches", Order::fewest_fetches},
                                       {"eta", Order::eta},
                                       {"eta-all", Order::eta_all},
                                       {"steps", Order::steps}})}),
      {"caching",
       "Keeps tiles on GPUs after their first use, or holds a number of tiles of A and "
       "of B (0: as many as "
       "fit).",
       {value("on", &Choices::caching, true),
        value("off", &Choices::caching,
              false)({{.key = "input-buffers",
                       .values = {},
                       .number = number(&Choices::input_buffers, 0, 1024)}})}},
      varied({"in-place", "Uses tiles that are at home on a GPU where they are.",
              on_off(&Choices::in_place)}),
      {"overlap", "Lets a GPU copy and compute simultaneously.",
       on_off(&Choices::overlap)},
      varied({"compute-streams",
              "Runs several kernels of a GPU simultaneously; auto: as many as fill it.",
              {value("auto", &Choices::compute_streams, 0)},
              number(&Choices::compute_streams, 1, 64)}),
      {"memory",
       "The largest fraction of a GPU's memory for tiles; tiles that do not fit are "
       "evicted.",
       {},
       number(&Choices::memory_fraction, 1e-6, 1)},
      varied(
          {"issue", "Submits operations from one host thread, or from one for each GPU.",
           values(&Choices::single_issuer, {{"single", true}, {"per-device", false}})}),
      {"graph", "Submits a repeated plan as one graph if that is faster.",
       on_off(&Choices::graph)},
  };
}

}  // namespace

const std::vector<Field>& core_fields() {
  static const std::vector<Field> table = [] {
    std::vector<Field> all = fields_of_work();
    for (auto* more :
         {fields_of_tiles, fields_of_routes, fields_of_copies, fields_of_tasks})
      for (Field& field : more()) all.push_back(std::move(field));
    return all;
  }();
  return table;
}

namespace {

const std::vector<Field>& fields(const Policy& policy) {
  const std::vector<Field>* const others = emulation_of(policy.choices).fields();
  return others ? *others : core_fields();
}

/// "off, chain"
std::string accepted_by(const Field& field, std::string_view separator = ", ") {
  std::vector<std::string> all;
  for (const Value& value : field.values) all.emplace_back(value.name);
  if (field.number) all.push_back(field.number->accepted);
  return fmt::format("{}", fmt::join(all, separator));
}

/// "chain(chunks=1 to 1024, min-bytes=0 to 65536)"
std::string accepted_by(const Value& value) {
  std::vector<std::string> parameters;
  for (const Field& parameter : value.parameters)
    parameters.push_back(
        fmt::format("{}={}", parameter.key, accepted_by(parameter, "|")));
  return parameters.empty()
             ? std::string{value.name}
             : fmt::format("{}({})", value.name, fmt::join(parameters, ", "));
}

/// The value with all its parameters at their defaults, for policies with the emulation
/// of `given`.
Policy with_default(const Value& value, const Policy& given) {
  Policy policy;
  policy.choices.emulation = emulation_of(given.choices).idle();
  value.choose(policy);
  return policy;
}

const Value* chosen(const Field& field, const Policy& policy) {
  const auto found = std::ranges::find_if(
      field.values, [&](const Value& value) { return value.is_chosen(policy); });
  return found == field.values.end() ? nullptr : &*found;
}

/// The text of a value as users write it, without default parameters: "chain(chunks=4)".
/// `changed`: a parameter with a new value.
std::string text_of(const Field& field, const Policy& policy,
                    const std::pair<std::string_view, std::string>& changed = {}) {
  const Value* const value = chosen(field, policy);
  if (!value) return field.number ? field.number->get(policy).value_or("") : "";
  std::vector<std::string> parameters;
  for (const Field& parameter : value->parameters) {
    const std::string text =
        parameter.key == changed.first ? changed.second : text_of(parameter, policy);
    if (text != text_of(parameter, with_default(*value, policy)))
      parameters.push_back(fmt::format("{}={}", parameter.key, text));
  }
  return parameters.empty()
             ? std::string{value->name}
             : fmt::format("{}({})", value->name, fmt::join(parameters, ","));
}

struct Refusal {
  std::string problem, expected;
};

std::optional<Refusal> set(const Field& field, Policy& policy, std::string_view text);

/// "chunks=4, min-bytes=0"
std::optional<Refusal> set_parameters(const Value& value, Policy& policy,
                                      std::string_view text) {
  std::vector<std::string> given;
  for (const std::string_view each : split(text, ',')) {
    const std::string assignment = trimmed(each),
                      key = assignment.substr(0, assignment.find('='));
    const Refusal refusal{fmt::format("has an invalid parameter '{}'", assignment),
                          accepted_by(value)};
    const auto parameter = std::ranges::find(value.parameters, key, &Field::key);
    if (parameter == value.parameters.end() || key.size() == assignment.size())
      return refusal;
    if (std::ranges::find(given, key) != given.end() ||
        set(*parameter, policy, assignment.substr(key.size() + 1)))
      return refusal;
    given.push_back(key);
  }
  return std::nullopt;
}

/// Parameters that the text does not contain, and all parameters of other values, get
/// their defaults.
std::optional<Refusal> set(const Field& field, Policy& policy, std::string_view text) {
  const size_t open = text.find('(');
  const auto value = std::ranges::find(field.values, text.substr(0, open), &Value::name);
  const Refusal refusal{"is invalid", accepted_by(field)};
  if (value == field.values.end())
    return field.number && field.number->set(policy, text) ? std::nullopt
                                                           : std::optional{refusal};
  for (const Value& each : field.values)
    for (const Field& parameter : each.parameters)
      set(parameter, policy, text_of(parameter, with_default(each, policy)));
  value->choose(policy);
  if (open == std::string_view::npos) return std::nullopt;
  if (!text.ends_with(')')) return refusal;
  return set_parameters(*value, policy, text.substr(open + 1, text.size() - open - 2));
}

/// Null if the field does not exist.
const Field* find_field(const Policy& policy, std::string_view key) {
  const auto found = std::ranges::find(fields(policy), key, &Field::key);
  return found == fields(policy).end() ? nullptr : &*found;
}

const Field& field_of(const Policy& policy, std::string_view key) {
  if (const Field* const found = find_field(policy, key)) return *found;
  throw std::logic_error{fmt::format("field '{}' does not exist", key)};
}

/// The public description of the field.
PolicyField shown(const Field& field, const Policy& policy) {
  PolicyField result{std::string{field.key}, text_of(field, policy), accepted_by(field),
                     std::string{field.meaning}, field.emulates};
  for (const Value& value : field.values) {
    result.values.push_back({std::string{value.name}, {}});
    for (const Field& parameter : value.parameters)
      result.values.back().parameters.push_back(
          shown(parameter, with_default(value, policy)));
  }
  if (field.number) result.range = {field.number->low, field.number->high};
  return result;
}

}  // namespace

void apply_override(Policy& policy, std::string_view assignment) {
  const auto equals = assignment.find('=');
  const auto key = assignment.substr(0, equals);
  const Field* const field = find_field(policy, key);
  if (!field) {
    std::vector<std::string> known;
    for (const Field& each : fields(policy)) known.emplace_back(each.key);
    throw unknown_name("set", assignment, "a field of a policy", known);
  }
  if (equals == std::string_view::npos)
    throw InputError{"set", assignment, "is not key=value",
                     fmt::format("{}= and {}", key, accepted_by(*field))};
  Policy changed = policy;
  if (const auto refused = set(*field, changed, assignment.substr(equals + 1)))
    throw InputError{"set", assignment, refused->problem, refused->expected};
  const auto before = std::ranges::find(policy.overridden, key, &PolicyOverride::key);
  std::string plain =
      before == policy.overridden.end() ? text_of(*field, policy) : before->plain;
  policy = std::move(changed);
  std::erase_if(policy.overridden,
                [&](const PolicyOverride& earlier) { return earlier.key == key; });
  policy.overridden.push_back({std::string{key}, text_of(*field, policy),
                               std::move(plain)});  // normalized spelling
}

std::string value_of(const Policy& policy, std::string_view key) {
  return text_of(field_of(policy, key), policy);
}

void set_value(Policy& policy, std::string_view key, std::string_view value) {
  if (set(field_of(policy, key), policy, value))
    throw std::logic_error{fmt::format("field '{}' does not accept '{}'", key, value)};
}

bool is_of_the_search(const Policy& policy, std::string_view key) {
  const Field* const found = find_field(policy, key);
  return found && found->is_of_search;
}

std::vector<std::string_view> decision_keys(const Policy& policy, const Policy& idle) {
  std::vector<std::string_view> keys;
  for (const Field& field : fields(policy)) {
    const bool is_idle = field.emulates && text_of(field, policy) == text_of(field, idle);
    if (!field.is_of_search && !is_idle) keys.push_back(field.key);
  }
  return keys;
}

std::vector<std::string_view> searched_keys() {
  std::vector<std::string_view> keys;
  for (const Field& field : core_fields())
    if (field.is_varied) keys.push_back(field.key);
  return keys;
}

std::vector<std::string> neighbors_of(const Policy& policy, std::string_view key) {
  const Field& field = *std::ranges::find(core_fields(), key, &Field::key);
  const Value* const own = chosen(field, policy);
  std::vector<std::string> others;
  for (const Value& value : field.values)
    if (&value != own) others.emplace_back(value.name);
  if (field.number)
    std::ranges::move(field.number->neighbors(policy), std::back_inserter(others));
  if (!own) return others;
  for (const Field& parameter : own->parameters) {
    if (!parameter.is_varied) continue;
    for (const Value& value : parameter.values)
      if (!value.is_chosen(policy))
        others.push_back(
            text_of(field, policy, {parameter.key, std::string{value.name}}));
    if (!parameter.number) continue;
    for (std::string& near : parameter.number->neighbors(policy))
      others.push_back(text_of(field, policy, {parameter.key, std::move(near)}));
  }
  return others;
}

std::vector<PolicyField> fields_of(const Policy& policy) {
  std::vector<PolicyField> result;
  for (const Field& field : fields(policy)) result.push_back(shown(field, policy));
  return result;
}

std::string name_of(const Policy& policy) {
  std::string name = policy.preset;
  for (const auto& [key, value, _] : policy.overridden)
    name += fmt::format("+{}={}", key, value);
  return name;
}

bool overrides(const Policy& policy, std::string_view key) {
  return std::ranges::find(policy.overridden, key, &PolicyOverride::key) !=
         policy.overridden.end();
}

}  // namespace tilerail
