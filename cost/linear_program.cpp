#include "cost/linear_program.hpp"

#include <algorithm>
#include <cmath>

namespace tilerail {

LinearProgram::LinearProgram() {
  constexpr double precise = 1e-9;
  clp_.setLogLevel(0);
  clp_.setPrimalTolerance(precise);
  clp_.setDualTolerance(precise);
}

size_t LinearProgram::add_variable(double upper, double cost) {
  costs_.push_back(cost);
  uppers_.push_back(upper);
  return size_t(clp_.numberColumns()) + costs_.size() - 1;
}

size_t LinearProgram::add_row(double lower, double upper,
                              const std::vector<Term>& terms) {
  for (const auto& [variable, coefficient] : terms) {
    columns_.push_back(int(variable));
    values_.push_back(coefficient);
  }
  starts_.push_back(int(columns_.size()));
  row_lowers_.push_back(lower);
  row_uppers_.push_back(upper);
  return size_t(clp_.numberRows()) + row_lowers_.size() - 1;
}

void LinearProgram::load() {
  const std::vector<double> zeros(costs_.size());
  const std::vector<CoinBigIndex> no_rows(costs_.size() + 1);
  const int variables = int(costs_.size()), rows = int(row_lowers_.size());
  clp_.addColumns(variables, zeros.data(), uppers_.data(), costs_.data(), no_rows.data(),
                  nullptr, nullptr);
  clp_.addRows(rows, row_lowers_.data(), row_uppers_.data(), starts_.data(),
               columns_.data(), values_.data());
  for (auto* const numbers : {&costs_, &uppers_, &row_lowers_, &row_uppers_, &values_})
    numbers->clear();
  columns_.clear();
  starts_ = {0};
}

void LinearProgram::set_coefficient(size_t row, size_t variable, double value) {
  load();
  clp_.modifyCoefficient(int(row), int(variable), value, true);
}

void LinearProgram::set_upper(size_t variable, double upper) {
  load();
  clp_.setColumnUpper(int(variable), upper);
}

double LinearProgram::solve() {
  load();
  clp_.dual();
  if (!is_solved()) {  // from scratch, with the primal method
    clp_.allSlackBasis(true);
    clp_.primal();
  }
  if (clp_.isProvenPrimalInfeasible()) return infinity;
  return std::max(0.0, proven());
}

/// For any prices y of the rows, every x has
///   cost x >= sum over rows of y_r (lower_r, or upper_r if y_r < 0) + sum over
///   variables of min(0, d_j) upper_j
/// with d_j = cost_j - sum of y_r a_rj. If d_j < 0 and upper_j is infinite, all y are
/// reduced until d_j = 0.
double LinearProgram::proven() const {
  const double* const costs = clp_.objective();
  const double* const uppers = clp_.columnUpper();
  std::vector<double> prices(clp_.dualRowSolution(),
                             clp_.dualRowSolution() + clp_.numberRows());
  double rows = 0;
  for (size_t r = 0; r < prices.size(); ++r) {
    const double bound = (prices[r] > 0 ? clp_.rowLower() : clp_.rowUpper())[r];
    std::abs(bound) < COIN_DBL_MAX ? rows += prices[r] * bound : prices[r] = 0;
  }
  std::vector<double> worth(size_t(clp_.numberColumns()), 0.0);
  clp_.matrix()->transposeTimes(prices.data(), worth.data());
  double scale = 1;
  for (size_t j = 0; j < worth.size(); ++j)
    if (worth[j] > costs[j] && uppers[j] == COIN_DBL_MAX)
      scale = std::min(scale, costs[j] / worth[j]);
  double sum = scale * rows;
  for (size_t j = 0; j < worth.size(); ++j) {
    const double reduced = costs[j] - scale * worth[j];
    if (reduced < 0 && uppers[j] < COIN_DBL_MAX) sum += reduced * uppers[j];
  }
  return sum;
}

}  // namespace tilerail
