// Plans of the routines on vectors, executed with real numbers and compared with a
// one-call reference.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "backends/host/run/host_executor.hpp"
#include "check/reference.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/tiled_plan.hpp"

namespace tilerail {
namespace {

class PlannedRoutine : public ::testing::TestWithParam<const char*> {
 protected:
  void expect_right(const GemmProblem& problem, int64_t tile = 32) {
    Policy policy = any_preset(GetParam());
    policy.choices.tile = tile;
    const Plan plan = plan_gemm(problem, topology_, topology_.gpus(), policy);
    const GemmData data{plan.gemm(), 29};
    executor_.set_matrices(data.matrices());
    executor_.execute(plan);
    const GemmCheck check = data.check();
    const GemmProblem& p = plan.gemm();
    EXPECT_TRUE(check.passed())
        << to_string(p.routine) << " " << p.m << " x " << p.k << " " << to_string(p.dtype)
        << to_string(p.trans_a) << " alpha " << p.alpha << " beta " << p.beta << " at "
        << p.place_a.home().value << p.place_b.home().value << p.place_c.home().value
        << ": " << check.summary();
  }

  /// Tests every placement, scalar and type.
  void expect_always_right(GemmProblem p, int64_t tile = 32) {
    for (p.dtype = DType::f64;; p.dtype = DType::f32) {
      for (int places = 0; places < 27; ++places)
        for (const auto& [alpha, beta] :
             {std::array{1.0, 0.0}, {1.0, 1.0}, {0.0, 0.5}, {0.0, 0.0}, {-2.0, 0.5}}) {
          if (p.routine == Routine::dot && beta != 0) continue;
          p.alpha = alpha, p.beta = beta;
          p.place_a = MemoryId{places % 3}, p.place_b = MemoryId{places / 3 % 3},
          p.place_c = MemoryId{places / 9};
          expect_right(p, tile);
        }
      if (p.dtype == DType::f32) break;
    }
  }

  Topology topology_ = test::machine(2, 2);
  HostExecutor executor_{topology_, {.workers = 0, .poison = true}};
};

TEST_P(PlannedRoutine, Axpy) {
  expect_always_right(axpy_problem(331));
  for (const int64_t n : {0, 1, 2, 31, 32, 33, 64}) expect_right(axpy_problem(n));
}

TEST_P(PlannedRoutine, Dot) {
  expect_always_right(dot_problem(331));
  for (const int64_t n : {0, 1, 2, 31, 32, 33, 64}) expect_right(dot_problem(n));
}

TEST_P(PlannedRoutine, Gemv) {
  for (const Trans trans : {Trans::no, Trans::yes}) {
    GemmProblem p = gemv_problem(70, 101, trans);
    p.lda = 77;
    expect_always_right(p);
    constexpr int64_t sizes[][2] = {{1, 50}, {50, 1}, {1, 1},    {33, 64},
                                    {0, 9},  {9, 0},  {3000, 2}, {2, 3000}};
    for (const auto& [m, n] : sizes) expect_right(gemv_problem(m, n, trans));
  }
}

TEST_P(PlannedRoutine, LongVectorsInLargeTiles) {
  expect_right(axpy_problem(1'000'003), 300'000);
  expect_right(dot_problem(1'000'003), 300'000);
  expect_right(axpy_problem(1'000'003), int64_t{1} << 40);
}

INSTANTIATE_TEST_SUITE_P(Presets, PlannedRoutine,
                         ::testing::Values("baseline", "gemmex", "tilerail"),
                         [](const auto& instance) {
                           return std::string{instance.param};
                         });

TEST(RoutineCheck, AMissingTileOfALongDotProductShows) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    GemmProblem p = dot_problem(1 << 20);
    p.dtype = dtype;
    const Topology machine = test::machine(1, 1);
    Policy policy = any_preset("gemmex");
    policy.choices.tile = 1 << 16;
    Plan plan = plan_gemm(p, machine, machine.gpus(), policy);
    const GemmData data{plan.gemm(), 3};
    HostExecutor executor{machine};
    executor.set_matrices(data.matrices());
    executor.execute(plan);
    EXPECT_TRUE(data.check().passed()) << data.check().summary();
    for (Op& op : plan.ops)
      if (op.kind == OpKind::gemm && op.beta == Scalar::zero)
        op.alpha = Scalar::zero;  // the first tile
    executor.execute(plan);
    EXPECT_FALSE(data.check().passed()) << data.check().summary();
  }
}

}  // namespace
}  // namespace tilerail
