// Small programs with obvious solutions; proven bounds do not depend on the solver.
#include "cost/linear_program.hpp"

#include <gtest/gtest.h>

namespace tilerail {
namespace {

TEST(LinearProgram, FindsTheLeastCost) {
  LinearProgram p;
  const auto x = p.add_variable(10, 2), y = p.add_variable(10, 3);
  const auto together = p.add_row(4, LinearProgram::infinity, {{x, 1}, {y, 1}});
  p.add_row(-LinearProgram::infinity, 3, {{x, 1}});
  EXPECT_NEAR(p.solve(), 2 * 3 + 3 * 1, 1e-9);
  EXPECT_NEAR(p.price(together), 3, 1e-9);
  p.set_upper(x, 1);
  EXPECT_NEAR(p.solve(), 2 * 1 + 3 * 3, 1e-9);
  p.set_coefficient(together, y, 2);
  EXPECT_NEAR(p.solve(), 3 * 2, 1e-9);  // y for half the amount
}

TEST(LinearProgram, ReportsInfeasiblePrograms) {
  LinearProgram p;
  const auto x = p.add_variable(1, 1);
  p.add_row(2, LinearProgram::infinity, {{x, 1}});
  EXPECT_EQ(p.solve(), LinearProgram::infinity);
  p.set_upper(x, 3);
  EXPECT_NEAR(p.solve(), 2, 1e-9);
}

// Rates far apart: the proven bound does not exceed the minimum, up to the rounding of
// sums.
TEST(LinearProgram, ProvesNoMoreThanTheLeastCost) {
  for (const double scale : {1e-9, 1e-3, 1.0, 1e3, 1e9}) {
    LinearProgram p;
    const auto need = p.add_variable(LinearProgram::infinity, 1), x = p.add_variable(1),
               y = p.add_variable(1);
    p.add_row(1, LinearProgram::infinity, {{x, 1}, {y, 1}});
    p.add_row(-LinearProgram::infinity, 0, {{x, 1}, {need, -1}});
    p.add_row(-LinearProgram::infinity, 0, {{y, scale}, {need, -1}});
    const double least = scale / (1 + scale);  // x = need, y = need / scale
    EXPECT_LE(p.solve(), least * (1 + 1e-12)) << scale;
    EXPECT_GE(p.solve(), least * (1 - 1e-6) - 1e-8)
        << scale;  // near 0 the solver stops early
  }
}

}  // namespace
}  // namespace tilerail
