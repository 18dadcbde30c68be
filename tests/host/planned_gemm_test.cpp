// Plans of the scheduler, executed with real numbers and compared with a one-call
// reference.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "backends/host/run/host_executor.hpp"
#include "check/reference.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/tiled_plan.hpp"

namespace tilerail {
namespace {

class PlannedGemm : public ::testing::TestWithParam<const char*> {
 protected:
  void expect_right(const GemmProblem& problem, const std::string& what) {
    Policy policy = any_preset(GetParam());
    policy.choices.tile = 32;
    const Plan plan = plan_gemm(problem, topology_, topology_.gpus(), policy);
    const GemmData data{plan.gemm(), 23};
    executor_.set_matrices(data.matrices());
    const Timeline timeline = executor_.execute(plan);
    for (size_t i = 0; i < plan.ops.size(); ++i) {
      for (const OpId dep : plan.deps_of(OpId{i})) {
        ASSERT_LE(timeline.ops[dep.index()].end, timeline.ops[i].start)
            << what << ": operation " << i;
      }
    }
    const GemmCheck check = data.check();
    EXPECT_TRUE(check.passed()) << what << ": " << check.summary();
  }

  Topology topology_ = test::machine(2, 2);
  HostExecutor executor_{topology_, {.workers = 0, .poison = true}};
};

constexpr std::array both{Trans::no, Trans::yes};

TEST_P(PlannedGemm, EveryTransposeDTypeAndRaggedSize) {
  constexpr int64_t sizes[][3] = {{64, 64, 64}, {70, 45, 100}, {1, 99, 33},
                                  {97, 1, 64},  {33, 65, 1},   {5, 6, 7}};
  for (const auto& [m, n, k] : sizes) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      for (const Trans ta : both) {
        for (const Trans tb : both) {
          GemmProblem p;
          p.m = m, p.n = n, p.k = k, p.dtype = dtype, p.trans_a = ta, p.trans_b = tb,
          p.alpha = 0.7, p.beta = -1.3;
          p.lda = 103, p.ldb = 111, p.ldc = 99;
          expect_right(
              p, std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k));
        }
      }
    }
  }
}

TEST_P(PlannedGemm, EveryPlacementAndSpecialScalar) {
  for (int places = 0; places < 27; ++places) {
    for (const auto& [alpha, beta] :
         {std::array{1.0, 0.0}, {1.0, 1.0}, {0.0, 0.5}, {0.0, 0.0}, {-2.0, 0.5}}) {
      GemmProblem p;
      p.m = 70, p.n = 50, p.k = 40, p.alpha = alpha, p.beta = beta;
      p.place_a = MemoryId{places % 3}, p.place_b = MemoryId{places / 3 % 3},
      p.place_c = MemoryId{places / 9};
      expect_right(p, "placement " + std::to_string(places) + ", alpha " +
                          std::to_string(alpha) + ", beta " + std::to_string(beta));
    }
  }
}

TEST_P(PlannedGemm, EmptyDimensions) {
  constexpr int64_t sizes[][3] = {{0, 8, 8}, {8, 0, 8}, {40, 40, 0}, {0, 0, 0}};
  for (const auto& [m, n, k] : sizes) {
    for (const double beta : {0.0, 2.0}) {
      GemmProblem p;
      p.m = m, p.n = n, p.k = k, p.beta = beta;
      expect_right(p,
                   std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, PlannedGemm,
                         ::testing::Values("baseline", "gemmex", "tilerail"),
                         [](const auto& instance) {
                           return std::string{instance.param};
                         });

}  // namespace
}  // namespace tilerail
