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

namespace tilerail {
namespace {

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
Field number(std::string_view key, Number Policy::*member, Number low, Number high) {
  const auto set = [=](Policy& policy, std::string_view text) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || !(value >= low && value <= high)) return false;
    return policy.*member = value, true;
  };
  return {key, fmt::format("{} to {}", low, high), set,
          [=](const Policy& policy) { return fmt::format("{}", policy.*member); }};
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
      number<double>("select-ms", &Policy::select_ms, 0, 1000000),
      choice<Ways>("ways", &Policy::ways, {{"fixed", Ways::fixed}, {"search", Ways::search}}),
      number<std::int64_t>("judge-ops", &Policy::judge_ops, 0, std::int64_t{1} << 40),
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

/// What each field does and when it matters, in a sentence.
constexpr std::array<std::pair<std::string_view, std::string_view>, 27> meanings{{
    {"devices",
     "Which of the given GPUs take part: all, or half, a quarter ... of them where fewer are estimated to be faster; "
     "matters with several GPUs and select=none."},
    {"select",
     "Takes the GPUs with the best metric: perf (rate), edp (energy times time), pdp (energy); matters with several "
     "GPUs and something to multiply."},
    {"select-by",
     "How select compares sets of GPUs: by the model of PARALiA, or by judging a plan for each of the best sets; "
     "matters with select."},
    {"select-ms",
     "Milliseconds that judging plans for select may cost, at a stated cost of an operation, so that every process "
     "decides alike; matters with select and select-by=plans."},
    {"ways",
     "Whether the search also tries other values of the fields that say how tiles move, those that are not overridden, "
     "and simulates the plans; matters with judge-ops."},
    {"judge-ops",
     "How many operations of plans the search may simulate, a count and not a time so that every process decides "
     "alike; "
     "0 leaves the choice to the estimate; matters with ways=search."},
    {"grid",
     "How the GPUs are laid over C: as square as possible, or so that the scarcest links carry the fewest bytes; "
     "matters for a matrix product on several GPUs."},
    {"distribution",
     "Which GPU computes which tiles of C: contiguous blocks, or tiles dealt in one of four ways; matters with "
     "several GPUs."},
    {"shares",
     "How much of C each GPU computes: equal parts, or parts in proportion to its speed; matters with several GPUs "
     "that differ."},
    {"tile-choice",
     "Who chooses the tile: the heuristic of the thesis, a search that estimates plans, or an overlap model; matters "
     "with tile=auto."},
    {"tile",
     "Side of the square tiles into which A, B and C are cut, or length of the pieces of vectors; auto leaves it to "
     "tile-choice."},
    {"routing",
     "From which copy a tile is fetched: its home, the fastest pair, the fastest route of a link map, or the "
     "earliest arrival by pairs (eta) or by links (link-eta); matters where several memories hold a tile."},
    {"relays",
     "Also plans with tiles that go over other GPUs where such a route is faster, and takes that plan where it is "
     "estimated to be; matters on machines that have such routes."},
    {"max-hops", "How many GPUs a route of routing=link-map may pass over; matters with that routing only."},
    {"batch",
     "Sends a tile of A or B to all GPUs that need it in one chain when the first of them needs it; matters with "
     "several GPUs, caching and enough memory."},
    {"chunks", "Into how many pieces a tile is cut in such a chain, so that its hops overlap; matters with batch."},
    {"min-chunk-bytes", "Fewer pieces than chunks where a piece would be smaller than this; matters with batch."},
    {"sends",
     "Whether copies from one GPU to others run together or one after another in the order of the plan; matters with "
     "several GPUs."},
    {"c-tiles",
     "When a tile of C is fetched: before its kernels, after them, or after them only where C shares its home with A "
     "or B; matters with beta other than 0 and GPUs where C is not at home."},
    {"write-backs",
     "Whether results go home in the queue of the other copies of their pair or in one of their own; matters where C "
     "is not at home on the GPU that computes it."},
    {"order",
     "Which tile of C a GPU takes next: the lowest, the one with the fewest tiles to fetch, or the one whose tiles "
     "arrive first; matters where its tiles all fit in memory."},
    {"caching", "Whether a tile stays on a GPU after its first use; matters where a GPU uses it again."},
    {"overlap",
     "Whether a GPU copies while it computes and runs kernels side by side, or does one thing after another."},
    {"compute-streams",
     "How many kernels a GPU may run side by side; auto takes as many as its kernels need to fill it."},
    {"memory",
     "What happens where tiles do not all fit: the problem is cut in cubes that do, or tiles are evicted; matters "
     "then only."},
    {"memory-fraction",
     "The part of a GPU's memory that tiles may take; matters where it is too small for all of them."},
    {"issue",
     "Whether one host thread hands over the operations of all GPUs, or one thread those of each; matters with "
     "several GPUs."},
}};

std::string meaning_of(std::string_view key) {
  const auto found = std::ranges::find(meanings, key, [](const auto& entry) { return entry.first; });
  return std::string{found == meanings.end() ? std::string_view{} : found->second};
}

}  // namespace

void apply_override(Policy& policy, std::string_view assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos) throw InputError{fmt::format("--set {}: expected key=value", assignment)};
  const auto key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  std::string known;
  for (const Field& field : fields()) {
    if (field.key == key) {
      if (!field.set(policy, value)) {
        throw InputError{fmt::format("--set {}: expected {}", assignment, field.accepted)};
      }
      std::erase_if(policy.overridden, [&](const PolicyOverride& earlier) { return earlier.key == key; });
      policy.overridden.push_back({std::string{key}, field.get(policy)});  // in one spelling
      return;
    }
    known += " " + std::string{field.key};
  }
  throw InputError{fmt::format("--set {}: no such field; there are:{}", key, known)};
}

namespace {

const Field& field_of(std::string_view key) {
  const auto found = std::ranges::find(fields(), key, &Field::key);
  if (found == fields().end()) throw std::logic_error{fmt::format("there is no field '{}'", key)};
  return *found;
}

}  // namespace

std::string value_of(const Policy& policy, std::string_view key) { return field_of(key).get(policy); }

void set_value(Policy& policy, std::string_view key, std::string_view value) {
  if (!field_of(key).set(policy, value))
    throw std::logic_error{fmt::format("field '{}' does not accept '{}'", key, value)};
}

std::vector<PolicyField> fields_of(const Policy& policy) {
  std::vector<PolicyField> result;
  for (const Field& field : fields())
    result.push_back({std::string{field.key}, field.get(policy), field.accepted, meaning_of(field.key)});
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
