// The order of sub-problems over all tiles of C (thesis 4.2.7).
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "sched/emulation/presets.hpp"
#include "sched/gemm/owners_by_arrival.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

/// The GEMMs of a plan in its order: every tile is fetched once, so its buffer identifies
/// it.
struct SubProblemIn {
  int64_t i, j, k;
  friend bool operator==(const SubProblemIn&, const SubProblemIn&) = default;
};

std::vector<SubProblemIn> order_of(const Plan& plan, int64_t tile) {
  std::map<BufferId, View> home;
  std::vector<SubProblemIn> order;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy && !home.contains(plan.result(op).buffer))
      home.emplace(plan.result(op).buffer, plan.operands_of(op)[0]);
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::gemm) continue;
    const View a = home.at(plan.operands_of(op)[0].buffer),
               b = home.at(plan.operands_of(op)[1].buffer);
    order.push_back({a.row / tile, b.col / tile, a.col / tile});
    EXPECT_EQ(a.col, b.row);
  }
  return order;
}

Plan planned(const std::string& order, int64_t n, int64_t k,
             const char* c_tiles = "c-tiles=lazy") {
  const Topology topology = shipped("two-gpu");
  Policy policy = any_preset("gemmex");
  apply_override(policy, "order=" + order);
  apply_override(policy, "tile=256");
  apply_override(policy, c_tiles);
  GemmProblem p;
  p.m = p.n = n, p.k = k;
  return plan_gemm(p, topology, {topology.gpus().data(), 1}, policy);
}

TEST(OwnersByArrival, PrefersPresentInputsOfAnyTileOfC) {
  // One pair brings A00, B00; then, of sub-problems missing one tile, the lowest is
  // taken: B01 for (0, 1, 0). With one tile of C after another, A01 and B10 for (0, 0, 1)
  // come first.
  const std::vector<SubProblemIn> all = order_of(planned("eta-all", 512, 512), 256);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[0], (SubProblemIn{0, 0, 0}));
  EXPECT_EQ(all[1], (SubProblemIn{0, 1, 0}));
  EXPECT_EQ(order_of(planned("eta", 512, 512), 256)[1], (SubProblemIn{0, 0, 1}));
}

TEST(OwnersByArrival, ATileOfCThatHasToComeCountsAsAnInput) {
  // (0, 1, 0) would miss B01 and C01, so the lowest is taken: (0, 0, 1), which misses A01
  // and B10.
  const std::vector<SubProblemIn> all =
      order_of(planned("eta-all", 512, 512, "c-tiles=eager"), 256);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all[1], (SubProblemIn{0, 0, 1}));
}

TEST(OwnersByArrival, GivesEverySubProblemOnceFromTheFirstToTheLastK) {
  const std::vector<SubProblemIn> all = order_of(planned("eta-all", 1024, 1280), 256);
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> ks;
  for (const auto& [i, j, k] : all) ks[{i, j}].push_back(k);
  ASSERT_EQ(ks.size(), 16U);
  for (const auto& [tile, order] : ks) {
    EXPECT_EQ(order.front(), 0);
    EXPECT_EQ(order.back(), 4);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 5U);
    EXPECT_EQ(order.size(), 5U);
  }
}

TEST(OwnersByArrival, ASingleKIsTheFirstAndTheLast) {
  EXPECT_EQ(order_of(planned("eta-all", 512, 256), 256).size(), 4U);
  EXPECT_EQ(order_of(planned("eta-all", 512, 100), 256).size(), 4U);
}

}  // namespace
}  // namespace tilerail::testing
