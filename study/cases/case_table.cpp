#include "model/base/json.hpp"
#include "study/cases/case_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/describe.hpp"
#include "plan/json.hpp"
#include "report/summary/summary.hpp"
#include "study/json_cells.hpp"

namespace tilerail::study {
namespace {

Json problem_and_plan(const CaseResult& result) {
  const Plan& plan = result.job.plan;
  Json cells = problem_json(plan.problem);
  cells["place"] = result.what.problem.place_or_default();
  cells["devices"] = plan.devices.size();
  cells["policy"] = plan.policy;
  cells["group"] = result.what.group;
  cells["label"] = result.what.label;
  cells["tile"] = plan.tile;
  cells["ops"] = plan.ops.size();
  cells["plan_s"] = result.job.plan_s;
  cells["plan_cache"] = reason_text(plan.origin, PlanReason::tuned);
  cells["without_effect"] =
      fmt::format("{}", fmt::join(plan.origin.without_effect, "; "));
  return cells;
}

void add_times(Json& cells, const CaseResult& result) {
  const RunResult& measured = result.measured;
  const auto of_gpu = [&](double GpuRunFacts::*figure) {
    return measured.gpu ? Json((*measured.gpu).*figure) : nullptr;
  };
  const auto part = [&](double ErrorSplit::*figure) {
    return result.predicted ? Json(result.split.*figure) : nullptr;
  };
  const auto& interval = result.interval;
  cells["first_s"] = of_gpu(&GpuRunFacts::first_s);
  cells["bound_s"] = result.bound.time.value;
  cells["bound_by"] = to_text(result.bound.binding);
  cells["predicted_s"] = or_null(result.predicted);
  cells["interval_low_s"] = interval ? Json(interval->low) : nullptr;
  cells["interval_high_s"] = interval ? Json(interval->high) : nullptr;
  cells["in_interval"] = !interval ? "" : *result.in_interval() ? "yes" : "no";
  cells["measured_s"] = measured.median();
  cells["measured_min_s"] = *std::ranges::min_element(measured.makespans);
  cells["over_bound"] = or_null(result.over_bound());
  cells["traced_s"] = of_gpu(&GpuRunFacts::traced_s);
  cells["issue_per_op_s"] = of_gpu(&GpuRunFacts::issue_per_op);
  cells["kernel_s"] = part(&ErrorSplit::kernel);
  cells["copy_s"] = part(&ErrorSplit::copy);
  cells["waiting_s"] = part(&ErrorSplit::waiting);
  cells["issue_s"] = part(&ErrorSplit::issue);
}

/// Energies: predicted, modelled from the measured timeline, and counted by the GPUs.
void add_energy(Json& cells, const CaseResult& result) {
  const CountedEnergy* counted = result.counted();
  cells["predicted_energy_j"] = or_null(result.predicted_j);
  cells["modelled_energy_j"] = or_null(result.modelled_j);
  cells["counted_energy_j"] = counted ? Json(counted->total()) : nullptr;
  cells["counted_call_s"] = counted ? Json(counted->seconds) : nullptr;
}

}  // namespace

std::string to_csv(std::span<const CaseResult> results) {
  Json rows = Json::array();
  for (const CaseResult& result : results) {
    Json cells = problem_and_plan(result);
    add_times(cells, result);
    add_energy(cells, result);
    cells["check"] = !result.measured.check ? "" : result.failed() ? "FAILED" : "passed";
    rows.push_back(std::move(cells));
  }
  return csv_table(rows);
}

}  // namespace tilerail::study
