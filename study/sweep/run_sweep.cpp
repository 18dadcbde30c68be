// Plans and simulates the points of a sweep; each is a row of a table
// (docs/formats.md#sweep).
#include <fmt/format.h>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "plan/json.hpp"
#include "study/evaluation.hpp"
#include "study/sweep/journal.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::study {
namespace {

/// The simulated plan of a point. Sizes in bytes.
struct SweepResult : Evaluation {
  GemmProblem problem;
  std::string place, machine, policy;
  size_t gpus = 0;  // of the plan
  double tflops = 0;
  std::optional<PredictedInterval> interval;
  std::vector<Summary::PathPart> critical_path;  // longest part first
  double bytes_in = 0, bytes_out = 0, bytes_peer = 0;
  std::optional<double> energy_j;
};

Columns<SweepResult> result_columns() {
  using R = SweepResult;
  return {{"machine", &R::machine},
          {problem_columns(), &R::problem},
          {"place", &R::place},
          {"plan_policy", &R::policy},
          {"plan_tile", &R::tile, "T"},
          {"plan_gpus", &R::gpus},
          {"ops", &R::ops, "ops"},
          {"plan_hash", &R::plan_hash},
          {"makespan_s", &R::makespan, "makespan", seconds_text},
          {interval_columns(), &R::interval},
          {"tflops", &R::tflops, "TFLOP/s",
           [](double tflops) { return fmt::format("{:.4g}", tflops); }},
          {"bound_s", &R::bound, "bound", seconds_text},
          {"bound_by", &R::binding},
          {"over_bound", &R::over_bound, "over it",
           [](double times) { return fmt::format("{:.2f} x", times); }},
          {"kernels", &R::kernels, "kernels", share_text},
          {"bottleneck", &R::bottleneck},
          {"busiest",
           [](const R& result) {
             const auto& path = result.critical_path;
             return path.empty() ? "" : to_text(path.front());
           }},
          {"bytes_in", &R::bytes_in},
          {"bytes_out", &R::bytes_out},
          {"bytes_peer", &R::bytes_peer},
          {"energy_j", &R::energy_j}};
}

SweepResult result_of(const Job& job, const std::string& place) {
  const Summary summary = simulated(job.plan, job.topology);
  SweepResult result{evaluation_of(summary),
                     job.plan.gemm(),
                     place,
                     summary.metadata.machine,
                     summary.metadata.policy,
                     summary.metadata.devices.size(),
                     summary.tflops,
                     summary.metadata.interval,
                     summary.critical_path,
                     summary.bytes_in,
                     summary.bytes_out,
                     summary.bytes_peer,
                     {}};
  if (summary.energy) result.energy_j = summary.energy->joules;
  return result;
}

}  // namespace

SweepRow run_point(const Sweep& sweep, const Machines& machines, UnchangedPlans& plans,
                   size_t point) {
  SweepRow row{point};
  try {
    const JobText text = sweep.job(point);
    row.cells = result_columns().json(
        result_of(plan_job(machine_of(text, machines), text, {}, &plans),
                  text.problem.place_or_default()));
  } catch (const InputError& error) {
    row.error = error.what();
  }
  return row;
}

Columns<SweepRow> columns_of(const Sweep& sweep) {
  Columns<SweepRow> columns{{"point", &SweepRow::point, "point"}};
  for (const auto i : indices(sweep.axes)) {
    const auto value = [&sweep, i](const SweepRow& row) {
      const SweepAxis& axis = sweep.axes[i];
      const size_t index = sweep.index(row.point, i);
      return axis.numbers.empty() ? Json(axis.values[index]) : Json(axis.numbers[index]);
    };
    const std::string name = sweep.axes[i].column();
    columns.add({name, value, name});
  }
  for (const auto& result : result_columns().all) {
    const auto value = [name = result.name](const SweepRow& row) {
      return row.has_result() ? row.cells->at(name) : Json{};
    };
    columns.add({result.name, value, result.heading, result.text});
  }
  columns.add({{"version", [](const SweepRow&) { return program_version(); }},
               {"error", &SweepRow::error}});
  return columns;
}

std::vector<SweepRow> run_sweep(const Sweep& sweep, const Machines& machines,
                                const Workers& workers, SweepJournal* journal) {
  std::vector<SweepRow> rows(sweep.points());
  UnchangedPlans plans{machines};
  in_parallel(workers, rows.size(), [&](size_t point) {
    const auto known = journal ? journal->find(point) : std::nullopt;
    rows[point] = known ? *known : run_point(sweep, machines, plans, point);
    if (journal && !known) journal->add(rows[point]);
  });
  std::erase_if(rows, [](auto& row) { return !row.has_result() && !row.error; });
  return rows;
}

}  // namespace tilerail::study
