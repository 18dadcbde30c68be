#include "study/cases/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "model/base/indices.hpp"

namespace tilerail::study {

double kendall_tau(std::span<const double> a, std::span<const double> b) {
  double agree = 0, pairs_a = 0, pairs_b = 0;  // pairs that agree minus those that do not; pairs that are no ties
  for (const auto i : indices(a))
    for (size_t j = i + 1; j < a.size(); ++j) {
      const int in_a = (a[i] > a[j]) - (a[i] < a[j]), in_b = (b[i] > b[j]) - (b[i] < b[j]);
      agree += in_a * in_b;
      pairs_a += in_a != 0, pairs_b += in_b != 0;
    }
  return pairs_a == 0 || pairs_b == 0 ? 0 : agree / std::sqrt(pairs_a * pairs_b);
}

double regret(std::span<const double> predicted, std::span<const double> measured) {
  const auto chosen = std::ranges::min_element(predicted) - predicted.begin();
  return measured[size_t(chosen)] / *std::ranges::min_element(measured) - 1;
}

}  // namespace tilerail::study
