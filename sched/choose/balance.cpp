#include "sched/choose/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/parse.hpp"

namespace tilerail {
namespace {

Seconds mean_of(std::span<const Seconds> ends) {
  return std::accumulate(ends.begin(), ends.end(), Seconds{0}) / double(ends.size());
}

}  // namespace

std::vector<double> balanced_shares(std::span<const double> shares,
                                    std::span<const Seconds> ends, double step) {
  constexpr double most = 4;  // also the factor of an idle device
  const Seconds mean = mean_of(ends);
  std::vector<double> balanced;
  for (size_t d = 0; d < shares.size(); ++d) {
    const double early = ends[d] * most > mean ? mean / ends[d] : most;
    balanced.push_back(shares[d] * std::pow(early, step));
  }
  const double sum = std::accumulate(balanced.begin(), balanced.end(), 0.0);
  for (double& share : balanced) {
    share *= double(balanced.size()) / sum;
    share = parse_real(fmt::format("{:.4g}", share), "share");
  }
  return balanced;
}

double imbalance(std::span<const Seconds> ends) {
  return *std::ranges::max_element(ends) / mean_of(ends) - 1;
}

}  // namespace tilerail
