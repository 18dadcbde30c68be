#include "cost/linear_program.hpp"

#include <coin/ClpSimplex.hpp>

namespace tilerail {

struct LinearProgram::Solver {
  ClpSimplex clp;
  bool solved = false;
};

LinearProgram::LinearProgram() : solver_{std::make_unique<Solver>()} { solver_->clp.setLogLevel(0); }
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

double LinearProgram::solve() {
  solver_->clp.dual();
  return solver_->clp.isProvenOptimal() ? solver_->clp.objectiveValue() : infinity;
}

double LinearProgram::price(std::size_t row) const { return solver_->clp.dualRowSolution()[row]; }
double LinearProgram::value(std::size_t variable) const { return solver_->clp.primalColumnSolution()[variable]; }

}  // namespace tilerail
