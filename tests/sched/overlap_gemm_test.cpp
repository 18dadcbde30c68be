#include "sched/emulation/overlap_gemm.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"

#include <gtest/gtest.h>

#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

TEST(OverlapGemm, TransfersFollowTheRoutes) {
  const Topology machine = shipped(
      "two-gpu");  // host to GPU 10 GB/s after 10 us, GPU to GPU 40 GB/s after 5 us
  GemmProblem p = cube(1000);
  p.place_b = gpu0, p.place_c = gpu1, p.beta = 0;
  const OverlapProblem o = overlap_problem(checked(p), machine, gpu0);
  EXPECT_NEAR(o.h2d.of(Bytes{1e9}).value, 0.1 + 10e-6, 1e-12);
  EXPECT_TRUE(o.operands[0].get);
  EXPECT_FALSE(o.operands[0].set);
  EXPECT_NEAR(o.operands[0].in.of(Bytes{1e9}).value, 0.1 + 10e-6, 1e-12);
  EXPECT_FALSE(o.operands[1].get || o.operands[1].set) << "it is there";
  EXPECT_FALSE(o.operands[2].get) << "beta = 0";
  EXPECT_TRUE(o.operands[2].set);
  EXPECT_NEAR(o.operands[2].out.of(Bytes{1e9}).value, 0.025 + 5e-6, 1e-12);
  EXPECT_EQ(o.dims, (std::vector<double>{1000, 1000, 1000}));
  EXPECT_NEAR(o.kernel(512).value, 2.0 * 512 * 512 * 512 / 1e12, 1e-6);
  EXPECT_EQ(o.kernel(5000), o.whole_kernel);
}

TEST(OverlapGemm, SlowdownsEqualOneCopyPerDirection) {
  const Topology machine = shipped("cocopelia-testbed-2");  // Table II: 1.27 and 1.41
  const OverlapProblem o =
      overlap_problem(checked(cube(4096)), machine, machine.gpus()[0]);
  EXPECT_NEAR(o.h2d.slowdown, 1.27, 0.05);
  EXPECT_NEAR(o.d2h.slowdown, 1.41, 0.05);
}

TEST(OverlapGemm, TilesAreMultiplesOf256UpToTheLeastSize) {
  GemmProblem p = cube(1000);
  EXPECT_EQ(overlap_tiles(p, 1 << 20), (std::vector<int64_t>{256, 512, 768}));
  EXPECT_EQ(overlap_tiles(p, 600), (std::vector<int64_t>{256, 512}));
  EXPECT_EQ(overlap_tiles(p, 200), (std::vector<int64_t>{200}));
  EXPECT_EQ(overlap_tiles(cube(100), 1 << 20), (std::vector<int64_t>{100}));
  p.k = 100;
  EXPECT_EQ(overlap_tiles(p, 1 << 20), (std::vector<int64_t>{256, 512, 768}))
      << "k is one tile";
}

TEST(OverlapGemm, AVectorIsCutAlongItsLength) {
  const Topology machine = shipped("two-gpu");
  GemmProblem p = axpy_problem(1 << 24);
  p.place_a = gpu0;
  const OverlapProblem axpy = overlap_problem(checked(p), machine, gpu0);
  EXPECT_EQ(axpy.dims, (std::vector<double>{1 << 24}));
  ASSERT_EQ(axpy.operands.size(), 2u);
  EXPECT_FALSE(axpy.operands[0].get || axpy.operands[0].set) << "x is there";
  EXPECT_TRUE(axpy.operands[1].get && axpy.operands[1].set);
  EXPECT_EQ(axpy.operands[1].tiles(1 << 22), 4);
  EXPECT_EQ(axpy.operands[1].tile_elements(1 << 22), 1 << 22);
  EXPECT_DOUBLE_EQ(axpy.kernel(1 << 22).value, 3 * 8.0 * (1 << 22) / 1e12);
  EXPECT_DOUBLE_EQ(axpy.whole_kernel.value, 3 * 8.0 * (1 << 24) / 1e12);
  const OverlapProblem dot =
      overlap_problem(checked(dot_problem(1 << 24)), machine, gpu0);
  EXPECT_EQ(dot.dims, (std::vector<double>{1 << 24}));
  ASSERT_EQ(dot.operands.size(), 3u);
  EXPECT_TRUE(dot.operands[0].get && dot.operands[1].get && dot.operands[2].set);
  EXPECT_FALSE(dot.operands[2].get);
  EXPECT_EQ(dot.operands[2].tile_elements(1 << 22), 1);
}

TEST(OverlapGemm, AMatrixTimesAVectorHasTwoDimensions) {
  const Topology machine = shipped("two-gpu");
  const OverlapProblem gemv =
      overlap_problem(checked(gemv_problem(3000, 5000, Trans::yes)), machine, gpu0);
  EXPECT_EQ(gemv.dims, (std::vector<double>{5000, 3000}));
  EXPECT_EQ(gemv.operands[0].tile_elements(1000), 1e6);
  EXPECT_EQ(gemv.operands[1].tile_elements(1000), 1000);
  EXPECT_EQ(gemv.operands[2].tiles(1000), 5);
  EXPECT_EQ(gemv.sub_kernels(1000), 15);
}

// Eq. 4 of the paper with t = 10 us + 8 T / (10 GB/s), k = 4: fetching x and y takes
// longer than kernel and write-back.
TEST(OverlapGemm, AnAxpyTakesTheTimeOfItsFetches) {
  const Topology machine = shipped("two-gpu");
  const OverlapProblem axpy =
      overlap_problem(checked(axpy_problem(1 << 24)), machine, gpu0);
  const double t = 10e-6 + 8.0 * (1 << 22) / 10e9, kernel = 3 * 8.0 * (1 << 22) / 1e12;
  EXPECT_NEAR(predicted_time(OverlapModel::bts, axpy, 1 << 22).value,
              2 * t * 3 + 2 * t + kernel + t, 1e-12);
}

TEST(OverlapGemm, TilesOfVectorsAreMultiplesOf2To18) {
  EXPECT_EQ(overlap_tiles(axpy_problem(1 << 20), int64_t{1} << 40),
            (std::vector<int64_t>{1 << 18, 2 << 18, 3 << 18, 4 << 18}));
  EXPECT_EQ(overlap_tiles(dot_problem(1 << 30), int64_t{1} << 40).back(), 1 << 26);
  EXPECT_EQ(overlap_tiles(dot_problem(1000), int64_t{1} << 40),
            (std::vector<int64_t>{1000}));
  EXPECT_EQ(overlap_tiles(gemv_problem(600, 9000, Trans::no), int64_t{1} << 40),
            (std::vector<int64_t>{256, 512}));
}

TEST(OverlapGemm, APlanTakesTheTileOfItsModel) {
  const Topology machine = shipped("cocopelia-testbed-2");
  const GemmProblem problem = checked(cube(8192));
  const OverlapProblem overlap = overlap_problem(problem, machine, machine.gpus()[0]);
  const auto tiles = overlap_tiles(problem, 1 << 20);
  for (const OverlapModel model : {OverlapModel::dataloc, OverlapModel::dr}) {
    Policy policy = any_preset("tilerail");
    apply_override(policy, "tile=" + std::string{to_string(model)});
    const Plan plan = plan_gemm(problem, machine, {machine.gpus().data(), 1}, policy);
    EXPECT_EQ(plan.tile, best_tile(model, overlap, tiles));
    const Topology two = shipped("two-gpu");
    GemmProblem half = checked(cube(1000));
    policy.grid = GridChoice::square;  // 1 x 2
    const int64_t tile = plan_gemm(half, two, two.gpus(), policy).tile;
    half.n = 500;
    EXPECT_EQ(tile, best_tile(model, overlap_problem(half, two, two.gpus()[0]),
                              overlap_tiles(half, 1 << 20)));
    EXPECT_TRUE(plan_gemm(checked(cube(0)), machine, {machine.gpus().data(), 1}, policy)
                    .ops.empty());
  }
}

}  // namespace
}  // namespace tilerail::testing
