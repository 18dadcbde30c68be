#include <gtest/gtest.h>

#include <set>

#include "plan/validate.hpp"
#include "sched/place/list_planner.hpp"
#include "tests/support/gemm_graph.hpp"
#include "tests/support/machine_places.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_interpreter.hpp"

namespace tilerail::testing {
namespace {

/// The tasks of GEMM's generator, planned by a chooser for other tasks.
Plan listed(const GemmProblem& p, const Topology& machine, int64_t tile) {
  const Tiling tiling{{{0, p.m}, {0, p.n}, {0, p.k}}, {1, 1}, tile};
  const GemmTasks tasks{p, tiling};
  TaskProgram program{
      gemm_graph(tasks, tiling, scalar_of(p.beta, Scalar::beta)),
      [&](std::span<const BufferId> tensors) {
        auto tiles = tasks.input_tiles(tensors[0], tensors[1]);
        for (size_t c = 0; c < tiling.m.size() * tiling.n.size(); ++c)
          tiles.push_back({tasks.home_of_c(TileId{tasks.inputs() + c}, tensors[2]), {}});
        return tiles;
      }};
  return plan_by_list(p, machine, machine.gpus(), tile, program);
}

GemmProblem problem_at(MemoryId c, MemoryId inputs, double beta, Trans trans_a) {
  GemmProblem p;
  p.m = 50, p.n = 70, p.k = 40;
  p.alpha = 2, p.beta = beta, p.trans_a = trans_a;
  p.place_a = p.place_b = inputs, p.place_c = c;
  return checked(p);
}

class ListedGemm : public ::testing::TestWithParam<MachinePlace> {};

TEST_P(ListedGemm, RunsInAnyOrderWithoutARaceAndIsTheProduct) {
  const auto& [name, place] = GetParam();
  const Topology machine = shipped(name);
  const MemoryId home = *machine.find_memory(place), host = machine.hosts()[0];
  for (const double beta : {0.0, 1.0, -3.0})
    for (const Trans trans : {Trans::no, Trans::yes}) {
      const GemmProblem p = problem_at(home, host, beta, trans);
      const Plan plan = listed(p, machine, 16);
      validate(plan, machine);
      EXPECT_EQ(find_race(plan), "");
      const Matrices matrices = integer_matrices(p, 5);
      for (const uint64_t seed : {0, 1, 2, 3})
        EXPECT_EQ(interpret(plan, matrices, seed), reference(p, matrices));
    }
}

TEST_P(ListedGemm, IsSharedOut) {
  const auto& [name, place] = GetParam();
  const Topology machine = shipped(name);
  GemmProblem p;
  p.m = p.n = p.k = 4096;
  p.place_a = p.place_b = p.place_c = *machine.find_memory(place);
  const Plan plan = listed(checked(p), machine, 512);
  std::set<MemoryId> working;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::gemm) working.insert(plan.queue(op.queue).dst);
  EXPECT_GT(working.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(OnTwoMachines, ListedGemm, machine_places(), machine_place_name);

}  // namespace
}  // namespace tilerail::testing
