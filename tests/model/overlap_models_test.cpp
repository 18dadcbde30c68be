#include "model/published/overlap_models.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilerail {
namespace {

/// C = A B + C, 4 x 4 x 4 of 1-byte elements, all on the host: a tile of 2 x 2 takes 1 +
/// 4 = 5 s in and 1 + 2 * 4 = 9 s out, 1.5 and 2 times as long while the other direction
/// is busy. A sub-kernel of 2^3 takes 8 s, the whole kernel 64 s.
OverlapProblem gemm() {
  OverlapProblem p;
  p.h2d = {Seconds{1}, SecondsPerByte{1}, 1.5},
  p.d2h = {Seconds{1}, SecondsPerByte{2}, 2};
  p.element = Bytes{1};
  p.dims = {4, 4, 4};
  p.operands = {{4, 4, true, false, p.h2d, p.d2h},
                {4, 4, true, false, p.h2d, p.d2h},
                {4, 4, true, true, p.h2d, p.d2h}};
  p.operands[0].along = 1 | 4, p.operands[1].along = 2 | 4, p.operands[2].along = 1 | 2;
  p.kernel = [](double tile) { return Seconds{tile * tile * tile}; };
  p.whole_kernel = Seconds{64};
  return p;
}

double time(OverlapModel model, const OverlapProblem& p, double tile = 2) {
  return predicted_time(model, p, tile).value;
}

TEST(OverlapModels, BaselineFetchesAndReturnsAllOperands) {
  // Equation 1: k = 8, opd = 3: max(8, 15, 27) 7 + 15 + 8 + 27.
  EXPECT_DOUBLE_EQ(time(OverlapModel::baseline, gemm()), 27 * 7 + 50);
  OverlapProblem on_gpu = gemm();
  for (OverlapOperand& o : on_gpu.operands) o.get = o.set = false;
  EXPECT_DOUBLE_EQ(time(OverlapModel::baseline, on_gpu), 27 * 7 + 50)
      << "it does not know where data are";
}

TEST(OverlapModels, DatalocCountsOnlyCopiedOperands) {
  // Equation 2: max(8, 15, 9) 7 + 15 + 8 + 9; with B on the GPU: max(8, 10, 9) 7 + 10 + 8
  // + 9.
  EXPECT_DOUBLE_EQ(time(OverlapModel::dataloc, gemm()), 15 * 7 + 32);
  OverlapProblem p = gemm();
  p.operands[1].get = false;
  EXPECT_DOUBLE_EQ(time(OverlapModel::dataloc, p), 10 * 7 + 27);
}

TEST(OverlapModels, BtsSlowsBothDirectionsWhileBothAreBusy) {
  // Equation 3: in 22.5, out 18 under contention; 18 together, then the rest of in alone:
  // (22.5 - 18) / 1.5 = 3.
  EXPECT_DOUBLE_EQ(time(OverlapModel::bts, gemm()), 21 * 7 + 32);
  // With only C to move: in 7.5, out 18: 7.5 together, then (18 - 7.5) / 2.
  OverlapProblem p = gemm();
  p.operands[0].get = p.operands[1].get = false;
  EXPECT_DOUBLE_EQ(time(OverlapModel::bts, p), 12.75 * 7 + 5 + 8 + 9);
}

TEST(OverlapModels, DrFetchesEveryTileOnce) {
  // Equation 5: k_in = 3 (4 - 1) = 9 > k: 8 (9) + 8 (8 - 9) + 15 + 9, since a tile takes
  // 5 s, a kernel 8 s.
  EXPECT_DOUBLE_EQ(time(OverlapModel::dr, gemm()), 8 * 8 + 24);
  // With transfers of 10 s per tile: max(10, 8) k_in + 8 (k - k_in) + 30 + 9.
  OverlapProblem p = gemm();
  for (OverlapOperand& o : p.operands) o.in.latency = Seconds{6};
  EXPECT_DOUBLE_EQ(time(OverlapModel::dr, p), 10 * 9 - 8 + 39);
}

TEST(OverlapModels, Dr2CountsSubKernelsByTheirNewTiles) {
  // 2 x 2 x 2 sub-kernels: the first, three that need two new tiles, three with one and
  // one without.
  EXPECT_DOUBLE_EQ(time(OverlapModel::dr2, gemm()), 15 + 8 + 9 + 3 * 10 + 3 * 8 + 8);
  // 4 x 4 x 4 of side 1, tiles of 2 s, kernels of 1 s: 9 with two, 27 with one and 27
  // without.
  EXPECT_DOUBLE_EQ(time(OverlapModel::dr2, gemm(), 1), 6 + 1 + 3 + 9 * 4 + 27 * 2 + 27);
  // With B on the GPU, i > 0 alone needs A and C, j > 0 alone C, k > 0 alone A. Among the
  // three with two indices above 0, the one with j and k needs none.
  OverlapProblem p = gemm();
  p.operands[1].get = false;
  EXPECT_DOUBLE_EQ(time(OverlapModel::dr2, p), 10 + 8 + 9 + 10 + 2 * 8 + 3 * 8 + 8);
}

TEST(OverlapModels, CsoDividesAllButTheLongestPartByTheStreams) {
  // In 3 (1 + 16) = 51, kernel 64, out 1 + 32 = 33: 64 + (51 + 33) / 8.
  EXPECT_DOUBLE_EQ(time(OverlapModel::cso, gemm()), 64 + 84.0 / 8);
}

TEST(OverlapModels, OneSubKernelIsItsPartsOneAfterAnother) {
  for (const OverlapModel model :
       {OverlapModel::dataloc, OverlapModel::bts, OverlapModel::dr, OverlapModel::dr2,
        OverlapModel::cso})
    EXPECT_DOUBLE_EQ(time(model, gemm(), 4), 51 + 64 + 33) << to_string(model);
}

TEST(OverlapModels, WithAllDataOnTheGpuOnlyKernelsRemain) {
  OverlapProblem p = gemm();
  for (OverlapOperand& o : p.operands) o.get = o.set = false;
  for (const OverlapModel model :
       {OverlapModel::dataloc, OverlapModel::bts, OverlapModel::dr, OverlapModel::dr2})
    EXPECT_DOUBLE_EQ(time(model, p), 64) << to_string(model);
}

TEST(OverlapModels, WithoutSlowdownsBtsIsDataloc) {
  OverlapProblem p = gemm();
  p.h2d.slowdown = p.d2h.slowdown = 1;
  EXPECT_DOUBLE_EQ(time(OverlapModel::bts, p), time(OverlapModel::dataloc, p));
}

TEST(OverlapModels, VectorsHaveOneDimension) {
  // axpy of 8 elements: x in, y in and out, tiles of 2: in 2 (1 + 2) = 6, out 5; under
  // contention 9 and 10: 9 together, 0.5 more.
  OverlapProblem p = gemm();
  p.dims = {8};
  p.operands = {{8, 0, true, false, p.h2d, p.d2h}, {8, 0, true, true, p.h2d, p.d2h}};
  p.kernel = [](double tile) { return Seconds{tile}; };
  EXPECT_DOUBLE_EQ(p.sub_kernels(2), 4);
  EXPECT_DOUBLE_EQ(p.operands[0].tiles(2), 4);
  EXPECT_DOUBLE_EQ(time(OverlapModel::bts, p), 9.5 * 3 + 6 + 2 + 5);
}

TEST(OverlapModels, ATileIsCutAtTheSizesOfTheRoutine) {
  OverlapProblem p = gemm();
  p.dims = {4, 4, 1}, p.operands[0].cols = p.operands[1].rows = 1;
  EXPECT_DOUBLE_EQ(p.sub_kernels(2), 4);
  EXPECT_DOUBLE_EQ(p.operands[0].tiles(2), 2);
  EXPECT_DOUBLE_EQ(p.operands[0].tile_elements(2), 2);
}

TEST(OverlapModels, TheBestTileHasTheLeastTime) {
  const std::vector<int64_t> tiles{1, 2, 4};
  for (const OverlapModel model : overlap_models) {
    const int64_t best = best_tile(model, gemm(), tiles);
    for (const int64_t tile : tiles)
      EXPECT_LE(time(model, gemm(), double(best)), time(model, gemm(), double(tile)));
  }
}

}  // namespace
}  // namespace tilerail
