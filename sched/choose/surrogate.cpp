#include "sched/choose/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tilerail {
namespace {

constexpr double prior = 0.1;  // standard deviation of a feature's effect

double dot(const Surrogate::Change& change, const std::vector<double>& values) {
  double sum = 0;
  for (const auto& [feature, difference] : change) sum += difference * values[feature];
  return sum;
}

}  // namespace

double Surrogate::Forecast::improvement() const {
  if (deviation <= 0) return std::max(-mean, 0.0);
  const double z = -mean / deviation,
               density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return deviation * (density + z * std::erfc(-z / std::numbers::sqrt2) / 2);
}

size_t Surrogate::feature(const std::string& name) {
  const auto [entry, is_new] = numbers_.try_emplace(name, mean_.size());
  if (is_new) {
    mean_.push_back(0);
    covariance_.emplace_back(mean_.size(), 0.0).back() = prior * prior;
  }
  return entry->second;
}

std::vector<double> Surrogate::times_covariance(const Change& change) const {
  std::vector<double> product(mean_.size(), 0.0);
  for (const auto& [feature, difference] : change)
    for (size_t other = 0; other < product.size(); ++other)
      product[other] +=
          difference * covariance_[std::max(feature, other)][std::min(feature, other)];
  return product;
}

Surrogate::Forecast Surrogate::predict(const Change& change) const {
  double variance = 0;
  for (const auto& [i, by] : change)
    for (const auto& [j, too] : change)
      variance += by * too * covariance_[std::max(i, j)][std::min(i, j)];
  return {dot(change, mean_), std::sqrt(std::max(variance, 0.0))};
}

void Surrogate::learn(const Change& change, double log_ratio, double deviation) {
  const std::vector<double> gain = times_covariance(change);
  const double variance = dot(change, gain) + deviation * deviation;
  const double surprise = (log_ratio - dot(change, mean_)) / variance;
  for (size_t i = 0; i < mean_.size(); ++i) {
    mean_[i] += gain[i] * surprise;
    for (size_t j = 0; j <= i; ++j) covariance_[i][j] -= gain[i] * gain[j] / variance;
  }
}

}  // namespace tilerail
