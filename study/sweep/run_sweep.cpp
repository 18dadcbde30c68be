// Plans and simulates the points of a sweep; each is a row of a table
// (docs/formats.md#sweep).

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/json.hpp"
#include "report/summary/summary.hpp"
#include "study/evaluation.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::study {
namespace {

constexpr const char* result_columns[] = {"machine",
                                          "routine",
                                          "m",
                                          "n",
                                          "k",
                                          "dtype",
                                          "transa",
                                          "transb",
                                          "alpha",
                                          "beta",
                                          "place",
                                          "plan_policy",
                                          "plan_tile",
                                          "plan_gpus",
                                          "ops",
                                          "plan_hash",
                                          "makespan_s",
                                          "interval_low_s",
                                          "interval_high_s",
                                          "tflops",
                                          "bound_s",
                                          "bound_by",
                                          "over_bound",
                                          "kernels",
                                          "bottleneck",
                                          "busiest",
                                          "bytes_in",
                                          "bytes_out",
                                          "bytes_peer",
                                          "energy_j"};

/// A key of the problem that is also an axis contains the parsed value: "T" for "t".
void put_problem(Json& cells, const GemmProblem& problem, const std::string& place) {
  cells.update({{"routine", to_string(problem.routine)},
                {"m", problem.m},
                {"n", problem.n},
                {"k", problem.k},
                {"dtype", to_string(problem.dtype)},
                {"transa", to_string(problem.trans_a)},
                {"transb", to_string(problem.trans_b)},
                {"alpha", problem.alpha},
                {"beta", problem.beta},
                {"place", place}});
}

void put_simulation(Json& cells, const Summary& summary) {
  const Evaluation e = evaluation_of(summary);
  const auto& path = summary.critical_path;
  cells.update({{"machine", summary.metadata.machine},
                {"plan_policy", summary.metadata.policy},
                {"plan_tile", e.tile},
                {"plan_gpus", summary.metadata.devices.size()},
                {"ops", e.ops},
                {"plan_hash", e.plan_hash},
                {"makespan_s", e.makespan},
                {"tflops", summary.tflops},
                {"bound_s", e.bound},
                {"bound_by", to_text(e.binding)},
                {"kernels", e.kernels},
                {"bottleneck", to_string(e.bottleneck)},
                {"busiest", path.empty() ? "" : to_text(path.front())},
                {"bytes_in", summary.bytes_in},
                {"bytes_out", summary.bytes_out},
                {"bytes_peer", summary.bytes_peer}});
  if (e.bound > 0) cells["over_bound"] = e.makespan / e.bound;
  if (const auto& interval = summary.metadata.interval) {
    cells["interval_low_s"] = interval->low;
    cells["interval_high_s"] = interval->high;
  }
  if (summary.energy) cells["energy_j"] = summary.energy->joules;
}

/// All columns, with null for results.
Json empty_cells(const Sweep& sweep, size_t point) {
  Json cells{{"point", point}};
  for (const auto axis : indices(sweep.axes)) {
    const SweepAxis& a = sweep.axes[axis];
    const size_t index = sweep.index(point, axis);
    cells[a.column()] =
        a.numbers.empty() ? Json(a.values[index]) : Json(a.numbers[index]);
  }
  for (const char* column : result_columns) cells.emplace(column, nullptr);
  cells["version"] = program_version();
  cells["error"] = nullptr;
  return cells;
}

SweepRow row_of(const Sweep& sweep, const Machines& machines, UnchangedPlans& plans,
                size_t point) {
  SweepRow row{empty_cells(sweep, point)};
  try {
    const JobText text = sweep.job(point);
    const Job job = plan_job(machine_of(text, machines), text, {}, &plans);
    const Summary summary = simulated(job.plan, job.topology);
    put_problem(row.cells, job.plan.problem, text.problem.place_or_default());
    put_simulation(row.cells, summary);
    row.bound_by = summary.bound.binding.kind;
  } catch (const InputError& error) {
    row.cells["error"] = error.what();
  }
  return row;
}

}  // namespace

std::vector<SweepRow> run_sweep(const Sweep& sweep, const Machines& machines,
                                const Workers& workers) {
  std::vector<SweepRow> rows(sweep.points());
  UnchangedPlans plans;
  in_parallel(workers, rows.size(),
              [&](size_t point) { rows[point] = row_of(sweep, machines, plans, point); });
  std::erase_if(rows, [](const SweepRow& row) { return row.cells.is_null(); });
  return rows;
}

}  // namespace tilerail::study
