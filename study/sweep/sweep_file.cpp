#include "study/sweep/sweep_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/toml_table.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/toml_text.hpp"
#include "study/sweep/keys.hpp"

namespace tilerail::study {
namespace {

constexpr Range<double> any_number{-1e300, 1e300, "a finite number"};

/// A text, or a number as one would write it.
std::string text_of(const TomlValue& value) {
  if (value.is_text()) return value.text();
  return typed(value.in(any_number));
}

template <class Action>
void placing(const std::string& place, const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    throw error.place.empty() ? error.at(place) : error;
  }
}

/// Lists of settings first and gemm before its sizes, whatever their order in the file.
int rank_of(const std::string& key) { return key == "set" || key == "topo-set" ? 0 : key == "gemm" ? 1 : 2; }

/// Whether a list has said it before.
bool is_given(const JobText& base, const std::string& key) {
  return std::ranges::any_of(base.policy.overrides, [&](const auto& given) { return given.starts_with(key + "="); }) ||
         std::ranges::any_of(base.machine.settings,
                             [&](const auto& given) { return split_setting(given).first == key; });
}

void read_base(Sweep& sweep, const TomlTable& base) {
  sweep.base_places[""] = base.place();
  auto entries = base.all();
  std::ranges::stable_sort(entries, {}, [](const auto& entry) { return rank_of(entry.first); });
  for (const auto& [key, value] : entries) {
    if (rank_of(key) == 0) {
      const bool of_policy = key == "set";
      for (const TomlValue& each : value.list(most_values)) {
        const std::string text = each.text();
        (of_policy ? sweep.base.policy.overrides : sweep.base.machine.settings).push_back(text);
        placing(each.place(), [&] {
          const std::string name = of_policy ? text.substr(0, text.find('=')) : split_setting(text).first;
          sweep.base_places.emplace(name, each.place());
        });
      }
      continue;
    }
    placing(value.place(), [&, &k = key, &v = value] {
      if (is_given(sweep.base, k)) throw given_twice("", k);
      set_key(sweep.base, k, text_of(v));
    });
    sweep.base_places[key] = value.place();
  }
}

SweepAxis read_axis(const TomlTable& table) {
  table.allow_only({"key", "keys", "values"});
  SweepAxis axis;
  const auto key = table.find("key"), keys = table.find("keys");
  if (bool(key) == bool(keys)) table.fail("expected 'key' or 'keys'");
  if (key) axis.keys.push_back(key->text());
  if (keys)
    for (const TomlValue& each : keys->list(most_values)) axis.keys.push_back(each.text());
  axis.place = (key ? key : keys)->place();
  if (axis.keys.empty()) keys->fail("there are none; expected at least one");
  const TomlValue values = table.need("values");
  axis.values_place = values.place();
  placing(values.place(), [&] {
    if (values.is_text()) {
      axis.values = values_of(axis.keys, values.text());
      return;
    }
    std::vector<std::string> items;
    for (const TomlValue& each : values.list(most_values)) items.push_back(text_of(each));
    axis.values = values_of(axis.keys, items);
  });
  return axis;
}

}  // namespace

Sweep load_sweep(const std::string& file) { return read_sweep(read_file(file), file); }

Sweep read_sweep(std::string_view text, const std::string& file) {
  const toml::table root = parsed_toml(text, file);
  const TomlTable table{root, file, ""};
  table.allow_only({"base", "vary"});
  Sweep sweep;
  sweep.base.machine.folder = std::filesystem::path{file}.parent_path().string();
  sweep.base_places[""] = file;
  if (const auto base = table.find("base")) read_base(sweep, base->table());
  if (const auto vary = table.find("vary"))
    for (const TomlTable& each : vary->tables("vary")) sweep.axes.push_back(read_axis(each));
  return sweep;
}

}  // namespace tilerail::study
