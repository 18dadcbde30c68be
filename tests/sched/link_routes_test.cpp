#include "sched/transport/link_routes.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

class LinkRoutesOf : public ::testing::Test {
 protected:
  LinkRoutes::Key key(double bytes) const {
    return {machine_.gpus(), {machine_.hosts()[0]},  {machine_.hosts()[0]},
            bytes,           SharedLinks::most_hops, HopRule::added};
  }

  const Topology machine_ = test::shipped("pcie-tree-8");
  LinkRoutes routes_;
};

TEST_F(LinkRoutesOf, AKeyAreThoseOfTheLinkMapWithAllDevicesActive) {
  const LinkMap map{machine_};
  const LinkRoutes::Key all = key(1e6);
  SharedLinks direct{map,        all.devices,  all.read, all.written,
                     Bytes{1e6}, all.max_hops, all.rule};
  std::vector<size_t> active(all.devices.size());
  std::iota(active.begin(), active.end(), 0);
  direct.activate(active);
  const auto kept = routes_.of(machine_, all);
  for (const MemoryId src : all.devices) {
    for (const MemoryId dst : all.devices) {
      EXPECT_EQ(kept->per_byte(src, dst), direct.per_byte(src, dst));
      EXPECT_EQ(kept->hops(src, dst), direct.hops(src, dst));
    }
  }
}

TEST_F(LinkRoutesOf, AKeyAreComputedOnce) {
  const auto first = routes_.of(machine_, key(1e6));
  EXPECT_EQ(routes_.of(machine_, key(1e6)), first);
  EXPECT_NE(routes_.of(machine_, key(2e6)), first);
  LinkRoutes::Key other = key(1e6);
  other.rule = HopRule::bottleneck;
  EXPECT_NE(routes_.of(machine_, other), first);
  other = key(1e6);
  other.max_hops = 0;
  EXPECT_NE(routes_.of(machine_, other), first);
}

TEST_F(LinkRoutesOf, ManyKeysAreNotKept) {
  std::vector<std::weak_ptr<const SharedLinks>> all;
  for (int i = 0; i < 5000; ++i) all.push_back(routes_.of(machine_, key(1e6 + i)));
  EXPECT_TRUE(all.front().expired());
  EXPECT_FALSE(all.back().expired());
}

}  // namespace
}  // namespace tilerail::testing
