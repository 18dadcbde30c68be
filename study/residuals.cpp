#include "study/residuals.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/base/statistics.hpp"

namespace tilerail::study {

ResidualSummary summary_of(std::span<const Residual> residuals) {
  std::vector<double> errors;
  for (const Residual& r : residuals) errors.push_back(std::abs(r.error()));
  const Residual& worst =
      *std::max_element(residuals.begin(), residuals.end(),
                        [](const Residual& a, const Residual& b) { return std::abs(a.error()) < std::abs(b.error()); });
  return {errors.size(), median(errors), quantile(errors, 0.95), worst};
}

}  // namespace tilerail::study
