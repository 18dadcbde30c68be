#include "sched/scalar_slots.hpp"

#include <gtest/gtest.h>

#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"

namespace tilerail {
namespace {

/// Whatever the policy does with C: writing alpha and beta into a plan with marks gives the plan of that problem.
TEST(ScalarSlots, AMarkedPlanBecomesThePlanOfEveryAlphaAndBeta) {
  const Topology topology = testing::shipped("two-gpu");
  for (const std::string policy_name : {"baseline", "gemmex", "tilerail"}) {
    for (const std::string c_tiles : {"eager", "lazy"}) {
      Policy policy = preset(policy_name);
      apply_override(policy, "tile=100");
      apply_override(policy, "c-tiles=" + c_tiles);
      for (const double alpha : {0.0, 1.0, -0.5, 3.0}) {
        for (const double beta : {0.0, 2.0, 3.0, 0.25}) {
          GemmProblem problem = testing::cube(300);
          problem.alpha = alpha, problem.beta = beta;
          Plan plan = plan_gemm(ScalarSlots::marked(problem), topology, topology.gpus(), policy);
          const ScalarSlots slots{plan};
          slots.write(plan, 7, 8);  // an earlier use leaves nothing behind
          slots.write(plan, alpha, beta);
          EXPECT_EQ(content_hash(plan), content_hash(plan_gemm(problem, topology, topology.gpus(), policy)))
              << policy.name << " alpha " << alpha << " beta " << beta;
        }
      }
    }
  }
}

/// beta == 1 with a product: the plan differs from others in values only, too.
TEST(ScalarSlots, BetaOneIsLikeAnyOtherWhereThereIsAProduct) {
  const Topology topology = testing::shipped("two-gpu");
  GemmProblem problem = testing::cube(300);
  problem.alpha = 2, problem.beta = 1;
  const Policy policy = preset("tilerail");
  Plan plan = plan_gemm(ScalarSlots::marked(problem), topology, topology.gpus(), policy);
  ScalarSlots{plan}.write(plan, 2, 1);
  EXPECT_EQ(content_hash(plan), content_hash(plan_gemm(problem, topology, topology.gpus(), policy)));
}

}  // namespace
}  // namespace tilerail
