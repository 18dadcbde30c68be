#include "study/cases/case_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "cost/energy.hpp"
#include "model/base/error.hpp"
#include "model/base/statistics.hpp"
#include "model/base/text.hpp"
#include "sched/policy/fields.hpp"
#include "study/cases/ranking.hpp"

namespace tilerail::study {
namespace {

/// By first appearance.
std::vector<std::string> groups_of(std::span<const CaseResult> results) {
  std::vector<std::string> groups;
  for (const CaseResult& result : results)
    if (const std::string& group = result.what.group;
        !group.empty() && std::ranges::find(groups, group) == groups.end())
      groups.push_back(group);
  return groups;
}

std::vector<RankedGroup> ranked_groups(std::span<const CaseResult> results) {
  std::vector<RankedGroup> ranked;
  for (const std::string& group : groups_of(results)) {
    std::vector<double> predicted, measured;
    for (const CaseResult& result : results)
      if (result.what.group == group)
        predicted.push_back(*result.predicted), measured.push_back(result.measured.median());
    if (predicted.size() > 1)
      ranked.push_back({group, predicted.size(), kendall_tau(predicted, measured), regret(predicted, measured)});
  }
  return ranked;
}

double mean(const std::vector<RankedGroup>& groups, double RankedGroup::*figure) {
  const auto add = [&](double sum, const RankedGroup& group) { return sum + group.*figure; };
  return std::accumulate(groups.begin(), groups.end(), 0.0, add) / double(groups.size());
}

/// The plan of a case. Throws InputError without a place, also for a plan that takes no time: no error is relative to
/// that.
Job job_of(const Case& c, const Topology& topology, const TunedPlans& tuned) {
  Job job = shown_job(topology, c, tuned);
  if (!job.plan.ops.empty()) return job;
  const GemmProblem& p = job.plan.problem;
  const char* const blame = p.m == 0 ? "m" : p.n == 0 ? "n" : p.k == 0 ? "k" : "alpha";
  throw fault_of(blame, "there is nothing to do", "sizes and scalars that change a result");
}

/// Runs exclude the costs of an emulated library: options that set them have no effect.
void leave_out_library(Plan& plan, const PolicyText& policy) {
  plan.runtime = {};
  const auto resolved = policy.resolve();
  std::vector<std::string>& without = plan.origin.without_effect;
  for (const std::string_view key : {"task-us", "request-us", "peer-us", "gpu-us", "copy-rates"}) {
    const auto of_key = [&](const std::string& told) { return told.starts_with(fmt::format("{}=", key)); };
    if (overrides(resolved, key) && std::ranges::none_of(without, of_key))
      without.push_back(fmt::format("{}: cases run without a library's own costs", key));
  }
}

}  // namespace

std::string CaseResult::name() const {
  const std::string routine = what.routine == "gemm" ? "" : what.routine + " ";
  const std::string problem = what.label.empty() ? fmt::format("{}{} {} {}", routine, fmt::join(what.sizes, ","),
                                                               what.problem.dtype, what.problem.place_or_default())
                                                 : what.label;
  return fmt::format("{} x{}", problem, job.plan.devices.size());
}

CaseStudy::CaseStudy(const std::vector<Case>& cases, const Topology& topology, const TunedPlans& tuned)
    : topology_{topology} {
  for (const Case& c : cases) {
    Job job = c.locating([&] { return job_of(c, topology, tuned); });
    leave_out_library(job.plan, c.policy);
    const Bound bound = lower_bound(job.plan, topology);
    results_.push_back({.what = c, .job = std::move(job), .bound = bound});
  }
}

void CaseStudy::simulate(Executor& simulator) {
  for (CaseResult& result : results_) {
    predicted_.push_back(simulator.execute(result.job.plan));
    result.predicted = predicted_.back().makespan().value;
    result.predicted_j = energy_of(result.job.plan, predicted_.back());
    result.interval = predicted_interval(result.job.plan, topology_, predicted_.back().ops);
  }
}

void CaseStudy::measure(std::string_view backend, const RunSettings& settings) {
  std::vector<const Plan*> plans;
  for (const CaseResult& result : results_) plans.push_back(&result.job.plan);
  Runner runner = [&] {
    try {
      return Runner{backend, topology_, plans, settings};
    } catch (const PlanError& error) {
      throw results_[error.plan].what.located(error);
    }
  }();
  for (size_t i = 0; i < results_.size(); ++i) try {
      measure(i, runner);
    } catch (...) {
      failure_ = std::current_exception();
      results_.erase(results_.begin() + ptrdiff_t(i), results_.end());
    }
}

void CaseStudy::rethrow_failure(const std::string& progress) const {
  const auto text = [&](const std::exception& error) {
    return results_.empty() ? std::string{error.what()} : fmt::format("{} ({})", error.what(), progress);
  };
  try {
    if (failure_) std::rethrow_exception(failure_);
  } catch (const RunStopped&) {
    return;
  } catch (const InputError& error) {
    throw InputError{text(error)};
  } catch (const HardwareError& error) {
    throw HardwareError{text(error)};
  } catch (const ExecutionError& error) {
    throw ExecutionError{text(error)};
  }
}

void CaseStudy::measure(size_t i, Runner& runner) {
  CaseResult& result = results_[i];
  result.measured = result.what.locating([&] { return runner.run(result.job.plan); });
  const Timeline measured = std::exchange(result.measured.timeline, {});
  if (result.predicted) result.split = split_error(result.job.plan, topology_, predicted_[i], measured);
  result.modelled_j = energy_of(result.job.plan, measured);
  spdlog::debug("{}: {}", result.name(), seconds_text(result.measured.median()));
}

bool CaseStudy::passed() const {
  return std::ranges::none_of(results_, [](const CaseResult& result) { return result.failed(); });
}

std::optional<double> CaseStudy::energy_of(const Plan& plan, const Timeline& timeline) const {
  const auto devices = device_energies(plan, topology_, timeline.ops);
  if (!devices) return std::nullopt;
  return std::accumulate(devices->begin(), devices->end(), Joules{0}).value;
}

double CaseSummary::mean_tau() const { return mean(groups, &RankedGroup::tau); }
double CaseSummary::mean_regret() const { return mean(groups, &RankedGroup::regret); }

std::optional<CaseSummary> summary_of(std::span<const CaseResult> results) {
  if (results.empty() || !results.front().predicted) return std::nullopt;
  std::vector<double> errors;
  for (const CaseResult& result : results) errors.push_back(std::abs(result.error()));
  CaseSummary summary;
  summary.cases = errors.size(), summary.median = median(errors);
  summary.within_95 = quantile(errors, 0.95), summary.largest = quantile(errors, 1);
  for (const CaseResult& result : results)
    if (const auto in = result.in_interval()) {
      ++summary.intervals;
      summary.in_interval += *in ? 1 : 0;
    }
  summary.groups = ranked_groups(results);
  return summary;
}

}  // namespace tilerail::study
