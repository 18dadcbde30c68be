#include "sched/emulation/profile.hpp"
#include "sched/policy/option_table.hpp"

namespace tilerail {

/// Policies share emulations: a change copies the emulation.
template <class Member>
Member& in(Policy& policy, Member Profile::*member) {
  auto changed = std::make_shared<LibraryEmulation>(profile_of(policy));
  policy.choices.emulation = changed;
  return changed->profile.*member;
}
template <class Member>
const Member& in(const Policy& policy, Member Profile::*member) {
  return profile_of(policy).*member;
}

namespace {

/// The core's value `emulated`, with this rule of the profile.
template <class Choice, class Owner, class Rule>
Value emulated(std::string_view name, Choice Owner::*choice, Rule Profile::*rule,
               std::type_identity_t<Rule> by) {
  const auto choose = [=](Policy& policy) {
    in(policy, choice) = Choice::emulated;
    in(policy, rule) = by;
  };
  return {name, choose, [=](const Policy& policy) {
            return in(policy, choice) == Choice::emulated && in(policy, rule) == by;
          }};
}

/// The same for tiles; resets a tile given as a number.
Value tile_by(std::string_view name, TileRule rule,
              OverlapModel model = OverlapModel::dr) {
  const Value of_rule = emulated(name, &Policy::tile_choice, &Profile::tile_rule, rule);
  const auto choose = [=](Policy& policy) {
    of_rule.choose(policy);
    policy.choices.tile = 0;
    in(policy, &Profile::tile_model) = model;
  };
  return {name, choose, [=](const Policy& policy) {
            return policy.choices.tile == 0 && of_rule.is_chosen(policy) &&
                   profile_of(policy).tile_model == model;
          }};
}

std::vector<Value> tile_rules() {
  std::vector<Value> rules{
      tile_by("gemmex", TileRule::gemmex), tile_by("repeat", TileRule::repeat),
      tile_by("paralia", TileRule::paralia), tile_by("cublasxt", TileRule::cublasxt),
      tile_by("xkblas", TileRule::xkblas)};
  for (const OverlapModel model : overlap_models)
    rules.push_back(tile_by(to_string(model), TileRule::model, model));
  return rules;
}

/// Further values of the core's options.
const std::vector<Field>& more_values() {
  static const std::vector<Field> more{
      {"tile", "", tile_rules()},
      {"grid", "", {value("xkblas", &Policy::grid, GridChoice::emulated)}},
      {"routing",
       "Fetches a tile from its home, over the fastest pair, over a route of the link "
       "map, from where it arrives first "
       "(eta, link-eta), or from the nearest GPU (peer-rank, nearest-id).",
       {emulated("peer-rank", &Choices::routing, &Profile::source_rule,
                 SourceRule::peer_rank),
        emulated("nearest-id", &Choices::routing, &Profile::source_rule,
                 SourceRule::nearest_id)}}};
  return more;
}

std::vector<Field> own_options() {
  const auto costs = [](std::string_view key, double Profile::*member,
                        std::string_view meaning) {
    return emulates(
        {.key = key, .meaning = meaning, .values = {}, .number = number(member, 0, 1e6)});
  };
  return {
      emulates(
          {"agent",
           "Gives tasks to GPUs in model time by the rules of a library, or plans ahead.",
           values(&Profile::agent, {{"none", Agent::none},
                                    {"paralia", Agent::paralia},
                                    {"xkblas", Agent::xkblas},
                                    {"blasx", Agent::blasx}})}),
      emulates(
          of_search({"select-by",
                     "Compares sets of GPUs for devices=best by plans on the best "
                     "sets, by PARALiA's model as in the thesis, or as in its library.",
                     values(&Profile::select_by, {{"plans", SelectBy::plans},
                                                  {"model", SelectBy::model},
                                                  {"library", SelectBy::library}})})),
      emulates({"copy-rates",
                "Simulates copies from and to hosts at their own rates, or as if one "
                "went the other way.",
                values(&Profile::copy_rates,
                       {{"alone", CopyRates::alone}, {"duplex", CopyRates::duplex}})}),
      emulates(
          {"warm",
           "Starts with the tiles that an earlier call left on GPUs; simulation only.",
           on_off(&Profile::warm)}),
      costs("task-us", &Profile::task_us,
            "Adds microseconds of a library's run-time system to each kernel."),
      costs("request-us", &Profile::request_us,
            "Adds microseconds to each copy from or to a host."),
      costs("peer-us", &Profile::peer_us, "Adds microseconds to each copy between GPUs."),
      costs("gpu-us", &Profile::gpu_us,
            "Adds microseconds to each call, for each of its GPUs."),
  };
}

}  // namespace

const std::vector<Field>* LibraryEmulation::fields() const {
  static const std::vector<Field> all = [] {
    std::vector<Field> fields = core_fields();
    for (const Field& more : more_values()) {
      Field& field = *std::ranges::find(fields, more.key, &Field::key);
      field.values.insert(field.values.end(), more.values.begin(), more.values.end());
      if (!more.meaning.empty()) field.meaning = more.meaning;
    }
    for (Field& own : own_options()) fields.push_back(std::move(own));
    return fields;
  }();
  return &all;
}

}  // namespace tilerail
