// Tiles of C computed by one device: arrival, scaling, memory and write-back. A and B are
// on gpu0, which computes: all copies are of C, 1024 x 1024 in four tiles; k has two.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/plan_facts.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

class OutputTiles : public OnTwoGpu {
 protected:
  static constexpr int64_t tile_bytes = 512 * 512 * 8;

  Plan planned(std::initializer_list<std::string_view> overrides, double beta = 1,
               MemoryId place_c = MemoryId{0}) {
    GemmProblem p = cube(1024);
    p.place_a = p.place_b = gpu0, p.place_c = place_c, p.beta = beta;
    Policy how = policy("gemmex", {"tile=512", "compute-streams=1", "order=fifo"});
    for (const std::string_view each : overrides) apply_override(how, each);
    return plan(p, how);
  }
  static std::vector<OpId> ops(const Plan& plan, OpKind kind) {
    std::vector<OpId> found;
    for (size_t i = 0; i < plan.ops.size(); ++i)
      if (plan.ops[i].kind == kind) found.push_back(OpId{i});
    return found;
  }
  static std::vector<OpId> copies(const Plan& plan, MemoryId src) {
    std::vector<OpId> found = ops(plan, OpKind::copy);
    std::erase_if(found,
                  [&](OpId op) { return plan.queue(plan.op(op).queue).src != src; });
    return found;
  }
};

TEST_F(OutputTiles, TheFirstKernelScalesEagerTilesAfterTheirArrival) {
  const Plan p = planned({"c-tiles=eager"});
  const auto in = copies(p, host), kernels = ops(p, OpKind::gemm), out = copies(p, gpu0);
  ASSERT_EQ(in.size(), 4U);
  ASSERT_EQ(kernels.size(), 8U);
  ASSERT_EQ(out.size(), 4U);
  EXPECT_TRUE(ops(p, OpKind::axpby).empty());
  for (size_t tile = 0; tile < 4; ++tile) {
    const OpId first = kernels[2 * tile], last = kernels[2 * tile + 1];
    EXPECT_TRUE(waits_for(p, first, in[tile]));
    EXPECT_EQ(covered(p.result(p.op(first))), covered(p.result(p.op(in[tile]))));
    EXPECT_EQ(p.op(first).beta, Scalar::beta);
    EXPECT_EQ(p.op(last).beta, Scalar::one);
    EXPECT_TRUE(waits_for(p, out[tile], last));
    EXPECT_EQ(covered(p.result(p.op(out[tile]))),
              covered(p.operands_of(p.op(in[tile]))[0]))
        << "back to where it came from";
  }
}

TEST_F(OutputTiles, LazyTilesArriveInTurnInTwoBuffersAndAreAdded) {
  const Plan p = planned({"c-tiles=lazy"});
  const auto in = copies(p, host), sums = ops(p, OpKind::axpby),
             kernels = ops(p, OpKind::gemm), out = copies(p, gpu0);
  ASSERT_EQ(in.size(), 4U);
  ASSERT_EQ(sums.size(), 4U);
  std::set<int64_t> buffers;
  for (size_t tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(p.op(kernels[2 * tile]).beta, Scalar::zero);
    const Op& sum = p.op(sums[tile]);
    EXPECT_EQ(sum.alpha, Scalar::beta);
    EXPECT_EQ(sum.beta, Scalar::one);
    EXPECT_EQ(covered(p.operands_of(sum)[0]), covered(p.result(p.op(in[tile]))));
    EXPECT_EQ(covered(p.result(sum)), covered(p.result(p.op(kernels[2 * tile]))));
    EXPECT_TRUE(waits_for(p, sums[tile], in[tile]));
    EXPECT_TRUE(waits_for(p, out[tile], sums[tile]));
    buffers.insert(p.buffer(p.operands_of(sum)[0].buffer).offset);
    if (tile >= 2) {
      EXPECT_TRUE(waits_for(p, in[tile], sums[tile - 2])) << "the buffer has to be free";
    }
  }
  EXPECT_EQ(buffers.size(), 2U);
  EXPECT_EQ(p.peak_bytes[gpu0.index()], (4 + 2) * tile_bytes);
}

TEST_F(OutputTiles, WithoutBetaNoTileIsFetched) {
  for (const char* when : {"c-tiles=eager", "c-tiles=lazy"}) {
    const Plan p = planned({when}, 0);
    EXPECT_TRUE(copies(p, host).empty());
    EXPECT_EQ(copies(p, gpu0).size(), 4U);
    EXPECT_EQ(p.peak_bytes[gpu0.index()], 4 * tile_bytes);
  }
}

TEST_F(OutputTiles, InPlaceNothingIsCopiedAndNoMemoryTaken) {
  const Plan p = planned({"c-tiles=lazy"}, 1, gpu0);
  EXPECT_TRUE(ops(p, OpKind::copy).empty());
  EXPECT_TRUE(ops(p, OpKind::axpby).empty());
  EXPECT_EQ(p.peak_bytes[gpu0.index()], 0);
  EXPECT_EQ(p.op(ops(p, OpKind::gemm)[0]).beta, Scalar::beta);
}

TEST_F(OutputTiles, MemoryOfDifferentTilesIsApart) {
  const Plan p = planned({"c-tiles=eager"});
  std::set<int64_t> offsets;
  for (const OpId kernel : ops(p, OpKind::gemm))
    offsets.insert(p.buffer(p.result(p.op(kernel)).buffer).offset);
  EXPECT_EQ(offsets, (std::set<int64_t>{0, tile_bytes, 2 * tile_bytes, 3 * tile_bytes}));
  EXPECT_EQ(p.peak_bytes[gpu0.index()], 4 * tile_bytes);
}

TEST_F(OutputTiles, WriteBacksGoInTheQueueThatThePolicyNames) {
  const Plan shared = planned({"write-backs=in-order"}),
             own = planned({"write-backs=own-queues"});
  for (const OpId op : copies(shared, gpu0))
    EXPECT_EQ(shared.queue(shared.op(op).queue).index, 0);
  for (const OpId op : copies(own, gpu0)) EXPECT_EQ(own.queue(own.op(op).queue).index, 1);
}

// A tile goes home when the next one has arrived, and the next one's kernels wait for the
// write-back; the last tile goes at the end.
TEST_F(OutputTiles, WithNextWritesATileBackAfterTheNextTileArrives) {
  const Plan p = planned({"write-backs=with-next", "c-tiles=eager"});
  const auto in = copies(p, host), kernels = ops(p, OpKind::gemm), out = copies(p, gpu0);
  ASSERT_EQ(out.size(), 4U);
  for (size_t tile = 0; tile + 1 < 4; ++tile) {
    EXPECT_TRUE(waits_for(p, out[tile], in[tile + 1]));
    EXPECT_TRUE(waits_for(p, kernels[2 * (tile + 1)], out[tile]));
  }
  EXPECT_GT(out[3], kernels.back());
}

}  // namespace
}  // namespace tilerail::testing
