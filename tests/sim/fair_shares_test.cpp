// Incrementally updated rates equal recomputed rates.
#include "model/machine/fair_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/concurrent_rates.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

/// Routes between all memories, with the caps of single copies.
std::vector<FlowRoute> every_route(const Topology& machine) {
  std::vector<FlowRoute> routes;
  for (int src = 0; src < int(machine.memories().size()); ++src)
    for (int dst = 0; dst < int(machine.memories().size()); ++dst) {
      if (src == dst || !machine.has_route(MemoryId{src}, MemoryId{dst})) continue;
      FlowRoute route{MemoryId{src}, MemoryId{dst}, {}};
      for (const LinkId link : machine.route(route.src, route.dst))
        if (const auto cap = machine.link(link).per_flow)
          route.cap = std::min(*cap, route.cap.value_or(*cap));
      routes.push_back(route);
    }
  return routes;
}

class FairSharesOn : public ::testing::TestWithParam<std::string> {};

TEST_P(FairSharesOn, EqualRatesOfConcurrentFlows) {
  const Topology machine = test::shipped(GetParam());
  const std::vector<FlowRoute> routes = every_route(machine);
  FairShares shares{machine, routes};
  std::vector<std::pair<FairShares::Flow, size_t>> running;
  std::mt19937 random{7};
  for (int step = 0; step < 200; ++step) {
    if (running.empty() || random() % 5 < 3) {
      const size_t route = random() % routes.size();
      running.emplace_back(shares.add(route), route);
    } else {
      const size_t gone = random() % running.size();
      shares.remove(running[gone].first);
      running.erase(running.begin() + ptrdiff_t(gone));
    }
    shares.update();
    std::vector<std::pair<MemoryId, MemoryId>> flows;
    for (const auto& [flow, route] : running)
      flows.emplace_back(routes[route].src, routes[route].dst);
    const std::vector<Rate> expected = concurrent_rates(machine, flows);
    for (size_t i = 0; i < running.size(); ++i) {
      ASSERT_NEAR(shares.rate(running[i].first), expected[i].value,
                  1e-9 * expected[i].value)
          << "step " << step << ", flow " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, FairSharesOn, ::testing::ValuesIn(test::shipped_names()),
                         [](const auto& at) {
                           std::string name = at.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(FairShares, GiveTheRestOfACappedFlowToTheOther) {
  const Topology machine = test::shipped("two-gpu");
  const MemoryId host = machine.hosts()[0], gpu = machine.gpus()[0];
  const double alone = machine.pair_rate(host, gpu).value;
  const std::vector<FlowRoute> routes{{host, gpu, {}}, {host, gpu, Rate{alone / 5}}};
  FairShares shares{machine, routes};
  const auto fast = shares.add(0), capped = shares.add(1);
  shares.update();
  EXPECT_NEAR(shares.rate(capped), 0.2 * alone, 1);
  EXPECT_NEAR(shares.rate(fast), 0.8 * alone, 1);
  shares.remove(fast);
  shares.update();
  EXPECT_NEAR(shares.rate(capped), 0.2 * alone, 1);
}

}  // namespace
}  // namespace tilerail
