#include "study/sweep/sweep.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "model/base/digest.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/sweep/keys.hpp"

namespace tilerail::study {
namespace {

using Json = nlohmann::ordered_json;

Json text_of(const JobText& job) {
  const auto given = [](const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); };
  const ProblemText& p = job.problem;
  return {
      {"problem",
       {given(p.gemm), given(p.gemv), given(p.dot), given(p.axpy), p.dtype, p.alpha, given(p.trans_a), given(p.trans_b),
        given(p.beta), given(p.place), given(p.leading[0]), given(p.leading[1]), given(p.leading[2])}},
      {"machine", {job.machine.topology, job.machine.devices, job.machine.settings}},
      {"policy", {job.policy.name, given(job.policy.tile), job.policy.overrides}}};
}

}  // namespace

size_t Sweep::points() const {
  size_t count = 1;
  for (const SweepAxis& axis : axes) count *= axis.values.texts.size();
  return count;
}

size_t Sweep::index(size_t point, size_t axis) const {
  for (size_t later = axes.size(); --later > axis;) point /= axes[later].values.texts.size();
  return point % axes[axis].values.texts.size();
}

JobText Sweep::job(size_t point, size_t count) const {
  JobText job = base;
  for (size_t axis = 0; axis < count; ++axis)
    for (const std::string& key : axes[axis].keys) set_key(job, key, value(point, axis));
  return job;
}

Topology machine_of(const JobText& job, const Machines& machines) {
  return with_settings(machines.at(job.machine.topology), job.machine.settings);
}

std::string hash_of(const Sweep& sweep, const Machines& machines, const std::string& version) {
  Json all{{"version", version}, {"base", text_of(sweep.base)}, {"backend", sweep.backend}};
  const RunSettings& run = sweep.run;
  if (sweep.is_measured())
    all["run"] = {run.warmup, run.iterations, run.seed, run.check, int(run.pages), run.energy_seconds};
  for (const SweepAxis& axis : sweep.axes) all["axes"].push_back({axis.keys, axis.values.texts});
  for (const auto& [name, machine] : machines) all["machines"].push_back({name, to_toml(machine.description())});
  return digest_text(all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tilerail::study
