// Plans of vector routines, as lists of operations.
#include <gtest/gtest.h>

#include <set>

#include "plan/validate.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

using Words = std::vector<std::string>;

using Routines = OnTwoGpu;

TEST_F(Routines, AxpyFetchesXAndYAddsAndWritesYBack) {
  const Plan axpy = plan(axpy_problem(1500), policy("gemmex", {"tile=1000"}));
  const Words tile{"host>gpu0", "host>gpu0", "axpby@gpu0", "gpu0>host"};
  Words two = tile;
  two.insert(two.end(), tile.begin(), tile.end());
  EXPECT_EQ(words(axpy), two);
  const Op &x = axpy.ops[4], &y = axpy.ops[5],
           &add = axpy.ops[6];  // of the last, ragged tile
  EXPECT_EQ(axpy.buffer(axpy.operands_of(x)[0].buffer).tensor, tensor_a);
  EXPECT_EQ(axpy.buffer(axpy.operands_of(y)[0].buffer).tensor, tensor_c);
  for (const Op* fetch : {&x, &y})
    EXPECT_EQ(
        std::pair(axpy.operands_of(*fetch)[0].row, axpy.operands_of(*fetch)[0].rows),
        std::pair(1000L, 500L));
  EXPECT_EQ(std::pair(add.alpha, add.beta), std::pair(Scalar::alpha, Scalar::beta));
  EXPECT_EQ(axpy.operands_of(add)[0].buffer, axpy.result(x).buffer);
  EXPECT_EQ(axpy.result(add).buffer, axpy.result(y).buffer);
}

TEST_F(Routines, AxpyWithBetaZeroNeverFetchesYAndWithAlphaZeroNeverX) {
  GemmProblem p = axpy_problem(100);
  p.beta = 0, p.alpha = 3;
  const Plan scaled = plan(p, any_preset("gemmex"));
  EXPECT_EQ(words(scaled), (Words{"host>gpu0", "axpby@gpu0", "gpu0>host"}));
  EXPECT_EQ(std::pair(scaled.ops[1].alpha, scaled.ops[1].beta),
            std::pair(Scalar::alpha, Scalar::zero));
  p.beta = 2, p.alpha = 0;
  const Plan own = plan(p, any_preset("gemmex"));
  EXPECT_EQ(words(own), (Words{"host>gpu0", "axpby@gpu0", "gpu0>host"}));
  EXPECT_EQ(std::pair(own.ops[1].alpha, own.ops[1].beta),
            std::pair(Scalar::zero, Scalar::beta));
  p.beta = 1;
  EXPECT_TRUE(plan(p, any_preset("gemmex")).ops.empty());
}

TEST_F(Routines, VectorsOnTheGpuAreUsedInPlace) {
  for (const char* name : {"baseline", "gemmex", "tilerail"}) {
    GemmProblem p = axpy_problem(1 << 20);
    p.place_a = p.place_c = gpu0;
    const Plan axpy = plan(p, any_preset(name));
    EXPECT_EQ(count(axpy, OpKind::copy), 0);
    EXPECT_EQ(axpy.peak_bytes[gpu0.index()], 0);
    GemmProblem q = gemv_problem(2000, 3000, Trans::yes);
    q.place_a = q.place_b = q.place_c = gpu0;
    EXPECT_EQ(count(plan(q, any_preset(name)), OpKind::copy), 0);
    GemmProblem r = dot_problem(1 << 20);
    r.place_a = r.place_b = r.place_c = gpu0;
    EXPECT_EQ(count(plan(r, policy(name, {"tile=300000"})), OpKind::copy), 0);
    r.place_c = host;
    EXPECT_EQ(words(plan(r, policy(name, {"tile=600000"}))),
              (Words{"gemm@gpu0 b0", "gemm@gpu0 b1", "gpu0>host"}));
  }
}

TEST_F(Routines, AxpyOnTwoGpusGivesEachHalfOfTheVectors) {
  const Plan axpy =
      plan(axpy_problem(4096), policy("gemmex", {"tile=2048"}), {gpu0, gpu1});
  EXPECT_EQ(words(axpy), (Words{"host>gpu0", "host>gpu0", "axpby@gpu0", "gpu0>host",  //
                                "host>gpu1", "host>gpu1", "axpby@gpu1", "gpu1>host"}));
  EXPECT_EQ(axpy.operands_of(axpy.ops[4])[0].row, 2048);
}

TEST_F(Routines, DotAddsTileAfterTileToOneSum) {
  const Plan dot = plan(dot_problem(1500), policy("gemmex", {"tile=1000"}));
  EXPECT_EQ(words(dot), (Words{"host>gpu0", "host>gpu0", "gemm@gpu0 b0", "host>gpu0",
                               "host>gpu0", "gemm@gpu0 b1", "gpu0>host"}));
  const Op& last = dot.ops[5];
  EXPECT_EQ(last.trans_a, Trans::yes);
  EXPECT_EQ(std::pair(dot.operands_of(last)[0].rows, dot.operands_of(last)[1].rows),
            std::pair(500L, 500L));
  EXPECT_EQ(std::pair(dot.result(last).rows, dot.result(last).cols), std::pair(1L, 1L));
  EXPECT_EQ(dot.result(last).buffer, dot.result(dot.ops[2]).buffer);
}

TEST_F(Routines, TheFirstGpuAddsTheSumsOfTheOthers) {
  const Plan dot = plan(dot_problem(4096), policy("gemmex", {"tile=2048"}), {gpu0, gpu1});
  EXPECT_EQ(words(dot),
            (Words{"host>gpu0", "host>gpu0", "gemm@gpu0 b0", "host>gpu1", "host>gpu1",
                   "gemm@gpu1 b0", "gpu1>gpu0", "axpby@gpu0", "gpu0>host"}));
  EXPECT_EQ(dot.operands_of(dot.ops[3])[0].row, 2048);
  EXPECT_EQ(dot.result(dot.ops[7]).buffer, dot.result(dot.ops[2]).buffer);
}

TEST_F(Routines, DotOfFewerElementsThanGpusLeavesTheOthersOut) {
  EXPECT_EQ(words(plan(dot_problem(1), any_preset("gemmex"), {gpu0, gpu1})),
            (Words{"host>gpu0", "host>gpu0", "gemm@gpu0 b0", "gpu0>host"}));
}

TEST_F(Routines, DotOfNothingIsZero) {
  const Plan dot = plan(dot_problem(0), any_preset("tilerail"));
  EXPECT_EQ(words(dot), (Words{"axpby@gpu0", "gpu0>host"}));
  EXPECT_EQ(std::pair(dot.ops[0].alpha, dot.ops[0].beta),
            std::pair(Scalar::zero, Scalar::zero));
}

TEST_F(Routines, GemvFetchesEachTileOfTheVectorOnce) {
  const Plan gemv = plan(gemv_problem(2048, 2048, Trans::no),
                         policy("gemmex", {"tile=1024", "c-tiles=eager", "order=fifo"}));
  EXPECT_EQ(words(gemv),
            (Words{"host>gpu0", "host>gpu0", "host>gpu0", "gemm@gpu0 b1",  // A00, x0, y0
                   "host>gpu0", "host>gpu0", "gemm@gpu0 b1", "gpu0>host",  // A01, x1
                   "host>gpu0", "host>gpu0", "gemm@gpu0 b1",               // A10, y1
                   "host>gpu0", "gemm@gpu0 b1", "gpu0>host"}));            // A11
}

TEST_F(Routines, GpusShareTheRowsOfAGemv) {
  for (const char* grid : {"grid=square", "grid=auto"}) {
    const Plan gemv =
        plan(gemv_problem(4096, 1024, Trans::no), policy("gemmex", {grid}), {gpu0, gpu1});
    std::set<MemoryId> busy;
    for (const Op& op : gemv.ops)
      if (op.kind == OpKind::gemm) busy.insert(gemv.queue(op.queue).dst);
    EXPECT_EQ(busy.size(), 2u);
    EXPECT_EQ(moved(gemv, host, gpu0) + moved(gemv, host, gpu1),
              8.0 * (4096 * 1024 + 1024 + 4096))
        << "x comes once";
  }
}

TEST_F(Routines, WithoutRoomForTheVectorsTheirMemoryIsUsedAgain) {
  for (const GemmProblem& p :
       {axpy_problem(100'000'000), dot_problem(100'000'000)}) {  // 1.6 GB, on 1 GB
    const Plan streamed = plan(p, policy("tilerail", {"tile=1000000"}));
    EXPECT_LE(streamed.peak_bytes[gpu0.index()], 900'000'000);
    validate(streamed, machine);
  }
  expect_error(
      [&] { plan(axpy_problem(100'000'000), policy("tilerail", {"tile=50000000"})); },
      {.subject = "tile", .value = "50000000"});
}

TEST_F(Routines, BytesAndNotSidesSetTheSizeOfTiles) {
  const Topology roomy = shipped("cocopelia-testbed-2");
  // C_overlap is 1 / (N / T), and C_latency is 0 from 2048^2 elements on: the minimum is
  // at 2048^2.
  EXPECT_EQ(thesis_tile(1 << 28, 1, 1, {1, 1}, int64_t{1} << 40, vector_tiles), 1 << 22);
  for (const char* name : {"baseline", "gemmex", "tilerail"}) {
    const auto tile = [&](const GemmProblem& p) {
      return plan_gemm(p, roomy, std::vector{gpu0}, any_preset(name)).tile;
    };
    EXPECT_GE(tile(axpy_problem(1 << 28)), 1 << 20) << name;
    EXPECT_LE(tile(axpy_problem(1 << 28)), 1 << 26)
        << name;  // fetches and write-backs overlap
    EXPECT_GE(tile(dot_problem(1 << 28)), 1 << 20) << name;
  }
  EXPECT_EQ(plan(axpy_problem(1'000'000'000'000), policy("gemmex", {"tile=20000000"}))
                .ops.size(),
            4u * 50'000);
}

TEST_F(Routines, ScalingOfCIsPlannedIndependentlyOfAAndB) {
  GemmProblem empty = cube(3000);
  empty.k = 0, empty.beta = 0.5;
  GemmProblem idle = cube(3000);
  idle.alpha = 0, idle.beta = 0.5;
  idle.place_a = gpu1;
  for (const std::string& name : any_preset_names()) {
    const Plan less = plan(empty, any_preset(name), {gpu0, gpu1}),
               more = plan(idle, any_preset(name), {gpu0, gpu1});
    EXPECT_FALSE(less.ops.empty());
    EXPECT_EQ(words(more), words(less)) << name;
    EXPECT_EQ(std::pair(more.tile, more.devices), std::pair(less.tile, less.devices))
        << name;
  }
}

TEST_F(Routines, ScalingAVectorTakesNoRoomForTilesOfTheMatrix) {
  GemmProblem p = gemv_problem(20000, 20000, Trans::no);
  p.alpha = 0, p.beta = 0.5;
  // A tile of A has 3.2 GB, the GPU 1 GB.
  EXPECT_EQ(words(plan(p, policy("gemmex", {"tile=20000"}))),
            (Words{"host>gpu0", "axpby@gpu0", "gpu0>host"}));
}

TEST_F(Routines, EqualProblemsOfOtherRoutinesHaveOtherHashes) {
  GemmProblem product = gemv_problem(100, 50, Trans::no);
  const std::string gemv = content_hash(plan(product, any_preset("gemmex")));
  product.routine = Routine::gemm;
  EXPECT_NE(content_hash(plan(product, any_preset("gemmex"))), gemv);
}

}  // namespace
}  // namespace tilerail::testing
