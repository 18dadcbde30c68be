#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/executor.hpp"
#include "cost/bound.hpp"
#include "model/base/table.hpp"
#include "report/timeline/interval.hpp"
#include "study/cases/cases.hpp"
#include "study/error_split.hpp"
#include "study/job.hpp"
#include "study/runner.hpp"

namespace tilerail::study {

/// The result of one case. Times in seconds, energies in joules.
struct CaseResult {
  Case what;
  Job job;
  Bound bound = {};                      // of any plan on the case's GPUs
  std::optional<double> predicted = {};  // makespan
  std::optional<PredictedInterval> interval =
      {};  // of the makespan; absent without uncertainties
  std::optional<double> predicted_j = {},
                        modelled_j = {};  // of the predicted and the measured timeline
  RunResult measured = {};                // without its timeline
  std::optional<ErrorSplit> split = {};   // if there is a prediction

  /// Nullopt without a prediction.
  std::optional<double> error() const {
    return predicted ? std::optional{*predicted / measured.median() - 1} : std::nullopt;
  }
  /// Whether the measured median lies in the interval; nullopt without an interval.
  std::optional<bool> in_interval() const {
    return interval ? std::optional{interval->holds(measured.median())} : std::nullopt;
  }
  /// Measured median / bound; nullopt if the bound is 0.
  std::optional<double> over_bound() const {
    return bound.time.value > 0 ? std::optional{measured.median() / bound.time.value}
                                : std::nullopt;
  }
  bool failed() const { return measured.check && !measured.check->passed; }
  /// Null if the devices did not count their energy.
  const CountedEnergy* counted() const {
    return measured.gpu && measured.gpu->energy ? &*measured.gpu->energy : nullptr;
  }
  /// The label, else the problem, and the number of GPUs: "64,64,64 f64 h:h:h x2".
  std::string name() const;
};

/// Plans, simulates (optional) and runs cases.
class CaseStudy {
 public:
  /// Plans the cases, as tuned if `tuned` has a plan. Keeps a reference to the machine.
  /// Throws InputError with file, line and column, as measure() does.
  CaseStudy(const std::vector<Case>& cases, const Topology& topology,
            const TunedPlans& tuned = {});

  void simulate(Executor& simulator);
  /// On "host" or "cuda". Call it once, after simulate(), which is optional. If the run
  /// is interrupted or a case fails, results() contains the cases before it.
  void measure(std::string_view backend, const RunSettings& settings);
  /// Throws the error that ended measure() early. Does nothing after an interruption.
  void rethrow_failure() const;

  const std::vector<CaseResult>& results() const { return results_; }
  bool passed() const;

 private:
  void measure(size_t i, Runner& runner);
  std::optional<double> energy_of(const Plan& plan, const Timeline& timeline) const;

  const Topology& topology_;
  std::vector<CaseResult> results_;
  std::vector<Timeline> predicted_;  // by case; empty without a simulation
  std::exception_ptr failure_;
};

/// Absolute relative errors of all predictions.
struct CaseSummary {
  size_t cases = 0;
  double median = 0, within_95 = 0, largest = 0;
  size_t intervals = 0,
         in_interval = 0;  // predictions with an interval, and hits
};

/// Nullopt without predictions.
std::optional<CaseSummary> summary_of(std::span<const CaseResult> results);

/// docs/formats.md#cases
Columns<CaseResult> case_columns();

}  // namespace tilerail::study
