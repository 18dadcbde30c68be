#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sched/route/broadcast.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

/// two-gpu: 10 GB/s after 10 us from the host to a GPU, 12 GB/s shared by both, 40 GB/s
/// after 5 us between the GPUs.
class TwoGpu : public ::testing::Test {
 protected:
  Topology machine = shipped("two-gpu");
  Resources resources{machine};
  Clock pairs{resources, machine, {}}, links{resources, machine, {.per_link = true}};

  double send(Clock& clock, MemoryId src, MemoryId dst, double size) {
    const Bytes bytes{size};
    const auto arrival = clock.estimate(clock.hop(src, dst), bytes, 1, {});
    clock.commit(clock.hop(src, dst), bytes, arrival);
    return arrival.last.value;
  }
};

TEST_F(TwoGpu, TwoTilesOnOnePairArriveOneTransferApart) {
  EXPECT_NEAR(send(pairs, host, gpu0, 10e6), 1e-3 + 10e-6, 1e-12);
  EXPECT_NEAR(send(pairs, host, gpu0, 10e6), 2e-3 + 20e-6, 1e-12);
}

TEST_F(TwoGpu, PairRatesIgnoreASharedUplinkAndLinkRatesDoNot) {
  send(pairs, host, gpu0, 12e6);
  EXPECT_NEAR(send(pairs, host, gpu1, 12e6), 1.2e-3 + 10e-6, 1e-12);  // alone on its pair
  send(links, host, gpu0, 12e6);
  EXPECT_NEAR(send(links, host, gpu1, 12e6), 2e-3, 1e-12);  // 24 MB over 12 GB/s
}

TEST_F(TwoGpu, PiecesAreForwardedOnArrival) {
  // 8 pieces of 1 MB: each takes 10 us + 0.1 ms to gpu0 and 5 us + 25 us on to gpu1.
  const auto first_hop = pairs.estimate(pairs.hop(host, gpu0), Bytes{8e6}, 8, {});
  EXPECT_NEAR(first_hop.first.value, 110e-6, 1e-12);
  EXPECT_NEAR(first_hop.last.value, 8 * 110e-6, 1e-12);
  const auto second_hop = pairs.estimate(pairs.hop(gpu0, gpu1), Bytes{8e6}, 8, first_hop);
  EXPECT_NEAR(second_hop.last.value, 8 * 110e-6 + 30e-6,
              1e-12);  // the last piece, one short hop later
}

TEST_F(TwoGpu, ChainTakesThePeerLinkInsteadOfTheUplinkTwice) {
  const std::vector<Holder> home{{host, {}}};
  const std::vector<MemoryId> both{gpu0, gpu1};
  const auto chain = find_chain(pairs, home, both, Bytes{8e6}, 8);
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->source, host);
  EXPECT_EQ(chain->hops,
            (std::vector<MemoryId>{
                gpu0, gpu1}));  // both orders cost the same: the lower id first
}

TEST_F(TwoGpu, ChainStartsAtTheFreeLink) {
  send(pairs, host, gpu0, 50e6);
  const std::vector<Holder> home{{host, {}}};
  const std::vector<MemoryId> both{gpu0, gpu1};
  const auto chain = find_chain(pairs, home, both, Bytes{8e6}, 8);
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->hops, (std::vector<MemoryId>{gpu1, gpu0}));
}

TEST_F(TwoGpu, SearchLeavesTheClockUnchanged) {
  const std::vector<Holder> home{{host, {}}};
  const std::vector<MemoryId> both{gpu0, gpu1};
  EXPECT_TRUE(find_chain(links, home, both, Bytes{8e6}, 8));
  EXPECT_NEAR(links.estimate(links.hop(host, gpu0), Bytes{10e6}, 1, {}).last.value,
              1e-3 + 10e-6, 1e-12);
}

double last_arrival(const Chain& chain) {
  double last = 0;
  for (const auto& arrival : chain.arrivals) last = std::max(last, arrival.last.value);
  return last;
}

/// Tries every order without pruning, as a reference for the exhaustive search.
double best_of_all_orders(Clock clock, const Holder& home, std::vector<MemoryId> order,
                          Bytes bytes, int chunks) {
  std::sort(order.begin(), order.end());
  double best = 1e300;
  do {
    Clock trial = clock;
    Holder at = home;
    double last = 0;
    for (const MemoryId next : order) {
      const auto arrival =
          trial.estimate(trial.hop(at.memory, next), bytes, chunks, at.available);
      trial.commit(trial.hop(at.memory, next), bytes, arrival);
      at = {next, arrival};
      last = std::max(last, arrival.last.value);
    }
    best = std::min(best, last);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Broadcast, ExhaustiveSearchFindsTheBestOfAllOrders) {
  const Topology machine = shipped("clx-ai");
  const Resources resources{machine};
  std::mt19937_64 random{7};
  for (int round = 0; round < 20; ++round) {
    Clock clock{resources, machine, {.per_link = round % 2 == 0}};
    std::vector<MemoryId> gpus = machine.gpus();
    for (int i = 0; i < 30; ++i) {  // some load
      const MemoryId src = gpus[random() % 8], dst = gpus[random() % 8];
      const Bytes bytes{double(random() % 50) * 1e6};
      if (src != dst)
        clock.commit(clock.hop(src, dst), bytes,
                     clock.estimate(clock.hop(src, dst), bytes, 1, {}));
    }
    std::shuffle(gpus.begin(), gpus.end(), random);
    gpus.resize(2 + random() % 4);
    const Holder home{machine.hosts()[0], {}};
    ASSERT_LE(gpus.size(), exhaustive_hops);
    const auto chain = find_chain(clock, std::vector{home}, gpus, Bytes{32e6}, 8);
    ASSERT_TRUE(chain);
    EXPECT_NEAR(last_arrival(*chain),
                best_of_all_orders(clock, home, gpus, Bytes{32e6}, 8), 1e-12);
  }
}

TEST(Broadcast, BeamSearchIsWithinATenthOfTheBestForSixAndSevenHops) {
  const Topology machine = shipped("clx-ai");
  const Resources resources{machine};
  std::mt19937_64 random{11};
  for (int round = 0; round < 10; ++round) {
    Clock clock{resources, machine, {}};
    std::vector<MemoryId> gpus = machine.gpus();
    for (int i = 0; i < 40; ++i) {
      const MemoryId src = gpus[random() % 8], dst = gpus[random() % 8];
      const Bytes bytes{double(random() % 50) * 1e6};
      if (src != dst)
        clock.commit(clock.hop(src, dst), bytes,
                     clock.estimate(clock.hop(src, dst), bytes, 1, {}));
    }
    gpus.resize(6 + random() % 2);
    ASSERT_GT(gpus.size(), exhaustive_hops);
    const Holder home{machine.hosts()[0], {}};
    const auto chain = find_chain(clock, std::vector{home}, gpus, Bytes{32e6}, 8);
    ASSERT_TRUE(chain);
    const double exact = best_of_all_orders(clock, home, gpus, Bytes{32e6}, 8);
    EXPECT_GE(last_arrival(*chain), exact - 1e-12);
    EXPECT_LE(last_arrival(*chain), 1.1 * exact);
  }
}

TEST(Broadcast, SixtyThreeDestinationsAreAllReached) {
  auto d = small_machine::unlinked("host", "gpu", 63, {"star"});
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1, 1}})};
  for (const Memory& memory : d.memories)
    small_machine::add_links(d, memory.name, "star", 10, 1);
  const Topology machine{d};
  const Resources resources{machine};
  Clock clock{resources, machine, {.per_link = true}};
  auto chain = find_chain(clock, std::vector<Holder>{{MemoryId{0}, {}}}, machine.gpus(),
                          Bytes{8e6}, 8);
  ASSERT_TRUE(chain);
  std::sort(chain->hops.begin(), chain->hops.end());
  EXPECT_EQ(chain->hops, machine.gpus());
}

}  // namespace
}  // namespace tilerail::testing
