#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail::testing {

/// Small integer matrices, so that every sum is exact in double and results can be
/// compared with ==.
struct Matrices {
  std::vector<double> a, b, c;  // with the problem's leading dimensions
};
Matrices integer_matrices(const GemmProblem& problem, uint64_t seed);

/// C by its definition, one element after another, each rounded once to its type.
std::vector<double> reference(const GemmProblem& problem, const Matrices& matrices);

/// Executes a plan one operation at a time on real numbers, each result rounded to its
/// type, in an order that the execution rule allows, chosen by `seed`: 0 is issue order,
/// 1 always takes the allowed operation with the highest id, others are random. Tile
/// memory is initialised with NaN, so that reads before writes are visible in the result.
Matrices interpreted(const Plan& plan, Matrices matrices, uint64_t seed);
/// The same; returns the last tensor.
std::vector<double> interpret(const Plan& plan, Matrices matrices, uint64_t seed);

/// Checks that any two operations on the same bytes, at least one of them writing, are
/// ordered by queues and dependencies; otherwise the result depends on the order. Returns
/// the first unordered pair, or an empty string.
std::string find_race(const Plan& plan);

/// Minimum traffic of any plan: every matrix located outside the devices enters once (C
/// only if it is read), and C leaves once.
double least_bytes(const Plan& plan);
double moved_bytes(const Plan& plan);

}  // namespace tilerail::testing
