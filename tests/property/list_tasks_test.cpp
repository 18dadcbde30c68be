// Tasks that alternately read and write the same tiles, unlike any routine: every kind of
// hazard.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "plan/validate.hpp"
#include "sched/place/list_planner.hpp"
#include "tests/support/machine_places.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_interpreter.hpp"

namespace tilerail::testing {
namespace {

constexpr int64_t side = 16, across = 3;  // of a tile, in elements; of C, in tiles

/// Products of tiles of C, written to other tiles of C.
TaskGraph random_tasks(uint64_t seed) {
  std::mt19937_64 random{seed};
  TaskGraph graph;
  for (int i = 0; i < 60; ++i) {
    std::array<TileId, across * across> tiles;
    for (size_t t = 0; t < tiles.size(); ++t) tiles[t] = TileId{t};
    std::ranges::shuffle(tiles, random);
    Task task;
    task.reads = {tiles[0], tiles[1]}, task.writes = tiles[2];
    graph.insert(task);
  }
  return graph;
}

class ListedTasks : public ::testing::TestWithParam<MachinePlace> {};

TEST_P(ListedTasks, RunInAnyOrderWithoutARace) {
  const auto& [name, place] = GetParam();
  const Topology machine = shipped(name);
  GemmProblem problem = cube(side * across);
  problem.place_a = problem.place_b = problem.place_c = *machine.find_memory(place);
  const auto tiles = [&](std::span<const BufferId> tensors) {
    std::vector<TileDirectory::Tile> all;
    for (int64_t t = 0; t < across * across; ++t)
      all.push_back({{tensors[2], t / across * side, t % across * side, side, side}, {}});
    return all;
  };
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const TaskProgram program{random_tasks(seed), tiles};
    const Plan plan =
        plan_by_list(checked(problem), machine, machine.gpus(), side, program);
    validate(plan, machine);
    EXPECT_EQ(find_race(plan), "") << "tasks " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(OnTwoMachines, ListedTasks, machine_places(),
                         machine_place_name);

}  // namespace
}  // namespace tilerail::testing
