#include "study/sweep/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/sweep/keys.hpp"

namespace tilerail::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_points = 1000000;

/// FNV-1a, 64 bits.
std::string digest(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

Json text_of(const JobText& job) {
  const auto given = [](const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); };
  const ProblemText& p = job.problem;
  return {
      {"problem",
       {given(p.gemm), given(p.gemv), given(p.dot), given(p.axpy), p.dtype, p.alpha, given(p.trans_a), given(p.trans_b),
        given(p.beta), given(p.place), given(p.leading[0]), given(p.leading[1]), given(p.leading[2])}},
      {"machine", {job.machine.topology, job.machine.devices, job.machine.settings}},
      {"policy", {job.policy.name, given(job.policy.tile), given(job.policy.select), job.policy.overrides}}};
}

void load(Machines& machines, const JobText& job) {
  MachineText plain = job.machine;
  plain.settings.clear();
  if (!machines.contains(plain.topology)) machines.emplace(plain.topology, plain.load());
}

/// Everything that can be wrong without planning.
void check_job(const JobText& job, Machines& machines) {
  load(machines, job);
  const Topology machine = machine_of(job, machines);
  job.problem.resolve(machine);
  job.machine.resolve_devices(machine);
  job.policy.resolve();
}

/// Errors of options call them "--dtype"; here the key stands before.
template <class Action>
void placing(const std::string& place, const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    throw InputError{place + error.what()};
  }
}

}  // namespace

std::string SweepAxis::column() const {
  const std::string name = fmt::format("{}", fmt::join(keys, " & "));
  return values.unit.empty() ? name : fmt::format("{}_{}", name, values.unit);
}

SweepAxis parse_axis(const std::string& text) {
  SweepAxis axis{{}, {}, fmt::format("--vary {}: ", in_quotes(text))};
  const auto equals = text.find('=');
  placing(axis.place, [&] {
    if (equals == std::string::npos || equals == 0) throw InputError{"expected KEY=VALUES, such as gemm=4K..16K x2"};
    for (const std::string_view key : split(std::string_view{text}.substr(0, equals), '&')) {
      const auto begin = key.find_first_not_of(' ');
      if (begin == std::string_view::npos) throw InputError{"a key is missing beside '&'"};
      axis.keys.emplace_back(key.substr(begin, key.find_last_not_of(' ') - begin + 1));
    }
    axis.values = expand_values(std::string_view{text}.substr(equals + 1));
  });
  return axis;
}

std::size_t Sweep::points() const {
  std::size_t count = 1;
  for (const SweepAxis& axis : axes) count *= axis.values.texts.size();
  return count;
}

std::size_t Sweep::index(std::size_t point, std::size_t axis) const {
  for (std::size_t later = axes.size(); --later > axis;) point /= axes[later].values.texts.size();
  return point % axes[axis].values.texts.size();
}

JobText Sweep::job(std::size_t point) const {
  JobText job = base;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    for (const std::string& key : axes[axis].keys) set_key(job, key, value(point, axis));
  return job;
}

Machines check_sweep(const Sweep& sweep) {
  double count = 1;
  for (const SweepAxis& axis : sweep.axes) count *= static_cast<double>(axis.values.texts.size());
  if (count > static_cast<double>(most_points))
    throw InputError{fmt::format("the sweep has {:.4g} points; expected at most {}", count, most_points)};
  std::map<std::string, std::string> places;
  for (const SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys)
      if (const auto [first, fresh] = places.emplace(key, axis.place); !fresh)
        throw InputError{fmt::format("{}{} is varied before; expected it once", axis.place, in_quotes(key))};
  Machines machines;
  check_job(sweep.job(0), machines);  // what is wrong with this is wrong with all, or says which value it is
  for (std::size_t axis = 0, stride = sweep.points(); axis < sweep.axes.size(); ++axis) {
    stride /= sweep.axes[axis].values.texts.size();
    placing(sweep.axes[axis].place, [&] {
      for (std::size_t i = 1; i < sweep.axes[axis].values.texts.size(); ++i) check_job(sweep.job(i * stride), machines);
    });
  }
  return machines;
}

Topology machine_of(const JobText& job, const Machines& machines) {
  return with_settings(machines.at(job.machine.topology), job.machine.settings);
}

std::string hash_of(const Sweep& sweep, const Machines& machines, const std::string& version) {
  Json all{{"version", version}, {"base", text_of(sweep.base)}, {"backend", sweep.backend}};
  if (sweep.backend != "sim") all["run"] = {sweep.run.warmup, sweep.run.iterations, sweep.run.seed, sweep.run.check};
  for (const SweepAxis& axis : sweep.axes) all["axes"].push_back({axis.keys, axis.values.texts});
  for (const auto& [name, machine] : machines) all["machines"].push_back({name, to_toml(machine.description())});
  return digest(all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tilerail::study
