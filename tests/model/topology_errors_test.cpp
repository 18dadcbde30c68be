// Every bad machine file is refused with one message that tells the place, the value and what was expected.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "model/topology.hpp"

namespace tilerail {
namespace {

const std::string good = R"(schema = 1
name = "small"
description = "one of everything"

[sources]
s = { kind = "assumed", text = "made up" }

[[memory]]
name = "host"
kind = "host"
source = "s"

[[memory]]
name = "gpu0"
kind = "gpu"
device = 0
capacity = "16 GB"
kernels = "k"
engines = { h2d = 1 }
watts = { idle = "50 W", busy = "300 W" }
source = "s"

[[memory]]
name = "gpu1"
kind = "gpu"
device = 1
kernels = "k"
source = "s"

[[switch]]
name = "pcie0"
source = "s"

[[switch]]
name = "spare"
source = "s"

[[link]]
from = "host"
to = "pcie0"
bandwidth = "12 GB/s"
latency = "5 us"
both = true
source = "s"

[[link]]
from = "pcie0"
to = ["gpu0", "gpu1"]
bandwidth = "10 GB/s"
latency = "6 us"
per_flow = "9 GB/s"
both = true
source = "s"

[[group]]
name = "host memory"
forward = ["host->pcie0"]
backward = ["pcie0->host"]
capacity = [[1, "22 GB/s"], [4, "72 GB/s"]]
both_busy = "16 GB/s"
source = "s"

[[route]]
from = "gpu0"
to = "gpu1"
links = ["gpu0->pcie0", "pcie0->gpu1"]
source = "s"

[copies]
strided_efficiency = [["8 KiB", 0.88], ["32 KiB", 1.0]]
source = "s"

[issue]
per_op = "2 us"
per_dependency = "1 us"
source = "s"

[kernels.k]
launch = "5 us"
multiprocessors = 80
block = [128, 64]
k_overhead = 64
memory_bandwidth = "800 GB/s"
source = "s"

[[kernels.k.gemm]]
dtype = "f64"
square = [[1024, "400 us"], [2048, "2.6 ms"]]
source = "s"

[[kernels.k.gemm]]
dtype = "f32"
peak = "14 TFLOP/s"
efficiency = [[512, 0.5], [2048, 0.9]]
source = "s"
)";

/// `good` with the first `find` replaced by `replace`. The error is at the first `at` of the result.
struct BadInput {
  std::string name, find, replace, at;
  std::vector<std::string> words;
};

std::string place_of(const std::string& text, std::size_t offset) {
  const auto line_start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  return "bad.toml:" + std::to_string(line) + ":" + std::to_string(offset - line_start + 1) + ": ";
}

void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.name; }

class BadTopology : public testing::TestWithParam<BadInput> {};

TEST_P(BadTopology, IsRefusedAtItsLineAndColumn) {
  const BadInput& bad = GetParam();
  std::string text = good;
  const auto found = text.find(bad.find);
  ASSERT_NE(found, std::string::npos);
  text.replace(found, bad.find.size(), bad.replace);
  const auto at = text.find(bad.at);
  ASSERT_NE(at, std::string::npos);
  try {
    read_topology(text, "bad.toml");
    ADD_FAILURE() << "accepted; expected an error with '" << bad.words.front() << "'";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind(place_of(text, at), 0), 0u) << "not at " << place_of(text, at) << " but: " << message;
    for (const std::string& word : bad.words)
      EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' is not in: " << message;
  }
}

std::vector<BadInput> values() {
  return {
      {"UnknownUnit",
       "\"12 GB/s\"",
       "\"48 Gb\"",
       "\"48 Gb\"",
       {"link 'host->pcie0': bandwidth '48 Gb' has no known unit; write GB/s or GiB/s"}},
      {"NoUnit", "\"5 us\"", "\"5\"", "\"5\"", {"link 'host->pcie0': latency '5' has no known unit", "us"}},
      {"NoNumber", "\"16 GB\"", "\"GB\"", "\"GB\"", {"memory 'gpu0': capacity 'GB' is not a number"}},
      {"ZeroBandwidth", "\"12 GB/s\"", "\"0 GB/s\"", "\"0 GB/s\"", {"bandwidth '0 GB/s'", "above zero"}},
      {"NegativeBandwidth", "\"12 GB/s\"", "\"-1 GB/s\"", "\"-1 GB/s\"", {"bandwidth '-1 GB/s'", "above zero"}},
      {"InfiniteBandwidth", "\"12 GB/s\"", "\"inf GB/s\"", "\"inf GB/s\"", {"'inf GB/s' is not a number"}},
      {"OverflowingBandwidth", "\"12 GB/s\"", "\"1e305 TB/s\"", "\"1e305 TB/s\"", {"'1e305 TB/s' is too large"}},
      {"ZeroFlowCap", "\"9 GB/s\"", "\"0 B/s\"", "\"0 B/s\"", {"per_flow '0 B/s'", "above zero"}},
      {"NegativeLatency", "\"5 us\"", "\"-5 us\"", "\"-5 us\"", {"latency '-5 us' is negative; expected zero or more"}},
      {"NegativeWatts", "\"50 W\"", "\"-50 W\"", "\"-50 W\"", {"idle '-50 W' is negative"}},
      {"NumberForText", "name = \"small\"", "name = 7", "7", {"name '7' is not a text"}},
      {"TextForBoolean",
       "both = true",
       "both = \"yes\"",
       "\"yes\"",
       {"both 'yes' is not a boolean; expected true or false"}},
      {"TextForNumber", "device = 0", "device = \"0\"", "\"0\"", {"device '0' is not an integer"}},
      {"NumberForList", "forward = [\"host->pcie0\"]", "forward = 3", "3\nbackward", {"forward '3' is not a list"}},
      {"NumberForQuantity", "\"12 GB/s\"", "12.5", "12.5", {"bandwidth '12.5' is not a text"}},
      {"WrongSchema", "schema = 1", "schema = 2", "2\n", {"schema '2' is out of range; expected 1"}},
      {"UnknownSourceKind",
       "\"assumed\"",
       "\"guessed\"",
       "\"guessed\"",
       {"'guessed'", "measured, published or assumed"}},
      {"UnknownMemoryKind", "\"gpu\"", "\"tpu\"", "\"tpu\"", {"memory 'gpu0': kind 'tpu'", "host or gpu"}},
      {"NegativeDevice", "device = 0", "device = -1", "-1", {"device '-1' is out of range"}},
      {"ZeroEngines", "h2d = 1", "h2d = 0", "0 }", {"h2d '0' is out of range; expected 1 to"}},
      {"ZeroBlock", "[128, 64]", "[0, 64]", "0, 64", {"block '0'", "above zero"}},
      {"InfiniteNumber", "multiprocessors = 80", "multiprocessors = inf", "inf", {"multiprocessors", "not finite"}},
      {"NegativeOverhead", "k_overhead = 64", "k_overhead = -1", "-1", {"k_overhead '-1' is negative"}},
      {"UnknownDType", "\"f64\"", "\"double\"", "\"double\"", {"dtype 'double'", "f64, f32, f16 or bf16"}},
      {"UnknownTrans",
       "dtype = \"f64\"",
       "dtype = \"f64\"\ntrans = \"NC\"",
       "\"NC\"",
       {"trans 'NC'", "NN, NT, TN or TT"}},
      {"EfficiencyAboveOne", "0.9]", "1.1]", "1.1]", {"efficiency '1.1'", "at most 1"}},
      {"StridedAboveOne", "0.88", "8.8", "8.8", {"strided_efficiency '8.8'", "at most 1"}},
      {"PointOfThree", "[512, 0.5]", "[512, 0.5, 1]", "[512, 0.5, 1]", {"has 3 entries"}},
      {"ZeroTime", "\"400 us\"", "\"0 us\"", "\"0 us\"", {"square '0 us'", "above zero"}},
  };
}

std::vector<BadInput> names() {
  return {
      {"NotToml", "schema = 1", "schema = = 1", "= 1", {}},
      {"UnknownRootKey", "schema = 1", "schema = 1\nversion = 3", "version", {"unknown key 'version'"}},
      {"UnknownLinkKey", "bandwidth", "bandwith", "bandwith", {"unknown key 'bandwith'; expected one of", "bandwidth"}},
      {"UnknownHostKey",
       "kind = \"host\"",
       "kind = \"host\"\ndevice = 0",
       "device",
       {"memory 'host': unknown key 'device'"}},
      {"MissingKey", "latency = \"5 us\"\n", "", "[[link]]", {"link 'host->pcie0': key 'latency' is missing"}},
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
       {"memory 'host': source 't'", "a key of [sources]"}},
      {"UnknownKernels", "kernels = \"k\"", "kernels = \"x\"", "\"x\"", {"kernels 'x' is unknown", "[kernels.NAME]"}},
      {"UnknownNodeInLink", "to = \"pcie0\"", "to = \"pcie9\"", "\"pcie9\"", {"to 'pcie9' is no node"}},
      {"UnknownNodeInList", "[\"gpu0\", \"gpu1\"]", "[\"gpu0\", \"gpu9\"]", "\"gpu9\"", {"to 'gpu9' is no node"}},
      {"NodeTwiceInList", "[\"gpu0\", \"gpu1\"]", "[\"gpu0\", \"gpu0\"]", "\"gpu0\"]", {"to 'gpu0' is listed twice"}},
      {"GroupOverMissingLink",
       "[\"host->pcie0\"]",
       "[\"host->gpu0\"]",
       "\"host->gpu0\"",
       {"group 'host memory': forward 'host->gpu0' is a missing link"}},
      {"RouteOverMissingLink",
       "\"pcie0->gpu1\"]",
       "\"pcie0->gpu7\"]",
       "\"pcie0->gpu7\"",
       {"'pcie0->gpu7' is a missing link"}},
      {"RouteFromSwitch",
       "[[route]]\nfrom = \"gpu0\"",
       "[[route]]\nfrom = \"pcie0\"",
       "\"pcie0\"\nto = \"gpu1\"",
       {"from 'pcie0' is no memory"}},
      {"DuplicateNode",
       "name = \"gpu1\"",
       "name = \"gpu0\"",
       "\"gpu0\"\nkind = \"gpu\"\ndevice = 1",
       {"'gpu0' is the name of another"}},
      {"NodeNameWithColon", "\"spare\"", "\"spare:1\"", "\"spare:1\"", {"node 'spare:1'", "not allowed"}},
      {"EmptyNodeName", "\"spare\"", "\"\"", "\"\"", {"node ''", "0 characters"}},
      {"LinkToItself", "to = \"pcie0\"", "to = \"host\"", "\"host\"\nbandwidth", {"link: to 'host'", "another node"}},
      {"EfficiencyWithoutPeak",
       "square =",
       "efficiency = [[1, 1.0]]\nsquare =",
       "[[1, 1.0]]",
       {"efficiency", "beside 'peak'"}},
      {"TwoFormsOfTimes", "square =", "peak = \"1 TFLOP/s\"\nsquare =", "[[kernels.k.gemm]]", {"exactly one of"}},
      {"GroupIsNoList", "[[group]]", "[group]", "[group]", {"list of tables", "[[group]]"}},
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
       {"memory 'gpu1'", "device 0 is also that of 'gpu0'"}},
      {"NoHost", "kind = \"host\"", "kind = \"gpu\"\ndevice = 5\nkernels = \"k\"", "schema", {"no host memory"}},
      {"TooSlow", "\"12 GB/s\"", "\"1 B/s\"", "[[link]]", {"link 'host->pcie0'", "1 MB/s to 1 PB/s"}},
      {"TooLate", "\"5 us\"", "\"1000 s\"", "[[link]]", {"link 'host->pcie0'", "latency", "at most 10 s"}},
      {"RouteDoesNotConnect",
       route,
       "links = [\"pcie0->gpu1\"]",
       "[[route]]",
       {"does not connect", "expected one from 'gpu0'"}},
      {"RouteEndsElsewhere", route, "links = [\"gpu0->pcie0\"]", "[[route]]", {"ends at 'pcie0'; expected 'gpu1'"}},
      {"RouteThroughMemory",
       route,
       "links = [\"gpu0->pcie0\", \"pcie0->host\", \"host->pcie0\", \"pcie0->gpu1\"]",
       "[[route]]",
       {"passes through memory 'host'"}},
      {"EmptyRoute", route, "links = []", "[[route]]", {"no links"}},
      {"RouteToItself", "to = \"gpu1\"\nlinks", "to = \"gpu0\"\nlinks", "[[route]]", {"from a memory to itself"}},
      {"LinkTwiceInGroup", "[\"pcie0->host\"]", "[\"host->pcie0\"]", "[[group]]", {"'host->pcie0' is listed twice"}},
      {"EmptyGroup", "[\"host->pcie0\"]", "[]", "[[group]]", {"no forward links"}},
      {"BothBusyWithoutBackward", "backward = [\"pcie0->host\"]\n", "", "[[group]]", {"'both_busy' needs 'backward'"}},
      {"DuplicateGroup",
       group_one,
       "[[group]]\nname = \"x\"\nforward = [\"pcie0->gpu0\"]\ncapacity = \"1 GB/s\"\nsource = \"s\"\n"
       "[[group]]\nname = \"x\"",
       "[[group]]\nname = \"x\"\nforward = [\"host",
       {"another group of that name"}},
      {"CapacityDescends", "[4, \"72 GB/s\"]", "[1, \"72 GB/s\"]", "1, \"72 GB/s\"", {"capacity '1' does not ascend"}},
      {"EmptyCapacity", "[[1, \"22 GB/s\"], [4, \"72 GB/s\"]]", "[]", "[]", {"capacity", "no points"}},
      {"SizesDescend", "[2048, \"2.6 ms\"]", "[512, \"2.6 ms\"]", "512, \"2.6 ms\"", {"square '512' does not ascend"}},
      {"TimesDescend", "\"2.6 ms\"", "\"2.6 us\"", "[kernels.k]", {"kernels 'k'", "size 2048 takes less time"}},
      {"TwoCurvesOfAType", "\"f32\"", "\"f64\"", "[kernels.k]", {"two gemm curves for f64"}},
      {"ColumnsDescend", "[\"32 KiB\", 1.0]", "[\"4 KiB\", 1.0]", "[copies]", {"column sizes do not ascend"}},
  };
}

const auto name_of = [](const testing::TestParamInfo<BadInput>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Value, BadTopology, testing::ValuesIn(values()), name_of);
INSTANTIATE_TEST_SUITE_P(Name, BadTopology, testing::ValuesIn(names()), name_of);
INSTANTIATE_TEST_SUITE_P(Structure, BadTopology, testing::ValuesIn(structures()), name_of);

TEST(Topology, TheFileThatAllBadOnesStartFromIsGood) { EXPECT_NO_THROW(read_topology(good, "good.toml")); }

TEST(Topology, AMissingFileIsNamed) {
  expect_input_error([] { load_topology("no/such/machine.toml"); }, {"no/such/machine.toml", "cannot be read"});
  expect_input_error([] { load_topology(TILERAIL_SOURCE_DIR); }, {TILERAIL_SOURCE_DIR, "cannot be read"});
}

// 300 x 300 x 2 links are above the limit of 65,536; the lists are refused before they are multiplied out.
TEST(Topology, ListsThatMultiplyIntoTooManyLinksAreRefused) {
  std::string text = "schema = 1\nname = \"big\"\n[sources]\ns = { kind = \"assumed\", text = \"\" }\n";
  std::string all;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "\"s" + std::to_string(i) + "\"";
    text.append("[[switch]]\nname = ").append(name).append("\nsource = \"s\"\n");
    all.append(name).append(", ");
  }
  text.append("[[link]]\nfrom = [").append(all).append("]\nto = [").append(all).append("]\n");
  text.append("bandwidth = \"1 GB/s\"\nlatency = \"1 us\"\nboth = true\nsource = \"s\"\n");
  expect_input_error([&] { read_topology(text, "big.toml"); }, {"big.toml:905:1: ", "too many links", "65536"});
}

TEST(Topology, TooManyMemoriesAreRefused) {
  std::string text = "schema = 1\nname = \"big\"\n[sources]\ns = { kind = \"assumed\", text = \"\" }\n";
  for (int i = 0; i < 257; ++i)
    text.append("[[memory]]\nkind = \"host\"\nsource = \"s\"\nname = \"h").append(std::to_string(i)).append("\"\n");
  expect_input_error([&] { read_topology(text, "big.toml"); }, {"big.toml:1:1: ", "257 memories", "at most 256"});
}

}  // namespace
}  // namespace tilerail
