#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tilerail {

/// A linear model of how features change the logarithm of a plan's time: Bayesian
/// regression with independent normal priors of mean 0 for the features.
/// docs/model.md#evaluator
class Surrogate {
 public:
  /// Feature differences between two candidates: feature numbers and differences, each
  /// feature once.
  using Change = std::vector<std::pair<size_t, double>>;

  /// Estimated logarithm of a ratio of times.
  struct Forecast {
    double mean = 0, deviation = 0;
    /// The expected value of max(0, -logarithm).
    double improvement() const;
  };

  /// The number of a feature; new names get a new number.
  size_t feature(const std::string& name);
  Forecast predict(const Change& change) const;
  /// Observes that a change multiplied the time by exp(`log_ratio`), with the standard
  /// deviation `deviation` of the logarithm.
  void learn(const Change& change, double log_ratio, double deviation);

 private:
  std::vector<double> times_covariance(const Change& change) const;

  std::map<std::string, size_t> numbers_;
  std::vector<double> mean_;  // by feature
  std::vector<std::vector<double>>
      covariance_;  // lower triangle: row i has i + 1 entries
};

}  // namespace tilerail
