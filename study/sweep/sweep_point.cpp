#include "study/sweep/sweep_point.hpp"

#include <algorithm>

#include "model/base/indices.hpp"
#include "report/summary/summary.hpp"
#include "study/evaluation.hpp"
#include "study/simulator.hpp"

namespace tilerail::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* result_columns[] = {
    "machine",         "routine",   "m",        "n",         "k",          "dtype",
    "transa",          "transb",    "alpha",    "beta",      "place",      "plan_policy",
    "plan_tile",       "plan_gpus", "ops",      "plan_hash", "makespan_s", "interval_low_s",
    "interval_high_s", "tflops",    "bound_s",  "bound_by",  "over_bound", "kernels",
    "bottleneck",      "busiest",   "bytes_in", "bytes_out", "bytes_peer", "energy_j"};
constexpr const char* measured_columns[] = {"measured_s", "measured_min_s", "measured_tflops", "first_s", "check"};

/// A column that is an axis, too, says what came of its value: "T" of "t".
void put(Json& cells, const char* column, Json value) { cells[column] = std::move(value); }

void put_problem(Json& cells, const Plan& plan, const std::string& place) {
  const GemmProblem& p = plan.problem;
  put(cells, "routine", to_string(p.routine));
  put(cells, "m", p.m), put(cells, "n", p.n), put(cells, "k", p.k);
  put(cells, "dtype", to_string(p.dtype));
  put(cells, "transa", to_string(p.trans_a)), put(cells, "transb", to_string(p.trans_b));
  put(cells, "alpha", p.alpha), put(cells, "beta", p.beta), put(cells, "place", place);
}

void put_simulation(Json& cells, const Summary& summary) {
  const Evaluation e = evaluation_of(summary);
  put(cells, "machine", summary.metadata.machine), put(cells, "plan_policy", summary.metadata.policy);
  put(cells, "plan_tile", e.tile), put(cells, "plan_gpus", e.devices.size()), put(cells, "ops", e.ops);
  put(cells, "plan_hash", e.plan_hash), put(cells, "makespan_s", e.makespan), put(cells, "tflops", summary.tflops);
  if (const auto& interval = summary.metadata.interval)
    put(cells, "interval_low_s", interval->low), put(cells, "interval_high_s", interval->high);
  put(cells, "bound_s", e.bound), put(cells, "bound_by", e.binding);
  if (e.bound > 0) put(cells, "over_bound", e.makespan / e.bound);
  put(cells, "kernels", e.kernels), put(cells, "bottleneck", to_string(e.bottleneck)), put(cells, "busiest", e.busiest);
  put(cells, "bytes_in", summary.bytes_in), put(cells, "bytes_out", summary.bytes_out);
  put(cells, "bytes_peer", summary.bytes_peer);
  if (summary.energy) put(cells, "energy_j", summary.energy->joules);
}

void put_measurement(Json& cells, const Sweep& sweep, const Topology& machine, const Plan& plan, double tflop) {
  const Plan* const plans[] = {&plan};
  Runner runner{sweep.backend, machine, plans, sweep.run};
  const RunResult result = runner.run(plan);
  put(cells, "measured_s", result.median());
  put(cells, "measured_min_s", *std::ranges::min_element(result.makespans));
  put(cells, "measured_tflops", tflop / result.median());
  if (result.gpu) put(cells, "first_s", result.gpu->first_s);
  if (result.check) put(cells, "check", result.check->passed ? "passed" : "FAILED");
}

}  // namespace

Json empty_cells(const Sweep& sweep, const SweepStamp& stamp, size_t point, const std::string& error) {
  Json cells{{"sweep", stamp.hash}, {"point", point}, {"points", sweep.points()}};
  for (const auto axis : indices(sweep.axes)) {
    const SweepAxis& a = sweep.axes[axis];
    if (a.values.numeric())
      cells[a.column()] = a.values.numbers[sweep.index(point, axis)];
    else
      cells[a.column()] = sweep.value(point, axis);
  }
  const auto add = [&](const char* column) {
    if (!cells.contains(column)) cells[column] = nullptr;
  };
  std::ranges::for_each(result_columns, add);
  cells["backend"] = sweep.backend;
  if (sweep.is_measured()) std::ranges::for_each(measured_columns, add);
  cells["version"] = stamp.version;
  cells["error"] = error.empty() ? Json(nullptr) : Json(error);
  return cells;
}

Json cells_of(const Sweep& sweep, const Machines& machines, const SweepStamp& stamp, size_t point) {
  const JobText text = sweep.job(point);
  const Job job = plan_job(machine_of(text, machines), text);
  Json cells = empty_cells(sweep, stamp, point, "");
  put_problem(cells, job.plan, text.problem.place_or_default());
  const Summary summary = simulated(job.plan, job.topology);
  put_simulation(cells, summary);
  if (sweep.is_measured()) put_measurement(cells, sweep, job.topology, job.plan, summary.tflops * summary.makespan_s);
  return cells;
}

}  // namespace tilerail::study
