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

constexpr std::string_view sizes[] = {"m", "n", "k"};

void require_few_points(const Sweep& sweep) {
  double count = 1;
  for (const SweepAxis& axis : sweep.axes) count *= static_cast<double>(axis.values.texts.size());
  if (count > static_cast<double>(most_points))
    throw InputError{fmt::format("the sweep has {:.4g} points; expected at most {}", count, most_points)};
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
        throw InputError{axis.place + error.what()};
      }
      if (const auto [first, fresh] = places.emplace(key, axis.place); !fresh)
        throw InputError{fmt::format("{}{} is varied before; expected it once", axis.place, in_quotes(key))};
    }
  const auto gemm = places.find("gemm");
  if (gemm == places.end()) return;
  for (const std::string_view size : sizes)
    if (places.contains(std::string{size}) || sweep.base_places.contains(std::string{size}))
      throw InputError{fmt::format("{}'gemm' gives all three sizes, and '{}' is given, too; expected one of them",
                                   gemm->second, size)};
}

void require_sizes(const JobText& job) {
  if (!job.problem.gemm) return;
  const auto parts = split(*job.problem.gemm, ',');
  for (std::size_t i = 0; parts.size() == std::size(sizes) && i < parts.size(); ++i)
    if (parts[i].empty())
      throw InputError{fmt::format("'{}' is missing; expected all of m, n and k, or gemm beside them", sizes[i])};
}

bool is_factor(const std::string& setting) { return split_setting(setting).second.starts_with('x'); }

/// No setting of an axis takes away what one before it says.
void require_all_hold(const JobText& job, const JobText& base, const Topology& machine) {
  const std::vector<std::string>& settings = job.machine.settings;
  const auto figures = figures_set(machine, settings);
  for (std::size_t later = 1; later < settings.size(); ++later) {
    if (std::ranges::find(base.machine.settings, settings[later]) != base.machine.settings.end()) continue;
    if (is_factor(settings[later])) continue;
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const auto is_set_before = [&](const std::string& figure) { return figures[earlier].contains(figure); };
      if (std::ranges::none_of(figures[later], is_set_before)) continue;
      if (figures[later].size() < figures[earlier].size() && std::ranges::all_of(figures[later], is_set_before))
        continue;
      throw InputError{
          fmt::format("{} sets what {} says, too; expected the one of fewer figures last, or no figure in "
                      "both",
                      in_quotes(settings[later]), in_quotes(settings[earlier]))};
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
  job.problem.resolve(machine);
  job.machine.resolve_devices(machine);
  job.policy.resolve();
}

/// Whether a message begins with the option or the setting that this key of a base is.
bool tells_of(std::string_view message, const std::string& key) {
  for (const std::string& begin : {"--" + key + ":", "--" + key + " ", "--set " + key + "=", key + "="})
    if (message.starts_with(begin)) return true;
  return false;
}

/// Where a file says what an error of its base is about: the key, or else the base.
std::string place_in_base(const Sweep& sweep, std::string_view message) {
  if (const std::string& gemm = sweep.base.problem.gemm.value_or(""); tells_of(message, "gemm")) {
    const auto parts = split(gemm, ',');
    for (std::size_t i = 0; parts.size() == std::size(sizes) && i < parts.size(); ++i)
      if (const auto size = sweep.base_places.find(std::string{sizes[i]});
          size != sweep.base_places.end() && (message.find(in_quotes(parts[i])) != std::string_view::npos ||
                                              message.find(fmt::format(": {} = ", sizes[i])) != std::string_view::npos))
        return size->second;
  }
  for (const auto& [key, place] : sweep.base_places)
    if (!key.empty() && tells_of(message, key)) return place;
  const auto base = sweep.base_places.find("");
  return base == sweep.base_places.end() ? "" : base->second;
}

/// Of the first values: an error is the base's, or that of the first axis with which it is there.
void check_first(const Sweep& sweep, Machines& machines) {
  try {
    return check_job(sweep.job(0), sweep.base, machines);
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (std::size_t count = 0; count <= sweep.axes.size(); ++count) try {
        check_job(sweep.job(0, count), sweep.base, machines);
      } catch (const InputError& earlier) {
        if (earlier.what() == message)
          throw InputError{(count > 0 ? sweep.axes[count - 1].values_place : place_in_base(sweep, message)) + message};
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
  for (std::size_t axis = 0, stride = sweep.points(); axis < sweep.axes.size(); ++axis) {
    const SweepAxis& varied = sweep.axes[axis];
    stride /= varied.values.texts.size();
    for (std::size_t i = 1; i < varied.values.texts.size(); ++i) try {
        check_job(sweep.job(i * stride), sweep.base, machines);
      } catch (const InputError& error) {
        throw InputError{varied.values_place + error.what()};
      }
  }
  return machines;
}

}  // namespace tilerail::study
