// Reader and writer of plan caches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
#include "model/base/toml_table.hpp"
#include "model/machine/toml_text.hpp"
#include "model/machine/topology_writer.hpp"
#include "sched/policy/policy.hpp"
#include "study/planning/plan_cache.hpp"

namespace tilerail::study {
namespace {

constexpr int schema = 2;
constexpr size_t most_bytes = size_t{16} << 20;  // limit of TOML readers
constexpr size_t most_devices = 4096;
constexpr Range<double> any_makespan{0, 1e9, "0 to 1e9 seconds"};
constexpr Range<double> any_metric{0, 1e300, "0 to 1e300"};
constexpr int64_t most_count = int64_t{1} << 40;

/// Returns the result of `read`. Prefixes its InputErrors with the location of the value.
template <class Read>
auto read_as(const TomlValue& value, const Read& read) {
  const std::string text = value.text();
  try {
    return read(text);
  } catch (const InputError& error) {
    throw error.about("").at(value.place());
  }
}

std::vector<std::string> texts(const TomlValue& value, size_t least, size_t most) {
  std::vector<std::string> result;
  for (const TomlValue& each : value.list(most)) result.push_back(each.text());
  if (result.size() < least)
    value.fail(fmt::format("has {} entries", result.size()),
               fmt::format("{} or more", least));
  return result;
}

void read_problem(PlanKey& key, const TomlTable& table) {
  const auto extent = [&](const char* name) {
    return table.need(name).integer(0, most_extent);
  };
  key.routine = read_as(table.need("routine"), routine_from_string);
  key.m = extent("m"), key.n = extent("n"), key.k = extent("k");
  key.dtype = read_as(table.need("dtype"), dtype_from_string);
  const TomlValue trans = table.need("trans");
  const std::string both = trans.text();
  if (both.size() != 2 || both.find_first_not_of("NT") != std::string::npos)
    trans.fail("is not two letters", "N or T for each of A and B");
  const auto letter = [&](size_t i) {
    return read_as(trans,
                   [i](auto& text) { return trans_from_string(text.substr(i, 1)); });
  };
  key.trans_a = letter(0), key.trans_b = letter(1);
  key.alpha_is_zero = table.need("alpha").integer(0, 1) == 0;
  key.beta_is_zero = table.need("beta").integer(0, 1) == 0;
  const auto place = texts(table.need("place"), key.place.size(), key.place.size());
  std::ranges::copy(place, key.place.begin());
  const TomlValue leading = table.need("ld");
  const auto ld = leading.list(key.ld.size());
  if (ld.size() != key.ld.size()) leading.fail("is not of A, B and C", "three numbers");
  for (const auto i : indices(ld)) key.ld[i] = ld[i].integer(0, most_extent);
}

std::string read_hash(const TomlValue& value) {
  std::string hash = value.text();
  if (hash.size() != 16 ||
      hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    value.fail("is not a hash", "16 hexadecimal digits");
  return hash;
}

TunedPlan read_choice(const TomlTable& table) {
  TunedPlan tuned;
  tuned.seconds = table.need("seconds").in(any_makespan);
  if (const auto metric = table.find("metric")) tuned.metric = metric->in(any_metric);
  const TomlValue evaluator = table.need("judge");
  if (evaluator.text() == to_string(Evaluator::measurement))
    tuned.evaluator = Evaluator::measurement;
  else if (evaluator.text() != to_string(tuned.evaluator))
    evaluator.fail("is not a judge", "simulator or measurement");
  tuned.preset = table.need("preset").text();
  tuned.tried = table.need("tried").integer(0, most_count);
  tuned.effort = Effort(table.need("effort").one_of(effort_names));
  tuned.plan_hash = read_hash(table.need("plan_hash"));
  tuned.version = table.need("version").text();
  for (const auto& [key, value] : table.need("decided").table().all())
    tuned.decisions.push_back({key, value.text()});
  return tuned;
}

void read_plan(PlanCache& cache, const TomlTable& table) {
  table.allow_only({"routine", "m",       "n",      "k",     "dtype",   "trans",
                    "alpha",   "beta",    "place",  "ld",    "devices", "policy",
                    "seconds", "judge",   "preset", "tried", "effort",  "plan_hash",
                    "version", "decided", "metric"});
  PlanKey key;
  read_problem(key, table);
  key.devices = texts(table.need("devices"), 1, most_devices);
  key.policy = table.need("policy").text();
  TunedPlan tuned = read_choice(table);
  const std::string text = text_of(key);
  cache.places.emplace(key, table.place());
  if (!cache.plans.emplace(std::move(key), std::move(tuned)).second)
    table.fail(text + " appears twice for these GPUs and this policy", "it once");
}

std::string list(const auto& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(toml_text(name));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string key_text(const std::string& name) {
  constexpr const char* bare =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const bool is_bare = !name.empty() && name.find_first_not_of(bare) == std::string::npos;
  return is_bare ? name : toml_text(name);
}

std::string text_of(const PlanKey& key, const TunedPlan& tuned) {
  std::string text = "\n[[plan]]\n";
  const auto line = [&](std::string_view name, const auto& value) {
    text += fmt::format("{} = {}\n", name, value);
  };
  line("routine", toml_text(to_string(key.routine)));
  line("m", key.m), line("n", key.n), line("k", key.k);
  line("dtype", toml_text(to_string(key.dtype)));
  line("trans", fmt::format("\"{}{}\"", to_string(key.trans_a), to_string(key.trans_b)));
  line("alpha", key.alpha_is_zero ? 0 : 1), line("beta", key.beta_is_zero ? 0 : 1);
  line("place", list(key.place));
  line("ld", fmt::format("[{}]", fmt::join(key.ld, ", ")));
  line("devices", list(key.devices));
  line("policy", toml_text(key.policy));
  line("seconds", shortest(tuned.seconds));
  if (tuned.metric) line("metric", shortest(*tuned.metric));
  line("judge", toml_text(to_string(tuned.evaluator))),
      line("preset", toml_text(tuned.preset));
  line("tried", tuned.tried),
      line("effort", toml_text(effort_names[size_t(tuned.effort)]));
  line("plan_hash", toml_text(tuned.plan_hash)),
      line("version", toml_text(tuned.version));
  text += "[plan.decided]\n";
  for (const auto& [name, value] : tuned.decisions)
    line(key_text(name), toml_text(value));
  return text;
}

}  // namespace

PlanCache read_plan_cache(std::string_view text, const std::string& file) {
  const toml::table root = parsed_toml(text, file);
  const TomlTable table{root, file, ""};
  const TomlValue number = table.need("schema");
  if (number.integer(0, most_count) != schema)
    number.fail("is not supported",
                fmt::format("{}: tune again into another file", schema));
  table.allow_only({"schema", "machine", "machine_hash", "plan"});
  PlanCache cache{
      {table.need("machine").text(), read_hash(table.need("machine_hash"))}, {}, file};
  if (const auto plans = table.find("plan"))
    for (const TomlTable& each : plans->tables("plan")) read_plan(cache, each);
  return cache;
}

std::string to_toml(const PlanCache& cache) {
  std::string text = fmt::format(
      "# Plans that `tilerail tune` found for one machine; docs/formats.md#plan-cache "
      "explains each key.\nschema = {}\nmachine = {}\nmachine_hash = {}\n",
      schema, toml_text(cache.owner.machine), toml_text(cache.owner.hash));
  for (const auto& [key, tuned] : cache.plans) text += text_of(key, tuned);
  if (text.size() > most_bytes)
    throw fault_of("",
                   fmt::format("{} plans take {} bytes", cache.plans.size(), text.size()),
                   "at most 16 MiB: forget some, or tune into several files")
        .at(cache.file);
  return text;
}

}  // namespace tilerail::study
