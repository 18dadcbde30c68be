#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include <algorithm>

#include "model/base/text.hpp"
#include "plan/describe.hpp"
#include "plan/json.hpp"
#include "report/summary/summary.hpp"
#include "study/cases/case_study.hpp"
#include "study/evaluation.hpp"

namespace tilerail::study {
namespace {

using R = CaseResult;

std::string plan_cache(const R& result) {
  return reason_text(result.job.plan.origin, PlanReason::tuned);
}

const GemmProblem& problem_of(const R& result) { return result.job.plan.gemm(); }

const std::optional<GpuRunFacts>& gpu_of(const R& result) { return result.measured.gpu; }

Columns<R> job_columns() {
  return {{"", &R::name, "case"},
          {problem_columns(), problem_of},
          {"place", [](auto& result) { return result.what.problem.place_or_default(); }},
          {"devices", [](auto& result) { return result.job.plan.devices.size(); }},
          {"policy", [](auto& result) { return result.job.plan.policy; }, "policy"},
          {Columns<Case>{{"group", &Case::group}, {"label", &Case::label}}, &R::what},
          {"tile", [](auto& result) { return result.job.plan.tile; }, "tile"},
          {"ops", [](auto& result) { return result.job.plan.ops.size(); }},
          {"plan_s", [](auto& result) { return result.job.plan_s; }},
          {"plan_cache", plan_cache},
          {"without_effect", [](auto& result) {
             return boost::join(result.job.plan.origin.without_effect, "; ");
           }}};
}

Columns<R> gpu_column(const char* name, double GpuRunFacts::*figure) {
  return {Columns<GpuRunFacts>{name, figure}, gpu_of};
}

std::string percent_text(double share) { return error_text(share); }

/// Seconds in files, a share of the measured median for users.
Columns<R> error_column(const char* name, const char* heading, double ErrorSplit::*part) {
  const auto share = [part](const R& result) {
    return result.split ? std::optional{(*result.split).*part / result.measured.median()}
                        : std::nullopt;
  };
  return {{Columns<ErrorSplit>{name, part}, &R::split},
          {"", share, heading, percent_text}};
}

std::optional<std::string_view> in_interval(const R& result) {
  const auto in = result.in_interval();
  return in ? std::optional{*in ? "yes" : "no"} : std::nullopt;
}

}  // namespace

Columns<CaseResult> case_columns() {
  return {
      job_columns(),
      gpu_column("first_s", &GpuRunFacts::first_s),
      {"bound_s", [](auto& result) { return result.bound.time.value; }},
      {"bound_by", [](auto& result) { return result.bound.binding; }},
      {"predicted_s", &R::predicted, "predicted", seconds_text},
      {interval_columns(), &R::interval},
      {"in_interval", in_interval},
      {"measured_s", [](auto& result) { return result.measured.median(); }, "measured",
       seconds_text},
      {"", &R::error, "error", percent_text},
      {"", in_interval, "in 90%"},
      {"measured_min_s",
       [](auto& result) { return *std::ranges::min_element(result.measured.makespans); }},
      {"over_bound", &R::over_bound},
      gpu_column("traced_s", &GpuRunFacts::traced_s),
      gpu_column("issue_per_op_s", &GpuRunFacts::issue_per_op),
      error_column("kernel_s", "kernel", &ErrorSplit::kernel),
      error_column("copy_s", "copy", &ErrorSplit::copy),
      error_column("waiting_s", "waiting", &ErrorSplit::waiting),
      error_column("issue_s", "issue", &ErrorSplit::issue),
      // Energies: predicted, modelled from the measured timeline, and counted by the
      // GPUs.
      {"predicted_energy_j", &R::predicted_j},
      {"modelled_energy_j", &R::modelled_j},
      {Columns<CountedEnergy>{{"counted_energy_j", &CountedEnergy::total},
                              {"counted_call_s", &CountedEnergy::seconds}},
       &R::counted},
      {"check",
       [](auto& result) {
         return result.measured.check
                    ? std::optional{result.failed() ? "FAILED" : "passed"}
                    : std::nullopt;
       },
       "check"}};
}

}  // namespace tilerail::study
