#include "sched/scalar_slots.hpp"

namespace tilerail {
namespace {

// The coefficients of a plan are alpha, beta, 0 and 1: two other numbers tell them apart.
constexpr double alpha_mark = 2, beta_mark = 3;

}  // namespace

GemmProblem ScalarSlots::marked(GemmProblem problem) {
  if (problem.alpha != 0) problem.alpha = alpha_mark;
  if (problem.beta != 0) problem.beta = beta_mark;
  return problem;
}

ScalarSlots::ScalarSlots(const Plan& plan) {
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    if (op.kind != OpKind::gemm && op.kind != OpKind::axpby) continue;
    if (op.alpha == alpha_mark) alpha_as_alpha_.push_back(i);
    if (op.alpha == beta_mark) beta_as_alpha_.push_back(i);
    if (op.beta == beta_mark) beta_as_beta_.push_back(i);
  }
}

void ScalarSlots::write(Plan& plan, double alpha, double beta) const {
  if (plan.problem.alpha != 0) plan.problem.alpha = alpha;
  if (plan.problem.beta != 0) plan.problem.beta = beta;
  for (const std::size_t i : alpha_as_alpha_) plan.ops[i].alpha = alpha;
  for (const std::size_t i : beta_as_alpha_) plan.ops[i].alpha = beta;
  for (const std::size_t i : beta_as_beta_) plan.ops[i].beta = beta;
}

}  // namespace tilerail
