// Machine files with values of the wrong type, unit or range.
#include "tests/support/bad_topology.hpp"

namespace tilerail {
namespace {

using namespace bad_topology;

class BadTopologyValue : public testing::TestWithParam<BadInput> {};

TEST_P(BadTopologyValue, IsRefusedAtItsLineAndColumn) { expect_refused(GetParam()); }

std::vector<BadInput> values() {
  return {
      {"UnknownUnit",
       "\"12 GB/s\"",
       "\"48 Gb\"",
       "\"48 Gb\"",
       {"link 'host->pcie0': bandwidth '48 Gb' has no known unit; expected GB/s or GiB/s"}},
      {"NoUnit", "\"5 us\"", "\"5\"", "\"5\"", {"link 'host->pcie0': latency '5' has no known unit", "us"}},
      {"NoNumber", "\"16 GB\"", "\"GB\"", "\"GB\"", {"memory 'gpu0': capacity 'GB' is not a number"}},
      {"ZeroBandwidth",
       "\"12 GB/s\"",
       "\"0 GB/s\"",
       "\"0 GB/s\"",
       {"bandwidth '0 GB/s' is out of range; expected 1 MB/s to 1 PB/s"}},
      {"NegativeBandwidth", "\"12 GB/s\"", "\"-1 GB/s\"", "\"-1 GB/s\"", {"bandwidth '-1 GB/s'", "1 MB/s to 1 PB/s"}},
      {"InfiniteBandwidth", "\"12 GB/s\"", "\"inf GB/s\"", "\"inf GB/s\"", {"'inf GB/s' is not a number"}},
      {"OverflowingBandwidth", "\"12 GB/s\"", "\"1e305 TB/s\"", "\"1e305 TB/s\"", {"'1e305 TB/s' is too large"}},
      {"ZeroFlowCap", "\"9 GB/s\"", "\"0 B/s\"", "\"0 B/s\"", {"per_flow '0 B/s'", "1 MB/s to 1 PB/s"}},
      {"NegativeLatency",
       "\"5 us\"",
       "\"-5 us\"",
       "\"-5 us\"",
       {"latency '-5 us' is out of range; expected 0 s to 10 s"}},
      {"NegativeWatts", "\"50 W\"", "\"-50 W\"", "\"-50 W\"", {"idle '-50 W' is out of range; expected 0 W to 1 MW"}},
      {"GemmOfNoWatts",
       "square =",
       "watts = \"0 W\"\nsquare =",
       "\"0 W\"",
       {"watts '0 W' is out of range", "1 mW to 1 MW"}},
      {"GemmOfWattsWithoutUnit",
       "square =",
       "watts = 300\nsquare =",
       "300\nsquare",
       {"watts '300' is not a text with a unit; expected 1 mW to 1 MW"}},
      {"NumberForText", "name = \"small\"", "name = 7", "7", {"name '7' is not a text"}},
      {"TextForBoolean",
       "both = true",
       "both = \"yes\"",
       "\"yes\"",
       {"both 'yes' is not a boolean; expected true or false"}},
      {"TextForNumber", "device = 0", "device = \"0\"", "\"0\"", {"device '0' is not an integer"}},
      {"NumberForList", "forward = [\"host->pcie0\"]", "forward = 3", "3\nbackward", {"forward '3' is not a list"}},
      {"NumberForQuantity",
       "\"12 GB/s\"",
       "12.5",
       "12.5",
       {"bandwidth '12.5' is not a text with a unit; expected 1 MB/s to 1 PB/s"}},
      {"WrongSchema", "schema = 1", "schema = 2", "2\n", {"schema '2' is out of range; expected 1"}},
      {"UnknownSourceKind",
       "\"assumed\"",
       "\"guessed\"",
       "\"guessed\"",
       {"'guessed'", "measured, fitted, published or assumed"}},
      {"UnknownMemoryKind", "\"gpu\"", "\"tpu\"", "\"tpu\"", {"memory 'gpu0': kind 'tpu'", "gpu or host"}},
      {"NegativeDevice", "device = 0", "device = -1", "-1", {"device '-1' is out of range"}},
      {"ZeroEngines", "h2d = 1", "h2d = 0", "0 }", {"h2d '0' is out of range; expected 1 to"}},
      {"ZeroBlock", "[128, 64]", "[0, 64]", "0, 64", {"block '0' is out of range; expected 1 to 1e12"}},
      {"InfiniteNumber", "multiprocessors = 80", "multiprocessors = inf", "inf", {"multiprocessors", "not finite"}},
      {"NegativeOverhead",
       "k_overhead = 64",
       "k_overhead = -1",
       "-1",
       {"k_overhead '-1' is out of range; expected 0 to 1000000"}},
      {"UnknownDType", "\"f64\"", "\"double\"", "\"double\"", {"dtype 'double'", "f64, f32, f16, bf16 or tf32"}},
      {"UnknownTrans",
       "dtype = \"f64\"",
       "dtype = \"f64\"\ntrans = \"NC\"",
       "\"NC\"",
       {"trans 'NC'", "NN, NT, TN or TT"}},
      {"EfficiencyAboveOne", "0.9]", "1.1]", "1.1]", {"efficiency '1.1'", "0.000001 to 1"}},
      {"StridedAboveOne", "0.88", "8.8", "8.8", {"strided_efficiency '8.8'", "0.000001 to 1"}},
      {"PointOfThree", "[512, 0.5]", "[512, 0.5, 1]", "[512, 0.5, 1]", {"has 3 entries"}},
      {"ZeroTime", "\"400 us\"", "\"0 us\"", "\"0 us\"", {"square '0 us'", "1e-18 s to 1000000 s"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Topology, BadTopologyValue, testing::ValuesIn(values()), name_of);

}  // namespace
}  // namespace tilerail
