#include "sched/policy/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "model/base/error.hpp"
#include "sched/policy/efforts.hpp"

namespace tilerail {
namespace {

/// A field that can be overridden.
struct Field {
  std::string_view key;
  std::string accepted;                                // "on, off" or "1 to 64"
  std::function<bool(Policy&, std::string_view)> set;  // false: the text is not accepted
  std::function<std::string(const Policy&)> get;
  std::function<std::vector<std::string>(const Policy&)> neighbors;  // values that a search tries, its own left out
  std::string_view meaning;
  bool is_varied = false;     // by a search
  bool is_of_search = false;  // it says how a plan is found: it is not a decision
  bool emulates = false;
};

template <class Value>
using Names = std::vector<std::pair<std::string_view, Value>>;

template <class Value>
Value& in(Policy& policy, Value Policy::*member) {
  return policy.*member;
}
template <class Value>
Value& in(Policy& policy, Value Choices::*member) {
  return policy.choices.*member;
}
template <class Value>
const Value& in(const Policy& policy, Value Policy::*member) {
  return policy.*member;
}
template <class Value>
const Value& in(const Policy& policy, Value Choices::*member) {
  return policy.choices.*member;
}

template <class Value, class Owner>
Field choice(std::string_view key, Value Owner::*member, const Names<std::type_identity_t<Value>>& names,
             std::string_view meaning) {
  std::string accepted;
  for (const auto& [name, value] : names) accepted += (accepted.empty() ? "" : ", ") + std::string{name};
  const auto set = [=](Policy& policy, std::string_view text) {
    const auto named = std::ranges::find(names, text, &std::pair<std::string_view, Value>::first);
    if (named == names.end()) return false;
    in(policy, member) = named->second;
    return true;
  };
  const auto get = [=](const Policy& policy) {
    for (const auto& [name, value] : names)
      if (in(policy, member) == value) return std::string{name};
    return std::string{};
  };
  const auto neighbors = [=](const Policy& policy) {
    std::vector<std::string> others;
    for (const auto& [name, value] : names)
      if (in(policy, member) != value) others.emplace_back(name);
    return others;
  };
  return {key, accepted, set, get, neighbors, meaning};
}

/// A number's neighbors are its half, its double and its least value.
template <class Number, class Owner>
Field number(std::string_view key, Number Owner::*member, Number low, Number high, std::string_view meaning) {
  const auto set = [=](Policy& policy, std::string_view text) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || !(value >= low && value <= high)) return false;
    in(policy, member) = value == 0 ? Number{} : value;  // -0 is 0, and its plan has the hash of 0
    return true;
  };
  const auto neighbors = [=](const Policy& policy) {
    const Number own = in(policy, member);
    std::vector<std::string> others;
    for (const Number value : {static_cast<Number>(own / 2), static_cast<Number>(own * 2), low})
      if (const std::string text = fmt::format("{}", std::clamp(value, low, high));
          text != fmt::format("{}", own) && std::ranges::find(others, text) == others.end())
        others.push_back(text);
    return others;
  };
  const auto get = [=](const Policy& policy) { return fmt::format("{}", in(policy, member)); };
  return {key, fmt::format("{} to {}", low, high), set, get, neighbors, meaning};
}

template <class Owner>
Field on_off(std::string_view key, bool Owner::*member, std::string_view meaning) {
  return choice(key, member, {{"on", true}, {"off", false}}, meaning);
}

/// The same field, for which "auto" stands for 0.
template <class Number>
Field or_auto(Field field, Number Choices::*member) {
  field.accepted = "auto, " + field.accepted;
  field.set = [set = field.set, member](Policy& policy, std::string_view text) {
    if (text != "auto") return set(policy, text);
    policy.choices.*member = 0;
    return true;
  };
  field.get = [get = field.get, member](const Policy& policy) {
    return policy.choices.*member == 0 ? "auto" : get(policy);
  };
  field.neighbors = [neighbors = field.neighbors, member](const Policy& policy) {
    Policy known = policy;
    if (policy.choices.*member == 0) known.choices.*member = 1;
    std::vector<std::string> others = neighbors(known);
    if (policy.choices.*member != 0) others.emplace_back("auto");
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
Field varied(Field field) {
  field.is_varied = true;
  return field;
}

/// The same field, which says how a plan is found.
Field of_search(Field field) {
  field.is_of_search = true;
  return field;
}

/// The same field, of which other values than those of our own preset only make plans like those of a library.
Field emulates(Field field) {
  field.emulates = true;
  return field;
}

/// Which GPUs take part and what they compute.
std::vector<Field> fields_of_work() {
  Names<const Metric*> selections{{"none", nullptr}};
  for (const Metric& metric : metrics) selections.emplace_back(metric.name, &metric);
  const Names<DeviceChoice> devices{
      {"all", DeviceChoice::all}, {"first", DeviceChoice::first}, {"search", DeviceChoice::search}};
  const Names<GridChoice> grids{
      {"square", GridChoice::square}, {"xkblas", GridChoice::xkblas}, {"auto", GridChoice::automatic}};
  const Names<Distribution> distributions{
      {"blocks", Distribution::blocks},           {"proportional", Distribution::proportional},
      {"sequential", Distribution::sequential},   {"round-robin", Distribution::round_robin},
      {"1d-cyclic", Distribution::cyclic_1d},     {"2d-cyclic", Distribution::cyclic_2d},
      {"even-blocks", Distribution::even_blocks},
  };
  const Names<Shares> shares{
      {"equal", Shares::equal}, {"speed", Shares::by_speed}, {"pdp", Shares::by_pdp}, {"edp", Shares::by_edp}};
  const Names<TileChoice> tiles{
      {"thesis", TileChoice::thesis}, {"search", TileChoice::search},   {"gemmex", TileChoice::gemmex},
      {"repeat", TileChoice::repeat}, {"paralia", TileChoice::paralia}, {"cublasxt", TileChoice::cublasxt},
      {"xkblas", TileChoice::xkblas},
  };
  return {
      of_search(choice("devices", &Policy::device_choice, devices,
                       "Chooses among the given GPUs: all, the first, or as few as are estimated to be faster.")),
      of_search(choice("select", &Policy::select, selections,
                       "Takes the GPUs with the best metric: perf (rate), edp (energy times time), pdp (energy).")),
      of_search(choice("select-by", &Policy::select_by, {{"model", SelectBy::model}, {"plans", SelectBy::plans}},
                       "Compares sets of GPUs for `select` by PARALiA's model, or by plans on the best sets.")),
      of_search(number("select-ms", &Policy::select_ms, 0.0, 1e6,
                       "Limits the milliseconds for plans of `select`, at a fixed cost of an operation.")),
      of_search(choice("ways", &Policy::ways, {{"fixed", Ways::fixed}, {"search", Ways::search}},
                       "Lets the search vary fields that are not overridden, if `effort` is not fast.")),
      of_search(choice("effort", &Policy::judge_ops, {{"fast", 0}, {"normal", normal_effort}, {"high", high_effort}},
                       "Limits the plans that are tried: fast compares estimates, normal and high simulate as well.")),
      varied(choice("grid", &Policy::grid, grids,
                    "Lays the GPUs over C: nearly square, as XKBLAS does, or with the least traffic on scarce links.")),
      varied(of_search(or_all(number("k-split", &Policy::k_split, 1, 1024,
                                     "Cuts k in parts, each for its own part of the GPUs, and adds up their sums.")))),
      varied(choice("distribution", &Choices::distribution, distributions,
                    "Deals tiles of C to GPUs: in blocks, in proportion to `shares`, or in turn.")),
      varied(choice("shares", &Policy::shares, shares,
                    "Divides C among GPUs: equally, by speed, by speed over watts (pdp), or speed squared over watts "
                    "(edp).")),
      of_search(
          or_model(choice("tile-choice", &Policy::tile_choice, tiles,
                          "Chooses the tile if tile=auto: by a heuristic, by estimates of plans, by the rule of a "
                          "library, or by an overlap model; repeat times the five best of gemmex."))),
  };
}

/// What is cut and moved, and how.
std::vector<Field> fields_of_copies() {
  const Names<TileDepth> depths{{"side", TileDepth::side},
                                {"growing", TileDepth::growing},
                                {"columns", TileDepth::columns},
                                {"all", TileDepth::all}};
  const Names<SmallTiles> small{{"none", SmallTiles::none},
                                {"k-first", SmallTiles::k_first},
                                {"k-last", SmallTiles::k_last},
                                {"c-last", SmallTiles::c_last}};
  const Names<Routing> routings{
      {"initial", Routing::initial},       {"bandwidth", Routing::bandwidth},
      {"link-map", Routing::link_map},     {"eta", Routing::eta},
      {"link-eta", Routing::link_eta},     {"peer-rank", Routing::peer_rank},
      {"nearest-id", Routing::nearest_id},
  };
  const Names<PeerCopies> copies{
      {"direct", PeerCopies::direct}, {"staged", PeerCopies::staged}, {"staged-home", PeerCopies::staged_home}};
  constexpr std::int64_t most = std::int64_t{1} << 40;
  return {
      or_auto(number("tile", &Choices::tile, std::int64_t{1}, most,
                     "Sets the side of square tiles, the columns of others, or the length of pieces of vectors; auto "
                     "leaves it to `tile-choice`."),
              &Choices::tile),
      varied(choice("tile-rows", &Choices::tile_rows, {{"side", TileRows::side}, {"all", TileRows::all}},
                    "Gives a tile of C as many rows as columns, or all rows of its block.")),
      varied(
          choice("tile-depth", &Choices::tile_depth, depths,
                 "Sets how much of k a tile of A or B has: a side, twice as much from tile to tile, whole columns of "
                 "one matrix, or all.")),
      varied(
          choice("small-tiles", &Choices::small_tiles, small,
                 "Cuts the first or last tiles of k, or the last tiles of C, so that kernels begin or end earlier.")),
      varied(choice("ragged", &Choices::ragged, {{"own", Ragged::own}, {"merged", Ragged::merged}},
                    "Makes a rest of at most half a tile a tile of its own, or a part of the tile before it.")),
      varied(choice("routing", &Choices::routing, routings,
                    "Fetches a tile from its home, over the fastest pair, over a route of the link map, from where it "
                    "arrives first (eta, link-eta), or from the nearest GPU (peer-rank, nearest-id).")),
      of_search(
          on_off("relays", &Policy::relays, "Also plans with routes over other GPUs, and takes the faster plan.")),
      varied(number("max-hops", &Choices::max_hops, 0, SharedLinks::most_hops,
                    "Limits the GPUs between the ends of a route of routing=link-map.")),
      varied(choice("hop-rule", &Choices::hop_rule, {{"added", HopRule::added}, {"bottleneck", HopRule::bottleneck}},
                    "Compares routes of routing=link-map by the sum of their times, or by their narrowest links.")),
      varied(on_off("batch", &Choices::batch, "Sends a tile to all GPUs that need it in one chain.")),
      varied(number("chunks", &Choices::chunks, 1, 1024, "Cuts a tile that goes over GPUs or a host in pieces.")),
      varied(number("min-chunk-bytes", &Choices::min_chunk_bytes, std::int64_t{0}, most,
                    "Makes fewer pieces than `chunks` if a piece would be smaller.")),
      varied(choice("sends", &Choices::sends, {{"free", Sends::free}, {"in-order", Sends::in_order}},
                    "Runs copies from a GPU to others together, or one after another.")),
      varied(choice("peer-copies", &Choices::peer_copies, copies,
                    "Copies between GPUs directly, or over a host: all tiles, or those from and to their home.")),
      emulates(choice("copy-rates", &Choices::copy_rates, {{"alone", CopyRates::alone}, {"duplex", CopyRates::duplex}},
                      "Simulates copies from and to hosts at their own rates, or as if one went the other way.")),
      varied(choice(
          "c-tiles", &Choices::c_tiles, {{"eager", CTiles::eager}, {"lazy", CTiles::lazy}, {"auto", CTiles::automatic}},
          "Fetches a tile of C before its kernels, after them, or after them if C shares a home with A or B.")),
  };
}

/// When something is done, and what is kept.
std::vector<Field> fields_of_tasks() {
  const Names<WriteBacks> write_backs{
      {"in-order", WriteBacks::in_order}, {"own-queues", WriteBacks::own_queues}, {"with-next", WriteBacks::with_next}};
  const Names<Order> orders{{"fifo", Order::fifo},
                            {"fewest-fetches", Order::fewest_fetches},
                            {"eta", Order::eta},
                            {"eta-all", Order::eta_all},
                            {"steps", Order::steps}};
  const Names<Agent> agents{
      {"none", Agent::none}, {"paralia", Agent::paralia}, {"xkblas", Agent::xkblas}, {"blasx", Agent::blasx}};
  return {
      varied(choice("write-backs", &Choices::write_backs, write_backs,
                    "Sends results home in the queue of other copies, in queues of their own, or with the next tile.")),
      varied(choice("order", &Choices::order, orders,
                    "Takes the next tile of C by number, by missing tiles, by arrival, or goes through k in steps.")),
      varied(choice("agent", &Choices::agent, agents,
                    "Gives tasks to GPUs in model time by the rules of a library, or plans ahead.")),
      on_off("caching", &Choices::caching, "Keeps tiles on GPUs after their first use."),
      on_off("in-place", &Choices::in_place, "Uses tiles that are at home on a GPU where they are."),
      emulates(
          on_off("warm", &Choices::warm, "Starts with the tiles that an earlier call left on GPUs; simulation only.")),
      number("input-buffers", &Choices::input_buffers, 0, 1024,
             "Limits tiles of A, and of B, on a GPU without caching; 0: to its memory."),
      on_off("overlap", &Choices::overlap, "Lets a GPU copy and compute simultaneously."),
      varied(or_auto(number("compute-streams", &Choices::compute_streams, 1, 64,
                            "Runs several kernels of a GPU simultaneously; auto: as many as fill it."),
                     &Choices::compute_streams)),
      varied(choice("memory", &Choices::memory, {{"cubes", MemoryChoice::cubes}, {"evict", MemoryChoice::evict}},
                    "Cuts a problem that does not fit in memory in cubes that do, or evicts tiles.")),
      number("memory-fraction", &Choices::memory_fraction, 0.001, 1.0, "Limits tiles to this part of a GPU's memory."),
  };
}

/// Who submits operations, and what the run-time system of a library takes.
std::vector<Field> fields_of_threads() {
  constexpr double most = 1e6;
  return {
      varied(choice("issue", &Choices::single_issuer, {{"single", true}, {"per-device", false}},
                    "Submits operations from one host thread, or from one for each GPU.")),
      on_off("graph", &Choices::graph, "Submits a repeated plan as one graph if that is faster."),
      emulates(number("task-us", &Choices::task_us, 0.0, most,
                      "Adds microseconds of a library's run-time system to each kernel of a simulation.")),
      emulates(number("request-us", &Choices::request_us, 0.0, most, "Adds them to each copy from or to a host.")),
      emulates(number("peer-us", &Choices::peer_us, 0.0, most, "Adds them to each copy between GPUs.")),
      emulates(number("gpu-us", &Choices::gpu_us, 0.0, most, "Adds them to each call, for each of its GPUs.")),
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

bool is_of_the_search(std::string_view key) {
  const auto found = std::ranges::find(fields(), key, &Field::key);
  return found != fields().end() && found->is_of_search;
}

std::vector<std::string_view> searched_keys() {
  std::vector<std::string_view> keys;
  for (const Field& field : fields())
    if (field.is_varied) keys.push_back(field.key);
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
        {std::string{field.key}, field.get(policy), field.accepted, std::string{field.meaning}, field.emulates});
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
