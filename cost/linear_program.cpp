#include "cost/linear_program.hpp"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>

namespace tilerail {

struct LinearProgram::Solver {
  ClpSimplex clp;
};

LinearProgram::LinearProgram() : solver_{std::make_unique<Solver>()} {
  constexpr double precise = 1e-9;
  solver_->clp.setLogLevel(0);
  solver_->clp.setPrimalTolerance(precise), solver_->clp.setDualTolerance(precise);
}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;

std::size_t LinearProgram::add_variable(double cost, double upper) {
  solver_->clp.addColumn(0, nullptr, nullptr, 0.0, upper == infinity ? COIN_DBL_MAX : upper, cost);
  return static_cast<std::size_t>(solver_->clp.numberColumns() - 1);
}

std::size_t LinearProgram::add_row(double lower, double upper, const std::vector<Term>& terms) {
  std::vector<int> columns;
  std::vector<double> values;
  for (const auto& [variable, coefficient] : terms) {
    columns.push_back(static_cast<int>(variable));
    values.push_back(coefficient);
  }
  solver_->clp.addRow(static_cast<int>(terms.size()), columns.data(), values.data(),
                      lower == -infinity ? -COIN_DBL_MAX : lower, upper == infinity ? COIN_DBL_MAX : upper);
  return static_cast<std::size_t>(solver_->clp.numberRows() - 1);
}

void LinearProgram::set_coefficient(std::size_t row, std::size_t variable, double value) {
  solver_->clp.modifyCoefficient(static_cast<int>(row), static_cast<int>(variable), value, true);
}

void LinearProgram::set_upper(std::size_t variable, double upper) {
  solver_->clp.setColumnUpper(static_cast<int>(variable), upper);
}

double LinearProgram::solve() {
  ClpSimplex& clp = solver_->clp;
  clp.dual();
  if (!clp.isProvenOptimal() && !clp.isProvenPrimalInfeasible()) {  // from scratch, and the other way
    clp.allSlackBasis(true);
    clp.primal();
  }
  if (clp.isProvenPrimalInfeasible()) return infinity;
  return std::max(0.0, proven());
}

/// Whatever the prices y of the rows are, every x has
///   cost x >= sum over rows of y_r (lower_r, or upper_r where y_r < 0) + sum over variables of min(0, d_j) upper_j
/// with d_j = cost_j - sum of y_r a_rj. Where d_j < 0 and upper_j is infinite, all y are made smaller until d_j = 0.
double LinearProgram::proven() const {
  const ClpSimplex& clp = solver_->clp;
  std::vector<double> prices(clp.dualRowSolution(), clp.dualRowSolution() + clp.numberRows());
  double rows = 0;
  for (int r = 0; r < clp.numberRows(); ++r) {
    double& price = prices[static_cast<std::size_t>(r)];
    const double bound = price > 0 ? clp.rowLower()[r] : clp.rowUpper()[r];
    std::abs(bound) < COIN_DBL_MAX ? rows += price* bound : price = 0;
  }
  std::vector<double> worth(static_cast<std::size_t>(clp.numberColumns()), 0.0);
  clp.matrix()->transposeTimes(prices.data(), worth.data());
  double scale = 1;
  for (int j = 0; j < clp.numberColumns(); ++j) {
    const double cost = clp.objective()[j], of = worth[static_cast<std::size_t>(j)];
    if (of > cost && clp.columnUpper()[j] == COIN_DBL_MAX) scale = std::min(scale, cost / of);
  }
  double sum = scale * rows;
  for (int j = 0; j < clp.numberColumns(); ++j) {
    const double reduced = clp.objective()[j] - scale * worth[static_cast<std::size_t>(j)];
    if (reduced < 0 && clp.columnUpper()[j] < COIN_DBL_MAX) sum += reduced * clp.columnUpper()[j];
  }
  return sum;
}

bool LinearProgram::is_solved() const {
  return solver_->clp.isProvenOptimal() || solver_->clp.isProvenPrimalInfeasible();
}

double LinearProgram::value(std::size_t variable) const { return solver_->clp.primalColumnSolution()[variable]; }

double LinearProgram::price(std::size_t row) const { return solver_->clp.dualRowSolution()[row]; }

}  // namespace tilerail
