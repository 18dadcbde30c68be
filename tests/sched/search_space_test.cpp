// Sets of GPUs of a search with simulation.
#include "sched/choose/search_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/emulation/presets.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::SizeIs;

/// On pcie-tree-8, where GPUs 0 to 3 and GPUs 4 to 7 are close to each other.
class CandidateSets : public ::testing::Test {
 protected:
  DeviceSets sets(int a, int b, int c,
                  const std::vector<std::string>& overrides = {}) const {
    GemmProblem problem = cube(4096);
    problem.place_a = gpus({a})[0], problem.place_b = gpus({b})[0],
    problem.place_c = gpus({c})[0];
    Policy policy = any_preset("tilerail");
    for (const std::string& each : overrides) apply_override(policy, each);
    return sets_for(Question{
        problem, problem, machine_, resources_, machine_.gpus(), policy, {}, true});
  }
  std::vector<MemoryId> gpus(std::initializer_list<int> numbers) const {
    std::vector<MemoryId> all;
    for (const int number : numbers) all.push_back(machine_.gpus()[size_t(number)]);
    return all;
  }

  Topology machine_ = test::shipped("pcie-tree-8");
  Resources resources_{machine_};
};

TEST_F(CandidateSets, IncludeTheIslandWithTheMostMatrices) {
  EXPECT_EQ(sets(0, 5, 6).front(), machine_.gpus());
  EXPECT_THAT(sets(0, 5, 6), Contains(gpus({4, 5, 6, 7})));
  EXPECT_THAT(sets(0, 1, 6), Contains(gpus({0, 1, 2, 3})));
  EXPECT_THAT(sets(0, 1, 6), Not(Contains(gpus({4, 5, 6, 7}))));
}

TEST_F(CandidateSets, LeaveOutGpusWithLittleMemory) {
  Topology::Description unequal = machine_.description();
  for (const MemoryId gpu : gpus({1, 6}))
    unequal.memories[gpu.index()].capacity = Bytes{1e9};
  machine_ = Topology{unequal};
  EXPECT_THAT(sets(0, 5, 7), Contains(gpus({0, 2, 3, 4, 5, 7})));
}

TEST_F(CandidateSets, AreListedOnce) {
  EXPECT_THAT(sets(0, 1, 2),
              Contains(gpus({0, 1, 2, 3})).Times(1));  // the first half is an island
}

TEST_F(CandidateSets, ContainOnlyAllGpusIfThePolicyRequiresAll) {
  EXPECT_THAT(sets(0, 5, 6, {"devices=all"}), SizeIs(1));
}

}  // namespace
}  // namespace tilerail::testing
