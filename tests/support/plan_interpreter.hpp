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

/// C by the definition, one element after another.
std::vector<double> reference(const GemmProblem& problem, const Matrices& matrices);

/// Carries out a plan one operation at a time on real numbers, in some order that the
/// execution rule allows, chosen by `seed`: 0 is issue order, 1 always takes the allowed
/// operation with the highest id, others are random. All memory of tiles starts as NaN,
/// so that bytes read before they were written show in the result. Returns C.
std::vector<double> interpret(const Plan& plan, Matrices matrices, uint64_t seed);

/// Whether two operations that touch the same bytes, at least one of them writing, are
/// ordered by queues and dependencies: without that no allowed order could be trusted.
/// Returns the first pair found, or an empty string.
std::string find_race(const Plan& plan);

/// Bytes that must move whatever the plan: every matrix whose home is not among the
/// devices enters once (C only if it is read) and C leaves once.
double least_bytes(const Plan& plan);
double moved_bytes(const Plan& plan);

}  // namespace tilerail::testing
