// Machine files with unknown or missing names, and with inconsistent tables.
#include "model/machine/topology_toml.hpp"
#include "tests/support/bad_topology.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using namespace bad_topology;

class BadTopologyStructure : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadTopologyStructure, IsRefusedAtItsLineAndColumn) { expect_refused(GetParam()); }

std::vector<BadInput> names() {
  return {
      {"NotToml", "schema = 1", "schema = = 1", "= 1", {"Error while parsing"}},
      {"UnknownRootKey",
       "schema = 1",
       "schema = 1\nversion = 3",
       "version",
       {"'version' is an unknown key"}},
      {"UnknownLinkKey",
       "bandwidth",
       "bandwith",
       "bandwith",
       {"'bandwith' is an unknown key; expected one of"}},
      {"UnknownHostKey",
       "kind = \"host\"",
       "kind = \"host\"\ndevice = 0",
       "device",
       {"memory 'host': 'device' is an unknown key"}},
      {"MissingKey",
       "latency = \"5 us\"\n",
       "",
       "[[link]]",
       {"link 'host->pcie0': key 'latency' is missing"}},
      {"MissingSources",
       "[sources]\ns = { kind = \"assumed\", text = \"made up\" }",
       "",
       "schema",
       {"key 'sources' is missing"}},
      {"MissingSource",
       "kind = \"host\"\nsource = \"s\"",
       "kind = \"host\"",
       "[[memory]]",
       {"memory 'host': key 'source'"}},
      {"UnknownSource",
       "source = \"s\"",
       "source = \"t\"",
       "\"t\"",
       {"memory 'host': source: 't'", "a key of [sources]"}},
      {"UnknownKernels",
       "kernels = \"k\"",
       "kernels = \"x\"",
       "\"x\"",
       {"kernels: 'x' is unknown", "[kernels.NAME]"}},
      {"UnknownNodeInLink",
       "to = \"pcie0\"",
       "to = \"pcie9\"",
       "\"pcie9\"",
       {"to: 'pcie9' is not a memory or switch"}},
      {"UnknownNodeInList",
       "[\"gpu0\", \"gpu1\"]",
       "[\"gpu0\", \"gpu9\"]",
       "\"gpu9\"",
       {"to: 'gpu9' is not a memory or switch"}},
      {"NodeTwiceInList",
       "[\"gpu0\", \"gpu1\"]",
       "[\"gpu0\", \"gpu0\"]",
       "\"gpu0\"]",
       {"to: 'gpu0' is listed twice"}},
      {"GroupOverMissingLink",
       "[\"host->pcie0\"]",
       "[\"host->gpu0\"]",
       "\"host->gpu0\"",
       {"group 'host memory': forward: 'host->gpu0' is not a link"}},
      {"RouteOverMissingLink",
       "\"pcie0->gpu1\"]",
       "\"pcie0->gpu7\"]",
       "\"pcie0->gpu7\"",
       {"'pcie0->gpu7' is not a link"}},
      {"RouteFromSwitch",
       "[[route]]\nfrom = \"gpu0\"",
       "[[route]]\nfrom = \"pcie0\"",
       "\"pcie0\"\nto = \"gpu1\"",
       {"from: 'pcie0' is not a memory"}},
      {"DuplicateNode",
       "name = \"gpu1\"",
       "name = \"gpu0\"",
       "\"gpu0\"\nkind = \"gpu\"\ndevice = 1",
       {"'gpu0' is the name of another"}},
      {"NodeNameWithColon",
       "\"spare\"",
       "\"spare:1\"",
       "\"spare:1\"",
       {"memory or switch 'spare:1'", "not allowed"}},
      {"EmptyNodeName",
       "\"spare\"",
       "\"\"",
       "\"\"",
       {"memory or switch ''", "1 to 128 characters"}},
      {"LinkToItself",
       "to = \"pcie0\"",
       "to = \"host\"",
       "\"host\"\nbandwidth",
       {"link: to: 'host'", "another memory or switch"}},
      {"EfficiencyWithoutPeak",
       "square =",
       "efficiency = [[1, 1.0]]\nsquare =",
       "efficiency = [[1, 1.0]]",
       {"'efficiency' is an unknown key"}},
      {"TwoFormsOfTimes",
       "square =",
       "peak = \"1 TFLOP/s\"\nsquare =",
       "[[kernels.k.gemm]]",
       {"exactly one of"}},
      {"GroupIsNoList",
       "[[group]]",
       "[group]",
       "[group]",
       {"list of tables", "[[group]]"}},
  };
}

std::vector<BadInput> structures() {
  const std::string route = "links = [\"gpu0->pcie0\", \"pcie0->gpu1\"]",
                    group_one = "[[group]]\nname = \"host memory\"";
  return {
      {"DuplicateDevice",
       "device = 1",
       "device = 0",
       "[[memory]]\nname = \"gpu1\"",
       {"memory 'gpu1'", "device: '0' also belongs to 'gpu0'"}},
      {"BusyBelowIdle",
       "busy = \"300 W\"",
       "busy = \"30 W\"",
       "[[memory]]\nname = \"gpu0\"",
       {"memory 'gpu0'", "busy watts: '30 W' is below the idle watts",
        "expected at least 50 W"}},
      {"NoHost",
       "kind = \"host\"",
       "kind = \"gpu\"\ndevice = 5\nkernels = \"k\"",
       "schema",
       {"no host memory"}},
      {"TooSlow",
       "\"12 GB/s\"",
       "\"1 B/s\"",
       "\"1 B/s\"",
       {"link 'host->pcie0'", "'1 B/s'", "1 MB/s to 1 PB/s"}},
      {"TooLate",
       "\"5 us\"",
       "\"1000 s\"",
       "\"1000 s\"",
       {"link 'host->pcie0'", "latency: '1000 s'", "0 s to 10 s"}},
      {"RouteDoesNotConnect",
       route,
       "links = [\"pcie0->gpu1\"]",
       "[[route]]",
       {"does not connect", "expected one from 'gpu0'"}},
      {"RouteEndsElsewhere",
       route,
       "links = [\"gpu0->pcie0\"]",
       "[[route]]",
       {"ends at 'pcie0'; expected 'gpu1'"}},
      {"RouteThroughMemory",
       route,
       "links = [\"gpu0->pcie0\", \"pcie0->host\", \"host->pcie0\", \"pcie0->gpu1\"]",
       "[[route]]",
       {"passes through memory 'host'"}},
      {"RouteToItself",
       "to = \"gpu1\"\nlinks",
       "to = \"gpu0\"\nlinks",
       "[[route]]",
       {"from a memory to itself"}},
      {"LinkTwiceInGroup",
       "[\"pcie0->host\"]",
       "[\"host->pcie0\"]",
       "[[group]]",
       {"'host->pcie0' is listed twice"}},
      {"EmptyGroup", "[\"host->pcie0\"]", "[]", "[[group]]", {"no forward links"}},
      {"BothBusyWithoutBackward",
       "backward = [\"pcie0->host\"]\n",
       "",
       "[[group]]",
       {"'both_busy' needs 'backward'"}},
      {"DuplicateGroup",
       group_one,
       "[[group]]\nname = \"x\"\nforward = [\"pcie0->gpu0\"]\ncapacity = \"1 "
       "GB/s\"\nsource = \"s\"\n"
       "[[group]]\nname = \"x\"",
       "[[group]]\nname = \"x\"\nforward = [\"host",
       {"another one has this name"}},
      {"CapacityDescends",
       "[4, \"72 GB/s\"]",
       "[1, \"72 GB/s\"]",
       "[[group]]",
       {"capacity: copies: '1' does not ascend"}},
      {"EmptyCapacity",
       "[[1, \"22 GB/s\"], [4, \"72 GB/s\"]]",
       "[]",
       "[[group]]",
       {"capacity: has 0 entries; expected 1 to 4096"}},
      {"SizesDescend",
       "[2048, \"2.6 ms\"]",
       "[512, \"2.6 ms\"]",
       "[kernels.k]",
       {"rates: size: '512' does not ascend; expected above 1024"}},
      {"TwoCurvesOfAType",
       "\"f32\"",
       "\"f64\"",
       "[kernels.k]",
       {"two gemm curves for f64"}},
      {"AgainWithoutACache",
       "page_cache = \"50 MB\"\n",
       "",
       "[copies]",
       {"'strided_efficiency_again' and 'page_cache'"}},
      {"BesideBelow1",
       "page_cache = \"50 MB\"",
       "page_cache = \"50 MB\"\nstrided_beside = 0.5",
       "0.5\n",
       {"a factor of 1 to 1000"}},
      {"MoreThanAllForgotten",
       "page_cache = \"50 MB\"",
       "page_cache = \"50 MB\"\nstrided_forgotten = 1.5",
       "1.5\n",
       {"strided_forgotten: '1.5'", "a share of 0 to 1"}},
      {"ColumnsDescend",
       "[\"32 KiB\", 1.0]",
       "[\"4 KiB\", 1.0]",
       "[copies]",
       {"'strided_efficiency'", "column: '4.096 KB' does not ascend", "above 8.192 KB"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Name, BadTopologyStructure, ::testing::ValuesIn(names()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Graph, BadTopologyStructure, ::testing::ValuesIn(structures()),
                         name_of);

TEST(Topology, TheTemplateOfAllBadFilesIsValid) {
  EXPECT_NO_THROW(read_topology(good, "good.toml"));
}

TEST(Topology, AMissingFileIsNamed) {
  expect_input_error([] { load_topology("no/such/machine.toml"); },
                     {"'no/such/machine.toml' cannot be read"});
  expect_input_error([] { load_topology(TILERAIL_SOURCE_DIR); },
                     {"'" TILERAIL_SOURCE_DIR "' cannot be read"});
}

// 300 x 300 x 2 links exceed the limit of 65,536; the lists are rejected before
// multiplication.
TEST(Topology, ListsThatMultiplyIntoTooManyLinksAreRefused) {
  std::string text =
      "schema = 1\nname = \"big\"\n[sources]\ns = { kind = \"assumed\", text = \"\" }\n";
  std::string all;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "\"s" + std::to_string(i) + "\"";
    text.append("[[switch]]\nname = ").append(name).append("\nsource = \"s\"\n");
    all.append(name).append(", ");
  }
  text.append("[[link]]\nfrom = [")
      .append(all)
      .append("]\nto = [")
      .append(all)
      .append("]\n");
  text.append(
      "bandwidth = \"1 GB/s\"\nlatency = \"1 us\"\nboth = true\nsource = \"s\"\n");
  expect_input_error([&] { read_topology(text, "big.toml"); },
                     {"big.toml:905:1: ", "too many links", "65536"});
}

TEST(Topology, TooManyMemoriesAreRefused) {
  std::string text =
      "schema = 1\nname = \"big\"\n[sources]\ns = { kind = \"assumed\", text = \"\" }\n";
  for (int i = 0; i < 8193; ++i)
    text.append("[[memory]]\nkind = \"host\"\nsource = \"s\"\nname = \"h")
        .append(std::to_string(i))
        .append("\"\n");
  expect_input_error([&] { read_topology(text, "big.toml"); },
                     {"big.toml:1:1: ", "memories: '8193'", "at most 8192"});
}

}  // namespace
}  // namespace tilerail
