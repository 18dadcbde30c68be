#include "model/base/statistics.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cassert>

namespace tilerail {

double median(std::vector<double> values) {
  assert(!values.empty());
  return boost::math::statistics::median(values);
}

double quantile(std::vector<double> values, double share) {
  assert(!values.empty());
  const auto rank = size_t(share * double(values.size()));
  const auto found = values.begin() + ptrdiff_t(std::min(values.size() - 1, rank));
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

double least_squares_factor(std::span<const double> x, std::span<const double> y) {
  using Column = Eigen::Map<const Eigen::VectorXd>;
  assert(x.size() == y.size());
  const auto count = static_cast<Eigen::Index>(x.size());
  const Column known{x.data(), count}, wanted{y.data(), count};
  const double squares = known.squaredNorm();
  return squares > 0 ? known.dot(wanted) / squares : 0;
}

}  // namespace tilerail
