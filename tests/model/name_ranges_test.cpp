// Ranges of names and pairings of short machine files.
#include <gtest/gtest.h>

#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

using small_machine::link_names_of;

const std::string kernel_text = R"(
[sources]
s = { kind = "assumed", text = "made up" }
[kernels.k]
launch = "5 us"
multiprocessors = 80
block = [128, 128]
k_overhead = 64
source = "s"
[[kernels.k.gemm]]
dtype = "f64"
rates = [[1024, "5 TFLOP/s"]]
source = "s"
)";

const std::string head = "schema = 1\nname = \"short\"\n";
const std::string host = "[[memory]]\nname = \"host\"\nkind = \"host\"\nsource = \"s\"\n";
const std::string gpus =
    "[[memory]]\nnames = \"gpu[0-3]\"\nkind = \"gpu\"\ndevice = 0\nkernels = "
    "\"k\"\nsource = \"s\"\n";
const std::string switches = "[[switch]]\nnames = \"plx[0-1]\"\nsource = \"s\"\n";

std::string link_text(const std::string& from, const std::string& to,
                      const std::string& more = "") {
  return "[[link]]\nfrom = " + from + "\nto = " + to + "\n" + more +
         "bandwidth = \"10 GB/s\"\nlatency = \"1 us\"\nboth = true\nsource = \"s\"\n";
}

const std::string plx =
    link_text("\"host\"", "\"plx[0-1]\"") +
    link_text("\"plx[0-1]\"", "\"gpu[0-3]\"", "pairing = \"blocks\"\n");
const std::string four = head + kernel_text + host + gpus + switches + plx;

/// Every other link of `text`: the directions named in the file.
std::vector<std::string> forward_links(const std::string& text) {
  std::vector<std::string> names;
  const auto all = link_names_of(read_topology(text, "m"));
  for (size_t i = 0; i < all.size(); i += 2) names.push_back(all[i]);
  return names;
}

using Names = std::vector<std::string>;

TEST(NameRanges, RangesCountNamesAndDevices) {
  const Topology machine = read_topology(four, "m");
  ASSERT_EQ(machine.gpus().size(), 4U);
  for (int i = 0; i < 4; ++i) {
    const Memory& gpu = machine.memory(machine.gpus()[size_t(i)]);
    EXPECT_EQ(gpu.name, "gpu" + std::to_string(i));
    EXPECT_EQ(gpu.processor->device, i);
  }
}

TEST(NameRanges, BlockRangesJoinNeighboursAndCyclicRangesDealInTurn) {
  EXPECT_EQ(forward_links(four), (Names{"host->plx0", "host->plx1", "plx0->gpu0",
                                        "plx0->gpu1", "plx1->gpu2", "plx1->gpu3"}));
  std::string cyclic = four;
  cyclic.replace(cyclic.find("blocks"), 6, "cyclic");
  EXPECT_EQ(forward_links(cyclic), (Names{"host->plx0", "host->plx1", "plx0->gpu0",
                                          "plx1->gpu1", "plx0->gpu2", "plx1->gpu3"}));
}

TEST(NameRanges, ZipJoinsTheFirstWithTheFirst) {
  const std::string text =
      four + link_text("[\"gpu[0-1]\"]", "[\"gpu3\", \"gpu2\"]", "pairing = \"zip\"\n");
  const auto links = forward_links(text);
  EXPECT_EQ(Names(links.end() - 2, links.end()), (Names{"gpu0->gpu3", "gpu1->gpu2"}));
}

TEST(NameRanges, GroupsOfARangeTakeTheirPartOfTheLinks) {
  const Topology machine = read_topology(
      four +
          "[[group]]\nnames = \"pair [0-1]\"\nforward = [\"host->plx[0-1]\", "
          "\"plx*->gpu[0-3]\"]\ncapacity = \"9 GB/s\"\nsource = \"s\"\n",
      "m");
  ASSERT_EQ(machine.groups().size(), 2U);
  EXPECT_EQ(machine.groups()[1].name, "pair 1");
  Names links;
  for (const LinkId id : machine.groups()[1].forward)
    links.push_back(machine.link(id).name);
  EXPECT_EQ(links, (Names{"host->plx1", "plx1->gpu2", "plx1->gpu3"}));
}

TEST(NameRanges, RoutesAndGroupsOfARangeCanShareALink) {
  const Topology machine =
      read_topology(four +
                        "[[route]]\nfrom = \"host\"\nto = \"gpu[2-3]\"\nlinks = "
                        "[\"host->plx1\", \"plx1->gpu[2-3]\"]\n"
                        "source = \"s\"\n[[group]]\nnames = \"shared[0-1]\"\n"
                        "forward = [\"host->plx1\", \"plx1->gpu[2-3]\"]\ncapacity = \"1 "
                        "GB/s\"\nsource = \"s\"\n",
                    "m");
  const auto names = [&](const std::vector<LinkId>& links) {
    Names all;
    for (const LinkId id : links) all.push_back(machine.link(id).name);
    return all;
  };
  const auto& d = machine.description();
  ASSERT_EQ(d.routes.size(), 2U);
  EXPECT_EQ(names(d.routes[0].links), (Names{"host->plx1", "plx1->gpu2"}));
  EXPECT_EQ(names(d.routes[1].links), (Names{"host->plx1", "plx1->gpu3"}));
  EXPECT_EQ(names(d.groups.back().forward), (Names{"host->plx1", "plx1->gpu3"}));
}

TEST(NameRanges, RoutesOfARangeGoSideBySide) {
  const Topology machine =
      read_topology(four +
                        "[[route]]\nfrom = \"host\"\nto = \"gpu[2-3]\"\nlinks = "
                        "[\"host->plx[1,1]\", \"plx1->gpu[2-3]\"]\n"
                        "source = \"s\"\n",
                    "m");
  ASSERT_EQ(machine.description().routes.size(), 2U);
  EXPECT_EQ(machine.link(machine.description().routes[1].links[1]).name, "plx1->gpu3");
}

TEST(NameRanges, TheFlatFileIsTheSameMachine) {
  const Topology machine = read_topology(four, "m");
  const std::string flat = to_toml(machine.description());
  EXPECT_EQ(flat.find("[0-"), std::string::npos);
  const Topology again = read_topology(flat, "flat");
  EXPECT_EQ(to_toml(again.description()), flat);
  EXPECT_EQ(link_names_of(again), link_names_of(machine));
}

struct Broken {
  std::string from, to;
  std::vector<std::string> words;
};

TEST(NameRanges, MismatchedRangesAreRefused) {
  const std::vector<Broken> cases{
      {"gpu[0-3]\"\nkind",
       "gpu[3-0]\"\nkind",
       {"names: 'gpu[3-0]' has the bracket '3-0'", "[0-7]"}},
      {"gpu[0-3]\"\nkind",
       "gpu[0-99999]\"\nkind",
       {"too many names; expected at most 16384"}},
      {"names = \"plx",
       "name = \"x\"\nnames = \"plx",
       {"names: 'plx[0-1]' stands next to 'name'"}},
      {"names = \"plx[0-1]\"", "names = []", {"names: is empty"}},
      {"names = \"plx[0-1]\"",
       "names = \"plx[0,0]\"",
       {"'plx0' is the name of another memory or switch"}},
      {"\"blocks\"",
       "\"zip\"",
       {"pairing: 'zip' joins 2 memories or switches with 4; expected as many on both "
        "sides"}},
      {"\"blocks\"",
       "\"rows\"",
       {"pairing: 'rows' is unknown; expected all, zip, blocks or cyclic"}},
      {"\"plx[0-1]\"\nbandwidth",
       "\"plx[0-2]\"\nbandwidth",
       {"to: 'plx[0-2]' 'plx2' is not a memory or switch"}}};
  for (const Broken& each : cases) {
    std::string text = four;
    ASSERT_NE(text.find(each.from), std::string::npos) << each.from;
    text.replace(text.find(each.from), each.from.size(), each.to);
    expect_input_error([&] { read_topology(text, "m"); }, each.words);
  }
}

/// Two nodes of two GPUs each: a name can have several ranges, and a pattern matches
/// existing links.
TEST(NameRanges, DescribeAClusterOfNodes) {
  const std::string nodes =
      "[[memory]]\nnames = \"n[0-1].host\"\nkind = \"host\"\nsource = \"s\"\n"
      "[[memory]]\nnames = \"n[0-1].gpu[0-1]\"\nkind = \"gpu\"\ndevice = 0\nkernels = "
      "\"k\"\nsource = \"s\"\n"
      "[[switch]]\nname = \"fabric\"\nsource = \"s\"\n";
  const std::string group =
      "[[group]]\nnames = \"memory of n[0-1]\"\nforward = [\"n[0-1].host->*\"]\n"
      "capacity = \"15 GB/s\"\nsource = \"s\"\n";
  const std::string links =
      link_text("\"n[0-1].host\"", "\"n[0-1].gpu[0-1]\"", "pairing = \"blocks\"\n") +
      link_text("\"n[0-1].host\"", "\"fabric\"");
  const Topology machine = read_topology(head + kernel_text + nodes + links + group, "m");
  ASSERT_EQ(machine.gpus().size(), 4U);
  EXPECT_EQ(machine.memory(machine.gpus()[2]).name, "n1.gpu0");
  EXPECT_TRUE(machine.has_route(machine.hosts()[0], machine.hosts()[1]));
  ASSERT_EQ(machine.groups().size(), 2U);
  Names second;
  for (const LinkId id : machine.groups()[1].forward)
    second.push_back(machine.link(id).name);
  EXPECT_EQ(second, (Names{"n1.host->n1.gpu0", "n1.host->n1.gpu1", "n1.host->fabric"}));
  expect_input_error(
      [&] {
        read_topology(head + kernel_text + nodes + links +
                          "[[group]]\nname = \"g\"\nforward = "
                          "[\"ghost->*\"]\ncapacity = \"1 GB/s\"\nsource = \"s\"\n",
                      "m");
      },
      {"group 'g'", "'ghost->*' matches no link"});
}

}  // namespace
}  // namespace tilerail
