#pragma once

#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <utility>
#include <vector>

namespace tilerail {

/// minimise sum of cost x over x >= 0 with rows lower <= sum of coefficient x <= upper.
/// Solved by COIN-OR's Clp.
class LinearProgram {
 public:
  static constexpr double infinity = INFINITY;
  using Term = std::pair<size_t, double>;  // variable, coefficient

  LinearProgram();

  /// Returns the variable's number.
  size_t add_variable(double upper, double cost = 0);
  /// Returns the row's number.
  size_t add_row(double lower, double upper, const std::vector<Term>& terms);
  /// Replaces a coefficient that the row has, for the next solution.
  void set_coefficient(size_t row, size_t variable, double value);
  void set_upper(size_t variable, double upper);

  /// A lower bound of all costs, up to rounding: the minimum, unless the solver is
  /// mistaken. Infinite if it proves the program infeasible, 0 if it fails. Warm start
  /// from the previous solution.
  double solve();
  /// Whether the last `solve` found the minimum or proved infeasibility. Otherwise its
  /// result may be too low.
  bool is_solved() const {
    return clp_.isProvenOptimal() || clp_.isProvenPrimalInfeasible();
  }
  /// Value of a variable in the last solution.
  double value(size_t variable) const { return clp_.primalColumnSolution()[variable]; }
  /// Dual value: change of the minimum per unit of the row's bound, after `solve`.
  double price(size_t row) const { return clp_.dualRowSolution()[row]; }

 private:
  void load();
  double proven() const;

  ClpSimplex clp_;
  // Pending variables and rows are added together: Clp copies the whole program for each
  // addition.
  std::vector<double> costs_, uppers_;  // by pending variable
  std::vector<double> row_lowers_, row_uppers_, values_;
  std::vector<int> columns_;
  std::vector<CoinBigIndex> starts_{
      0};  // by pending row: its first index in `columns_` and `values_`; then their size
};

}  // namespace tilerail
