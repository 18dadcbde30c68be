#include "sched/search.hpp"

#include <gtest/gtest.h>

#include "machines.hpp"

namespace tilerail::testing {
namespace {

using Sets = std::vector<std::vector<MemoryId>>;

std::vector<MemoryId> ids(std::initializer_list<int> values) {
  std::vector<MemoryId> all;
  for (const int value : values) all.push_back(MemoryId{value});
  return all;
}

GemmProblem placed(int a, int b, int c) {
  GemmProblem problem = cube(64);
  problem.place_a = MemoryId{a}, problem.place_b = MemoryId{b}, problem.place_c = MemoryId{c};
  return problem;
}

TEST(DeviceSubsets, TakeTheFirstAndEvenlySpacedOnes) {
  const auto all = ids({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(device_subsets(placed(0, 0, 0), all, 4), (Sets{ids({1, 2, 3, 4}), ids({1, 3, 5, 7})}));
  EXPECT_EQ(device_subsets(placed(0, 0, 0), all, 1), Sets{ids({1})});
  EXPECT_EQ(device_subsets(placed(0, 0, 0), all, 8), Sets{all});
}

TEST(DeviceSubsets, KeepTheGpusWhereMatricesAre) {
  const auto all = ids({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(device_subsets(placed(6, 0, 6), all, 3), (Sets{ids({1, 2, 6}), ids({1, 3, 6})}));
  EXPECT_EQ(device_subsets(placed(2, 4, 6), all, 3), Sets{ids({2, 4, 6})});
}

TEST(DeviceSubsets, PreferTheHomeOfCWhenNotAllHomesFit) {
  const auto all = ids({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(device_subsets(placed(2, 4, 6), all, 1), Sets{ids({6})});
  EXPECT_EQ(device_subsets(placed(2, 4, 6), all, 2), Sets{ids({2, 6})});
}

TEST(DeviceSubsets, LeaveOutHomesThatAreNotAmongTheDevices) {
  EXPECT_EQ(device_subsets(placed(7, 7, 7), ids({1, 2}), 1), Sets{ids({1})});
}

}  // namespace
}  // namespace tilerail::testing
