#include "sched/tasks/task_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilerail {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

constexpr TileId x{0}, y{1};

Task task(TileId reads, TileId writes) {
  Task task;
  task.reads[0] = reads, task.writes = writes;
  return task;
}

TEST(TaskGraph, AWriterWaitsForAllReadersOfTheVersionBefore) {
  TaskGraph graph;
  const TaskId first = graph.insert(task(x, y)),
               second = graph.insert(task(x, TileId{2}));
  const TaskId writer = graph.insert(task(no_tile, x));
  EXPECT_THAT(graph.successors(first), ElementsAre(writer));
  EXPECT_THAT(graph.successors(second), ElementsAre(writer));
  EXPECT_EQ(graph.predecessors(writer), 2u);
}

TEST(TaskGraph, ATaskThatReadsItsOutputDoesNotWaitForItself) {
  TaskGraph graph;
  const TaskId only = graph.insert(task(x, x));
  EXPECT_THAT(graph.successors(only), IsEmpty());
  EXPECT_EQ(graph.predecessors(only), 0u);
}

}  // namespace
}  // namespace tilerail
