// Ranges of names, pairings, includes and templates: what a short file stands for.
#include <gtest/gtest.h>

#include <map>

#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

const std::string kernels = R"(
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
    "[[memory]]\nnames = \"gpu[0-3]\"\nkind = \"gpu\"\ndevice = 0\nkernels = \"k\"\nsource = \"s\"\n";
const std::string switches = "[[switch]]\nnames = \"plx[0-1]\"\nsource = \"s\"\n";

std::string link(const std::string& from, const std::string& to, const std::string& more = "") {
  return "[[link]]\nfrom = " + from + "\nto = " + to + "\n" + more +
         "bandwidth = \"10 GB/s\"\nlatency = \"1 us\"\nboth = true\nsource = \"s\"\n";
}

const std::string plx =
    link("\"host\"", "\"plx[0-1]\"") + link("\"plx[0-1]\"", "\"gpu[0-3]\"", "pairing = \"blocks\"\n");
const std::string four = head + kernels + host + gpus + switches + plx;

std::vector<std::string> link_names_of(const Topology& machine) {
  std::vector<std::string> names;
  for (const Link& each : machine.links()) names.push_back(each.name);
  return names;
}

/// Every other link of `text`, those in the direction that the file names.
std::vector<std::string> forward_links(const std::string& text) {
  std::vector<std::string> names;
  const auto all = link_names_of(read_topology(text, "m"));
  for (size_t i = 0; i < all.size(); i += 2) names.push_back(all[i]);
  return names;
}

using Names = std::vector<std::string>;

TEST(Templates, RangesCountNamesAndDevices) {
  const Topology machine = read_topology(four, "m");
  ASSERT_EQ(machine.gpus().size(), 4U);
  for (int i = 0; i < 4; ++i) {
    const Memory& gpu = machine.memory(machine.gpus()[size_t(i)]);
    EXPECT_EQ(gpu.name, "gpu" + std::to_string(i));
    EXPECT_EQ(gpu.device, i);
  }
}

TEST(Templates, BlocksJoinNeighboursAndCyclicDealsThemOut) {
  EXPECT_EQ(forward_links(four),
            (Names{"host->plx0", "host->plx1", "plx0->gpu0", "plx0->gpu1", "plx1->gpu2", "plx1->gpu3"}));
  std::string cyclic = four;
  cyclic.replace(cyclic.find("blocks"), 6, "cyclic");
  EXPECT_EQ(forward_links(cyclic),
            (Names{"host->plx0", "host->plx1", "plx0->gpu0", "plx1->gpu1", "plx0->gpu2", "plx1->gpu3"}));
}

TEST(Templates, ZipJoinsTheFirstWithTheFirst) {
  const std::string text = four + link("[\"gpu[0-1]\"]", "[\"gpu3\", \"gpu2\"]", "pairing = \"zip\"\n");
  const auto links = forward_links(text);
  EXPECT_EQ(Names(links.end() - 2, links.end()), (Names{"gpu0->gpu3", "gpu1->gpu2"}));
}

TEST(Templates, GroupsOfARangeTakeTheirPartOfTheLinks) {
  const Topology machine = read_topology(four +
                                             "[[group]]\nnames = \"pair [0-1]\"\nforward = [\"host->plx[0-1]\", "
                                             "\"plx*->gpu[0-3]\"]\ncapacity = \"9 GB/s\"\nsource = \"s\"\n",
                                         "m");
  ASSERT_EQ(machine.groups().size(), 2U);
  EXPECT_EQ(machine.groups()[1].name, "pair 1");
  Names links;
  for (const LinkId id : machine.groups()[1].forward) links.push_back(machine.link(id).name);
  EXPECT_EQ(links, (Names{"host->plx1", "plx1->gpu2", "plx1->gpu3"}));
}

TEST(Templates, RoutesAndGroupsOfARangeMayShareALink) {
  const Topology machine =
      read_topology(four +
                        "[[route]]\nfrom = \"host\"\nto = \"gpu[2-3]\"\nlinks = [\"host->plx1\", \"plx1->gpu[2-3]\"]\n"
                        "source = \"s\"\n[[group]]\nnames = \"shared[0-1]\"\n"
                        "forward = [\"host->plx1\", \"plx1->gpu[2-3]\"]\ncapacity = \"1 GB/s\"\nsource = \"s\"\n",
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

TEST(Templates, RoutesOfARangeGoSideBySide) {
  const Topology machine = read_topology(
      four +
          "[[route]]\nfrom = \"host\"\nto = \"gpu[2-3]\"\nlinks = [\"host->plx[1,1]\", \"plx1->gpu[2-3]\"]\n"
          "source = \"s\"\n",
      "m");
  ASSERT_EQ(machine.description().routes.size(), 2U);
  EXPECT_EQ(machine.link(machine.description().routes[1].links[1]).name, "plx1->gpu3");
}

const std::string cluster = head + kernels + R"(
[[switch]]
name = "fabric"
source = "s"
[[instance]]
template = "rack"
names = "r[0-1]"
[template.rack]
[[template.rack.instance]]
template = "node"
names = "n[0-2]"
[template.node]
[[template.node.memory]]
name = "host"
kind = "host"
source = "s"
[[template.node.memory]]
names = "gpu[0-1]"
kind = "gpu"
device = 0
kernels = "k"
source = "s"
[[template.node.link]]
from = "host"
to = ["gpu[0-1]", "fabric"]
bandwidth = "10 GB/s"
latency = "1 us"
both = true
source = "s"
[[template.node.group]]
name = "memory"
forward = ["host->*"]
capacity = "15 GB/s"
source = "s"
[[template.node.route]]
from = "gpu0"
to = "host"
links = ["gpu0->host"]
source = "s"
)";

TEST(Templates, InstancesPrefixNamesAndGoOnWithDevices) {
  const Topology machine = read_topology(cluster, "m");
  ASSERT_EQ(machine.gpus().size(), 12U);
  EXPECT_EQ(machine.memory(machine.gpus()[5]).name, "r0.n2.gpu1");
  EXPECT_EQ(machine.memory(machine.gpus()[6]).name, "r1.n0.gpu0");
  EXPECT_TRUE(machine.has_route(machine.hosts()[0], machine.hosts()[5]));  // over the fabric that all share
  ASSERT_EQ(machine.groups().size(), 6U);
  EXPECT_EQ(machine.groups()[3].name, "r1.n0.memory");
  EXPECT_EQ(machine.groups()[3].forward.size(), 3U);
}

TEST(Templates, AnInstanceMayNumberItsDevices) {
  std::string text = cluster;
  text.replace(text.find("names = \"r[0-1]\""), 16, "name = \"r\"\ndevice = 100");
  const Topology machine = read_topology(text, "m");
  EXPECT_EQ(machine.memory(machine.gpus().front()).device, 100);
  EXPECT_EQ(machine.memory(machine.gpus().back()).device, 105);
}

TEST(Templates, TheFlatFileIsTheSameMachine) {
  for (const std::string& text : {four, cluster}) {
    const Topology machine = read_topology(text, "m");
    const std::string flat = to_toml(machine.description());
    EXPECT_EQ(flat.find("template"), std::string::npos);
    EXPECT_EQ(flat.find("[0-"), std::string::npos);
    const Topology again = read_topology(flat, "flat");
    EXPECT_EQ(to_toml(again.description()), flat);
    EXPECT_EQ(link_names_of(again), link_names_of(machine));
  }
}

Topology with_files(const std::string& text, const std::map<std::string, std::string>& files) {
  return read_topology(text, "dir/m.toml", [&](const std::string& path) {
    if (!files.contains(path)) throw InputError{"no such file"};
    return files.at(path);
  });
}

const std::string sources = "[sources]\ns = { kind = \"assumed\", text = \"mine\" }\n";
const std::string small = sources + host + gpus + link("\"host\"", "\"gpu[0-3]\"");

TEST(Templates, IncludedKernelsComeWithTheirSources) {
  const Topology machine = with_files(head + "include = \"../k.toml\"\n" + small, {{"k.toml", kernels}});
  const KernelTimes& times = machine.description().kernels[0];
  EXPECT_EQ(times.source, "s (k.toml)");
  EXPECT_EQ(machine.description().sources.back().text, "made up");
  EXPECT_EQ(machine.memories()[0].source, "s");
}

TEST(Templates, AnIncludeTakesWhatItIsAskedFor) {
  const std::string other = four + "[issue]\nper_op = \"3 us\"\nper_dependency = \"1 us\"\nsource = \"s\"\n";
  const Topology machine =
      with_files(head + "include = { file = \"other.toml\", take = [\"kernels.k\", \"issue\"] }\n" + small,
                 {{"dir/other.toml", other}});
  EXPECT_EQ(machine.sources(), 5U);
  EXPECT_TRUE(std::ranges::none_of(machine.description().nodes, [](const Node& n) { return n.name == "plx0"; }));
  EXPECT_EQ(machine.description().issue.per_op, Seconds{3e-6});
}

TEST(Templates, TheMachinesOwnCostsReplaceIncludedOnes) {
  const std::string issue = "[issue]\nper_op = \"3 us\"\nper_dependency = \"1 us\"\nsource = \"s\"\n";
  std::string mine = issue;
  mine.replace(mine.find('3'), 1, "7");
  const auto files =
      std::map<std::string, std::string>{{"dir/k.toml", kernels + issue}, {"dir/i.toml", sources + issue}};
  EXPECT_EQ(with_files(head + "include = \"k.toml\"\n" + small + mine, files).description().issue.per_op,
            Seconds{7e-6});
  expect_input_error([&] { with_files(head + "include = [\"k.toml\", \"i.toml\"]\n" + small, files); },
                     {"dir/i.toml:", "issue", "stands in 'dir/k.toml', too"});
}

TEST(Templates, ErrorsOfIncludesNameTheirFile) {
  expect_input_error([] { with_files(head + "include = \"k.toml\"\n" + small, {}); },
                     {"dir/m.toml:3:11: include 'k.toml' is not there: no such file"});
  expect_input_error(
      [] {
        with_files(head + "include = \"k.toml\"\n" + small, {{"dir/k.toml", kernels + "x = 1\n"}});
      },
      {"dir/k.toml:", "x"});
  expect_input_error([] { with_files(head + "include = \"m.toml\"\n" + small, {}); }, {"includes itself"});
  expect_input_error([] { read_topology(head + "include = \"k.toml\"\n" + small, "m"); }, {"cannot be included here"});
  expect_input_error(
      [] {
        with_files(head + "include = { file = \"k.toml\", take = [\"links\"] }\n" + small, {{"dir/k.toml", kernels}});
      },
      {"take 'links' is unknown; expected kernels"});
}

struct Broken {
  std::string from, to;
  std::vector<std::string> words;
};

TEST(Templates, WhatDoesNotFitIsRefused) {
  const std::vector<Broken> cases{
      {"gpu[0-3]\"\nkind", "gpu[3-0]\"\nkind", {"names 'gpu[3-0]' is not a list of names", "[0-7]"}},
      {"gpu[0-3]\"\nkind", "gpu[0-99999]\"\nkind", {"too many names; expected at most 16384"}},
      {"names = \"plx", "name = \"x\"\nnames = \"plx", {"names 'plx[0-1]' stands next to 'name'"}},
      {"names = \"plx[0-1]\"", "names = []", {"names (a list) is empty"}},
      {"names = \"plx[0-1]\"", "names = \"plx[0,0]\"", {"'plx0' is the name of another node"}},
      {"\"blocks\"", "\"zip\"", {"pairing 'zip' joins 2 nodes with 4; expected as many on both sides"}},
      {"\"blocks\"", "\"rows\"", {"pairing 'rows' is unknown; expected all, zip, blocks or cyclic"}},
      {"\"plx[0-1]\"\nbandwidth", "\"plx[0-2]\"\nbandwidth", {"to 'plx[0-2]' 'plx2' is not a node"}}};
  for (const Broken& each : cases) {
    std::string text = four;
    ASSERT_NE(text.find(each.from), std::string::npos) << each.from;
    text.replace(text.find(each.from), each.from.size(), each.to);
    expect_input_error([&] { read_topology(text, "m"); }, each.words);
  }
}

TEST(Templates, BadInstancesAreRefused) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = cluster;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  expect_input_error([&] { read_topology(changed("template = \"node\"", "template = \"rack\""), "m"); },
                     {"template 'rack' is inside of itself or too deep"});
  expect_input_error([&] { read_topology(changed("template = \"node\"", "template = \"nude\""), "m"); },
                     {"template 'nude' is no template"});
  expect_input_error([&] { read_topology(changed("\"r[0-1]\"", "\"r[0-9999]\""), "m"); }, {"too many instances"});
  expect_input_error([&] { read_topology(changed("\"host->*\"", "\"ghost->*\""), "m"); },
                     {"group 'r0.n0.memory'", "'ghost->*' fits no link"});
}

}  // namespace
}  // namespace tilerail
