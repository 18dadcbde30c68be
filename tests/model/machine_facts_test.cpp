// Nearest hosts and bisection of machines with figures that can be added by hand.
#include "model/machine/machine_facts.hpp"

#include <gtest/gtest.h>

#include "model/machine/settings/machine_settings.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using test::shipped;

/// All GPUs copy simultaneously over four uplinks of 24 GB/s (36 in both directions
/// together) from a host with 40 for each root: two GPUs share an uplink, four a root.
TEST(MachineFacts, GpusOfATreeShareUplinksAndRoots) {
  const auto all = nearest_hosts(shipped("pcie-tree-8"));
  ASSERT_EQ(all.size(), 8U);
  for (const NearestHost& each : all) {
    EXPECT_EQ(each.in_alone, Rate{24e9});
    EXPECT_NEAR(each.in_both.value, 18e9, 1);  // half of 36
    EXPECT_NEAR(each.in_all.value, 10e9, 1);   // 40 / 4
    EXPECT_NEAR(each.out_all.value, 10e9, 1);
    EXPECT_NEAR(each.in_all_both.value, 9e9, 1);  // 36 / 4
  }
}

TEST(MachineFacts, EachGpuOfASocketHasItsOwnHost) {
  const Topology machine = shipped("summit-node");
  const auto all = nearest_hosts(machine);
  ASSERT_EQ(all.size(), 6U);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(machine.memory(all[i].host).name, i < 3 ? "host0" : "host1");
}

/// One bridge of 18 GB/s per direction between the two halves.
TEST(MachineFacts, TheBridgeIsTheBisectionOfATree) {
  const auto cut = bisection(shipped("pcie-tree-8"));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->pairs, 4U);
  EXPECT_NEAR(cut->forward.value, 18e9, 1);
  EXPECT_NEAR(cut->backward.value, 18e9, 1);
}

TEST(MachineFacts, OneGpuHasNoBisection) {
  const std::vector<std::string> one{"gpus=1"};
  EXPECT_FALSE(bisection(with_settings(shipped("two-gpu"), one)));
  EXPECT_EQ(bisection(shipped("two-gpu"))->pairs, 1U);
}

TEST(MachineFacts, HostsAreNotSearchedAmongTooManyPairs) {
  auto d = small_machine::memories_and_switches(1025, 1);
  for (int host = 0; host < 1024; ++host)
    small_machine::add_host(d, "far" + std::to_string(host));
  for (const Vertex& vertex : std::vector<Vertex>{d.vertices})
    if (vertex.kind != VertexKind::network_switch)
      small_machine::add_links(d, vertex.name, "s0", 10);
  EXPECT_TRUE(nearest_hosts(Topology{d}).empty());
}

/// Two GPUs and a host over a switch; `joined` adds links between the GPUs.
template <class Joined>
bool own_links(const Joined& joined) {
  auto d = small_machine::memories_and_switches(2, 1);
  for (const char* end : {"h", "g0", "g1"}) small_machine::add_links(d, end, "s0", 10);
  joined(d);
  return gpus_have_own_links(Topology{d});
}

TEST(MachineFacts, GpusHaveOwnLinksIfBothDirectionsDo) {
  EXPECT_FALSE(own_links([](auto&) {}));
  EXPECT_FALSE(own_links([](auto& d) { small_machine::add_link(d, "g0", "g1", 50); }));
  EXPECT_FALSE(own_links([](auto& d) { small_machine::add_link(d, "g1", "g0", 50); }));
  EXPECT_TRUE(own_links([](auto& d) { small_machine::add_links(d, "g0", "g1", 50); }));
}

TEST(MachineFacts, GpusWithoutARouteHaveNoOwnLinks) {
  auto d = small_machine::memories_and_switches(2, 0);
  for (const char* gpu : {"g0", "g1"}) small_machine::add_links(d, "h", gpu, 10);
  EXPECT_FALSE(gpus_have_own_links(Topology{d}));
}

}  // namespace
}  // namespace tilerail
