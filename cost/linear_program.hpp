#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tilerail {

/// minimise sum of cost x over x >= 0 with rows lower <= sum of coefficient x <= upper. Solved by COIN-OR's Clp.
class LinearProgram {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  using Term = std::pair<std::size_t, double>;  // variable, coefficient

  LinearProgram();
  ~LinearProgram();
  LinearProgram(LinearProgram&&) noexcept;

  /// Returns the variable's number.
  std::size_t add_variable(double cost = 0, double upper = infinity);
  /// Returns the row's number.
  std::size_t add_row(double lower, double upper, const std::vector<Term>& terms);
  /// Replaces a coefficient that the row has, for the next solution.
  void set_coefficient(std::size_t row, std::size_t variable, double value);

  /// The least cost; infinite where no x keeps to all rows. Starts from the solution before.
  double solve();
  /// How much the least cost changes for a unit more of the row's bound, after `solve`.
  double price(std::size_t row) const;
  double value(std::size_t variable) const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
};

}  // namespace tilerail
