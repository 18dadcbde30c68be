#include "study/cases/case_study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cost/energy.hpp"
#include "model/base/error.hpp"
#include "model/base/statistics.hpp"
#include "model/base/text.hpp"

namespace tilerail::study {
namespace {

/// The plan of a case. Throws InputError without location, also if the plan takes no
/// time: it has no relative error.
Job job_of(const Case& c, const Topology& topology, const TunedPlans& tuned) {
  Job job = shown_job(topology, c, tuned);
  if (!job.plan.ops.empty()) return job;
  const GemmProblem& p = job.plan.gemm();
  const char* const blame = p.m == 0 ? "m" : p.n == 0 ? "n" : p.k == 0 ? "k" : "alpha";
  throw changes_nothing(blame);
}

}  // namespace

std::string CaseResult::name() const {
  const std::string routine = what.routine == "gemm" ? "" : what.routine + " ";
  const std::string problem =
      what.label.empty()
          ? fmt::format("{}{} {} {}", routine, fmt::join(what.sizes, ","),
                        what.problem.dtype, what.problem.place_or_default())
          : what.label;
  return fmt::format("{} x{}", problem, job.plan.devices.size());
}

CaseStudy::CaseStudy(const std::vector<Case>& cases, const Topology& topology,
                     const TunedPlans& tuned)
    : topology_{topology} {
  for (const Case& c : cases) {
    Job job = c.locating([&] { return job_of(c, topology, tuned); });
    job.plan.runtime = {};  // runs exclude the overhead of an emulated library
    const Bound bound = lower_bound(job.plan, topology);
    results_.push_back({.what = c, .job = std::move(job), .bound = bound});
  }
}

void CaseStudy::simulate(Executor& simulator) {
  for (CaseResult& result : results_) {
    predicted_.push_back(simulator.execute(result.job.plan));
    result.predicted = predicted_.back().makespan().value;
    result.predicted_j = energy_of(result.job.plan, predicted_.back());
    result.interval =
        predicted_interval(result.job.plan, topology_, predicted_.back().ops);
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
  ptrdiff_t done = 0;
  try {
    for (; done < std::ssize(results_); ++done) measure(size_t(done), runner);
  } catch (const RunStopped&) {  // ends without a failure
  } catch (...) {
    failure_ = std::current_exception();
  }
  results_.erase(results_.begin() + done, results_.end());
}

void CaseStudy::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

void CaseStudy::measure(size_t i, Runner& runner) {
  CaseResult& result = results_[i];
  result.measured = result.what.locating([&] { return runner.run(result.job.plan); });
  const Timeline measured = std::exchange(result.measured.timeline, {});
  if (result.predicted)
    result.split = split_error(result.job.plan, topology_, predicted_[i], measured);
  result.modelled_j = energy_of(result.job.plan, measured);
  spdlog::debug("{}: {}", result.name(), seconds_text(result.measured.median()));
}

bool CaseStudy::passed() const {
  return std::ranges::none_of(results_,
                              [](const CaseResult& result) { return result.failed(); });
}

std::optional<double> CaseStudy::energy_of(const Plan& plan,
                                           const Timeline& timeline) const {
  const auto devices = device_energies(plan, topology_, timeline.ops);
  if (!devices) return std::nullopt;
  return std::accumulate(devices->begin(), devices->end(), Joules{0}).value;
}

std::optional<CaseSummary> summary_of(std::span<const CaseResult> results) {
  if (results.empty() || !results.front().predicted) return std::nullopt;
  std::vector<double> errors;
  for (const CaseResult& result : results) errors.push_back(std::abs(*result.error()));
  CaseSummary summary;
  summary.cases = errors.size(), summary.median = median(errors);
  summary.within_95 = quantile(errors, 0.95), summary.largest = quantile(errors, 1);
  for (const CaseResult& result : results)
    if (const auto in = result.in_interval()) {
      ++summary.intervals;
      summary.in_interval += *in ? 1 : 0;
    }
  return summary;
}

}  // namespace tilerail::study
