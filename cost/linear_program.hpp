#pragma once

#include <coin/ClpSimplex.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace tilerail {

/// minimise sum of cost x over x >= 0 with rows lower <= sum of coefficient x <= upper.
/// Solved by COIN-OR's Clp.
class LinearProgram {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  using Term = std::pair<size_t, double>;  // variable, coefficient

  LinearProgram();

  /// Returns the variable's number.
  size_t add_variable(double upper, double cost = 0);
  /// Returns the row's number.
  size_t add_row(double lower, double upper, const std::vector<Term>& terms);
  /// Replaces a coefficient that the row has, for the next solution.
  void set_coefficient(size_t row, size_t variable, double value);
  void set_upper(size_t variable, double upper);

  /// A cost that no x keeps below, to the rounding of sums: the least, unless the solver
  /// is mistaken. Infinite where it proves that no x keeps to all rows, 0 where it finds
  /// nothing out. Starts from the solution before.
  double solve();
  /// Whether the last `solve` found a least cost, or that there is none. Else what it
  /// returned may be too low.
  bool is_solved() const {
    return clp_.isProvenOptimal() || clp_.isProvenPrimalInfeasible();
  }
  /// Of a variable in the last solution.
  double value(size_t variable) const { return clp_.primalColumnSolution()[variable]; }
  /// How much the least cost changes for a unit more of the row's bound, after `solve`.
  double price(size_t row) const { return clp_.dualRowSolution()[row]; }

 private:
  void load();
  double proven() const;

  ClpSimplex clp_;
  // Variables and rows wait here and are added together: Clp copies the whole program
  // each time that it adds some.
  std::vector<double> costs_, uppers_;  // by variable that waits
  std::vector<double> row_lowers_, row_uppers_, values_;
  std::vector<int> columns_;
  std::vector<CoinBigIndex> starts_{
      0};  // by row that waits: its first of `columns_` and `values_`; then their number
};

}  // namespace tilerail
