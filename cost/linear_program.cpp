#include "cost/linear_program.hpp"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>

namespace tilerail {

namespace {

double clp_bound(double bound) { return std::isfinite(bound) ? bound : std::copysign(COIN_DBL_MAX, bound); }

}  // namespace

/// Variables and rows wait here and are added together: Clp copies the whole program each time that it adds some.
struct LinearProgram::Solver {
  ClpSimplex clp;
  std::vector<double> costs, uppers;  // of variables that wait
  std::vector<double> row_lowers, row_uppers, values;
  std::vector<int> columns;
  std::vector<CoinBigIndex> starts{0};  // by row that waits: its first of `columns` and `values`; then their number

  size_t variables() const { return size_t(clp.numberColumns()) + costs.size(); }
  size_t rows() const { return size_t(clp.numberRows()) + row_lowers.size(); }
  void load();
};

void LinearProgram::Solver::load() {
  if (!costs.empty()) {
    const std::vector<double> lowers(costs.size(), 0.0);
    const std::vector<CoinBigIndex> no_rows(costs.size() + 1, 0);
    clp.addColumns(int(costs.size()), lowers.data(), uppers.data(), costs.data(), no_rows.data(), nullptr, nullptr);
    costs.clear(), uppers.clear();
  }
  if (!row_lowers.empty()) {
    clp.addRows(int(row_lowers.size()), row_lowers.data(), row_uppers.data(), starts.data(), columns.data(),
                values.data());
    row_lowers.clear(), row_uppers.clear(), values.clear(), columns.clear();
    starts.assign(1, 0);
  }
}

LinearProgram::LinearProgram() : solver_{std::make_unique<Solver>()} {
  constexpr double precise = 1e-9;
  solver_->clp.setLogLevel(0);
  solver_->clp.setPrimalTolerance(precise), solver_->clp.setDualTolerance(precise);
}
LinearProgram::~LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) noexcept = default;

size_t LinearProgram::add_variable(double cost, double upper) {
  solver_->costs.push_back(cost), solver_->uppers.push_back(clp_bound(upper));
  return solver_->variables() - 1;
}

size_t LinearProgram::add_row(double lower, double upper, const std::vector<Term>& terms) {
  Solver& waiting = *solver_;
  for (const auto& [variable, coefficient] : terms) {
    waiting.columns.push_back(int(variable));
    waiting.values.push_back(coefficient);
  }
  waiting.starts.push_back(static_cast<CoinBigIndex>(waiting.columns.size()));
  waiting.row_lowers.push_back(clp_bound(lower)), waiting.row_uppers.push_back(clp_bound(upper));
  return waiting.rows() - 1;
}

void LinearProgram::set_coefficient(size_t row, size_t variable, double value) {
  solver_->load();
  solver_->clp.modifyCoefficient(int(row), int(variable), value, true);
}

void LinearProgram::set_upper(size_t variable, double upper) {
  solver_->load();
  solver_->clp.setColumnUpper(int(variable), upper);
}

double LinearProgram::solve() {
  solver_->load();
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
    double& price = prices[size_t(r)];
    const double bound = price > 0 ? clp.rowLower()[r] : clp.rowUpper()[r];
    std::abs(bound) < COIN_DBL_MAX ? rows += price* bound : price = 0;
  }
  std::vector<double> worth(size_t(clp.numberColumns()), 0.0);
  clp.matrix()->transposeTimes(prices.data(), worth.data());
  double scale = 1;
  for (int j = 0; j < clp.numberColumns(); ++j) {
    const double cost = clp.objective()[j], of = worth[size_t(j)];
    if (of > cost && clp.columnUpper()[j] == COIN_DBL_MAX) scale = std::min(scale, cost / of);
  }
  double sum = scale * rows;
  for (int j = 0; j < clp.numberColumns(); ++j) {
    const double reduced = clp.objective()[j] - scale * worth[size_t(j)];
    if (reduced < 0 && clp.columnUpper()[j] < COIN_DBL_MAX) sum += reduced * clp.columnUpper()[j];
  }
  return sum;
}

bool LinearProgram::is_solved() const {
  return solver_->clp.isProvenOptimal() || solver_->clp.isProvenPrimalInfeasible();
}

double LinearProgram::value(size_t variable) const { return solver_->clp.primalColumnSolution()[variable]; }

double LinearProgram::price(size_t row) const { return solver_->clp.dualRowSolution()[row]; }

}  // namespace tilerail
