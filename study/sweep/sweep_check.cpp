#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "study/sweep/keys.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::study {
namespace {

void require_few_points(const Sweep& sweep) {
  double count = 1;
  for (const SweepAxis& axis : sweep.axes) count *= double(axis.values.texts.size());
  if (count > double(most_points))
    throw InputError{fmt::format("the sweep has {:.4g} points", count), fmt::format("at most {}", most_points)};
}

/// Each once, and sizes by gemm or beside it, but not both: the table would have sizes that are not those of its rows.
void check_keys(const Sweep& sweep) {
  std::map<std::string, std::string> places;
  for (const SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys) {
      try {
        JobText unused;
        set_key(unused, key, "");
      } catch (const InputError& error) {
        throw error.at(axis.place);
      }
      if (const auto [first, fresh] = places.emplace(key, axis.place); !fresh)
        throw given_twice("vary", key).at(axis.place);
    }
  const auto gemm = places.find("gemm");
  if (gemm == places.end()) return;
  for (const std::string_view size : size_keys)
    if (places.contains(std::string{size}) || sweep.base_places.contains(std::string{size}))
      throw InputError{
          "gemm", {}, fmt::format("gives all three sizes, and '{}' is given, too", size), "one of them", gemm->second};
}

void require_sizes(const JobText& job) {
  if (!job.problem.gemm) return;
  const auto parts = split(*job.problem.gemm, ',');
  for (size_t i = 0; parts.size() == size_keys.size() && i < parts.size(); ++i)
    if (parts[i].empty()) throw missing(size_keys[i], "all of m, n and k, or gemm beside them");
}

bool is_factor(const std::string& setting) { return split_setting(setting).second.starts_with('x'); }

/// No setting of an axis takes away what one before it says.
void require_all_hold(const JobText& job, const JobText& base, const Topology& machine) {
  const std::vector<std::string>& settings = job.machine.settings;
  const auto figures = figures_set(machine, settings);
  for (size_t later = 1; later < settings.size(); ++later) {
    if (std::ranges::find(base.machine.settings, settings[later]) != base.machine.settings.end()) continue;
    if (is_factor(settings[later])) continue;
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const auto is_set_before = [&](const std::string& figure) { return figures[earlier].contains(figure); };
      if (std::ranges::none_of(figures[later], is_set_before)) continue;
      if (figures[later].size() < figures[earlier].size() && std::ranges::all_of(figures[later], is_set_before))
        continue;
      throw InputError{"", settings[later], fmt::format("sets what {} sets, too", in_quotes(settings[earlier])),
                       "the one of fewer figures last, or no figure in both"};
    }
  }
}

/// Everything that can be wrong without planning.
void check_job(const JobText& job, const JobText& base, Machines& machines) {
  MachineText plain = job.machine;
  plain.settings.clear();
  if (!machines.contains(plain.topology)) machines.emplace(plain.topology, plain.load());
  require_all_hold(job, base, machines.at(plain.topology));
  const Topology machine = machine_of(job, machines);
  require_sizes(job);
  job.on(machine);
}

/// Whether the error is about this key of a base: a value of it, or an assignment to it.
bool is_about(const InputError& error, const std::string& key, const JobText& base) {
  const auto size = std::ranges::find(size_keys, key);
  if (error.subject == "gemm" && size != size_keys.end()) {
    const std::string gemm = base.problem.gemm.value_or("");
    const auto parts = split(gemm, ',');
    return parts.size() == size_keys.size() && error.value == parts[size_t(size - size_keys.begin())];
  }
  const std::string assigned = key + "=";
  return error.subject == key || (key == "gemm" && std::ranges::find(size_keys, error.subject) != size_keys.end()) ||
         error.value.value_or("").starts_with(assigned) || error.place.starts_with(assigned);
}

/// The error at the key of the base that it is about, or else at the base. One size is told before all sizes.
InputError placed_in_base(const Sweep& sweep, const InputError& error) {
  for (const std::string_view size : size_keys) {
    const auto place = sweep.base_places.find(std::string{size});
    if (place != sweep.base_places.end() && is_about(error, place->first, sweep.base)) return error.at(place->second);
  }
  for (const auto& [key, place] : sweep.base_places)
    if (!key.empty() && is_about(error, key, sweep.base)) return error.at(place);
  const auto base = sweep.base_places.find("");
  return base == sweep.base_places.end() ? error : error.at(base->second);
}

/// Of the first values: an error is the base's, or that of the first axis with which it is there.
void check_first(const Sweep& sweep, Machines& machines) {
  try {
    return check_job(sweep.job(0), sweep.base, machines);
  } catch (const InputError& error) {
    for (size_t count = 0; count <= sweep.axes.size(); ++count) try {
        check_job(sweep.job(0, count), sweep.base, machines);
      } catch (const InputError& earlier) {
        if (earlier.what() == std::string_view{error.what()})
          throw count > 0 ? error.at(sweep.axes[count - 1].values_place) : placed_in_base(sweep, error);
      }
    throw;
  }
}

}  // namespace

Machines check_sweep(const Sweep& sweep) {
  require_few_points(sweep);
  check_keys(sweep);
  Machines machines;
  check_first(sweep, machines);
  for (size_t axis = 0, stride = sweep.points(); axis < sweep.axes.size(); ++axis) {
    const SweepAxis& varied = sweep.axes[axis];
    stride /= varied.values.texts.size();
    for (size_t i = 1; i < varied.values.texts.size(); ++i) try {
        check_job(sweep.job(i * stride), sweep.base, machines);
      } catch (const InputError& error) {
        throw error.at(varied.values_place);
      }
  }
  return machines;
}

}  // namespace tilerail::study
