// Products with one or two thin sides: GPUs divide the long side, in long tiles.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "cost/bound.hpp"
#include "sched/emulation/presets.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/simulated.hpp"

namespace tilerail::testing {
namespace {

constexpr int64_t million = 1'000'000;

struct Thin {
  const char* machine;
  int64_t m, n, k;
  DType dtype = DType::f64;
  Routine routine = Routine::gemm;
  Trans trans = Trans::no;

  friend std::ostream& operator<<(std::ostream& out, const Thin& thin) {
    return out << thin.machine << " " << thin.m << "," << thin.n << "," << thin.k << " "
               << to_string(thin.routine) << to_string(thin.trans) << " "
               << to_string(thin.dtype);
  }
};

GemmProblem problem_of(const Thin& thin) {
  GemmProblem p;
  p.m = thin.m, p.n = thin.n, p.k = thin.k;
  p.dtype = thin.dtype, p.routine = thin.routine, p.trans_a = thin.trans;
  return checked(p);
}

class ThinProducts : public ::testing::TestWithParam<Thin> {};

TEST_P(ThinProducts, TakeLittleMoreThanTheBound) {
  const Topology machine = shipped(GetParam().machine);
  const GemmProblem p = problem_of(GetParam());
  const Plan plan = judged(p, machine, machine.gpus(), any_preset("tilerail"));
  EXPECT_LE(simulated(plan, machine) / lower_bound(p, machine, machine.gpus()).time, 1.1);
  EXPECT_LT(plan.ops.size(), 20'000U);
}

/// The first call of a program uses the estimate only.
TEST_P(ThinProducts, AreSharedOutByTheEstimateAlone) {
  const Topology machine = shipped(GetParam().machine);
  const GemmProblem p = problem_of(GetParam());
  const Plan plan = plan_gemm(p, machine, machine.gpus(), any_preset("tilerail"));
  EXPECT_LE(simulated(plan, machine) / lower_bound(p, machine, machine.gpus()).time,
            1.25);
}

INSTANTIATE_TEST_SUITE_P(
    Of, ThinProducts,
    ::testing::Values(Thin{"hgx-h200", 1, 1, 1000 * million},
                      Thin{"pcie-tree-8", 4, 4, 200 * million},
                      Thin{"hgx-h200", 1, 1, 1000 * million, DType::f64, Routine::gemv},
                      Thin{"hgx-h200", 1, 1, 1000 * million, DType::f64, Routine::gemv,
                           Trans::yes},
                      Thin{"pcie-tree-8", 1, 8, 500 * million},
                      Thin{"karolina-hgx-a100", 16, 16, 100 * million},
                      Thin{"hgx-h200-1", 16, 16, 100 * million},
                      Thin{"summit-node", 300 * million, 1, 1},
                      Thin{"pcie-tree-8", 3, 100 * million, 1},
                      Thin{"meluxina-a100", 100 * million, 4, 4, DType::f32}));

}  // namespace
}  // namespace tilerail::testing
