// Sets of GPUs with fast connections.
#include "model/machine/islands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Set = std::vector<size_t>;

/// g0 -40- g1, g2 -40- g3, and 10 GB/s between the pairs; g4 has links to the host only.
Topology pairs() {
  using namespace small_machine;
  auto d = memories_and_switches(5, 1);
  for (const std::string gpu : {"g0", "g1", "g2", "g3", "g4"}) add_links(d, "h", gpu, 5);
  add_links(d, "g0", "g1", 40), add_links(d, "g2", "g3", 40),
      add_links(d, "g1", "g2", 10);
  return Topology{d};
}

TEST(Islands, AreJoinedByCopiesOfAMinimumRate) {
  const Topology machine = pairs();
  EXPECT_THAT(islands(machine, machine.gpus()),
              ElementsAre(Set{0, 1}, Set{0, 1, 2, 3}, Set{2, 3}));
}

TEST(Islands, OfASubsetAreNumberedWithinTheSubset) {
  const Topology machine = pairs();
  const std::vector<MemoryId>& gpus = machine.gpus();
  EXPECT_THAT(islands(machine, std::vector{gpus[4], gpus[3], gpus[2]}),
              ElementsAre(Set{1, 2}));
}

TEST(Islands, AreAbsentIfAllPairsAreEquivalent) {
  const Topology near = test::shipped("meluxina-a100"),
                 far = test::shipped("cocopelia-testbed-1");
  EXPECT_THAT(islands(near, near.gpus()), IsEmpty());
  EXPECT_THAT(islands(far, far.gpus()), IsEmpty());
}

}  // namespace
}  // namespace tilerail
