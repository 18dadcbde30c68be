// Imports of other tools' outputs.
#include "model/import/import.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/machine/machine_facts.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/imported.hpp"

namespace tilerail {
namespace {

using namespace imported;

const std::string smi =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA "
    "ID\x1b[0m\n"
    "GPU0\t X \tPIX\tNV2\tSYS\tPIX\t0-23\t0\t\tN/A\n"
    "GPU1\tPIX\t X \tSYS\tSYS\tSYS\t0-23\t0\t\tN/A\n"
    "GPU2\tNV2\tSYS\t X \tNODE\tSYS\t24-47\t1\t\tN/A\n"
    "GPU3\tSYS\tSYS\tNODE\t X \tSYS\t24-47\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\tSYS\tSYS\t X \n\nLegend:\n  X    = Self\n";

Topology checked(const Topology::Description& description) {
  return written_again(description);
}

TEST(ImportNvidiaSmi, SwitchesDomainsAndNvlinksAreLinks) {
  const Topology machine = checked(import_nvidia_smi(
      smi, "topo.txt", kind(), {.pcie = Rate{25e9}, .nvlink = Rate{20e9}}));
  EXPECT_EQ(machine.gpus().size(), 4U);
  EXPECT_EQ(machine.hosts().size(), 2U);
  EXPECT_EQ(pair(machine, "gpu0", "gpu2"), Rate{40e9});  // two NVLinks
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{25e9});
  const auto over = machine.route(machine.gpus()[0], machine.gpus()[1]);
  ASSERT_EQ(over.size(), 2U);
  EXPECT_EQ(machine.link(over[0]).name, "gpu0->plx0");  // without the uplink
  EXPECT_EQ(source_kind(machine, "gpu0->gpu2"), Source::Kind::assumed);
}

TEST(ImportNvidiaSmi, MoreNvlinksThanAGpuHasLeadToASwitch) {
  std::string header, rows;
  for (int i = 0; i < 4; ++i) {
    header += "\tGPU" + std::to_string(i);
    rows += "GPU" + std::to_string(i);
    for (int j = 0; j < 4; ++j) rows += i == j ? "\t X " : "\tNV12";
    rows += "\t0-63\t0\n";
  }
  const Topology machine =
      checked(import_nvidia_smi(header + "\tCPU Affinity\tNUMA Affinity\n" + rows, "t",
                                kind(), {.nvlink = Rate{20e9}}));
  EXPECT_EQ(machine.hosts().size(), 1U);
  EXPECT_EQ(pair(machine, "gpu0", "gpu3"), Rate{240e9});
  EXPECT_EQ(machine.route(machine.gpus()[0], machine.gpus()[3]).size(), 2U);
}

TEST(ImportNvidiaSmi, RefusesOtherTextsByLine) {
  const auto refused = [](const std::string& from, const std::string& to,
                          const std::vector<std::string>& words) {
    std::string text = smi;
    text.replace(text.find(from), from.size(), to);
    expect_input_error([&] { import_nvidia_smi(text, "topo.txt", kind(), {}); }, words);
  };
  refused("NV2\tSYS\tPIX\t0", "NX2\tSYS\tPIX\t0", {"topo.txt:2: cell: 'NX2' is unknown"});
  refused("GPU0\t X \tPIX", "GPU0\tPIX\t X ",
          {"topo.txt:2: GPU0 to GPU0: 'PIX' is not X"});
  refused("GPU1\tPIX\t X ", "GPU1\tX\tPIX", {"topo.txt:3: GPU1 to GPU0: 'X' is not X"});
  refused("GPU1\tPIX\t X ", "GPU1\tSYS\t X ",
          {"topo.txt:3: GPU1 to GPU0: 'SYS' differs from 'PIX'"});
  refused("PIX\tNV2", "PIX\tNV99",
          {"topo.txt:2: cell: 'NV99' is unknown; expected X, NV1 to NV18"});
  refused("\tGPU1\tGPU2", "\tGPU0\tGPU2", {"topo.txt:1: 'GPU0' appears twice"});
  refused("GPU1\tPIX\t X ", "GPU2\tPIX\t X ", {"topo.txt:4: row: 'GPU2' appears twice"});
  refused("GPU1\tPIX\t X ", "GPU7\tPIX\t X ", {"topo.txt:3: row: 'GPU7' is unknown"});
  refused("GPU3\tSYS\tSYS\tNODE\t X \tSYS\t24-47\t1\t\tN/A\n", "",
          {"4 GPUs in the header, 3 rows"});
  refused("GPU1\tPIX\t X \tSYS\tSYS\tSYS\t0-23\t0\t\tN/A", "GPU1\tPIX",
          {"topo.txt:3: cells: '1' is not 5"});
  expect_input_error([] { import_nvidia_smi("nothing", "topo.txt", kind(), {}); },
                     {"topo.txt:1: line with"});
}

const std::string nccl_tree = R"(<system version="1">
  <cpu numaid="0" arch="x86_64">
    <pci busid="0000:03:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:06:00.0" class="0x030200" link_speed="8 GT/s" link_width="16">
        <gpu dev="0" sm="70" rank="0"><nvlink target="0000:85:00.0" count="2" tclass="0x030200"/></gpu>
      </pci>
      <pci busid="0000:07:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="8">
        <gpu dev="1" sm="70" rank="1"/>
      </pci>
      <pci busid="0000:05:00.0" class="0x020700"><nic><net name="mlx5_0"/></nic></pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64">
    <pci busid="0000:85:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="2" sm="70" rank="2"><nvlink target="0000:06:00.0" count="2" tclass="0x030200"/></gpu>
    </pci>
  </cpu>
</system>)";

TEST(ImportNccl, TheTreeOfPcieHasItsSpeeds) {
  const Topology machine =
      checked(import_nccl_xml(nccl_tree, "n.xml", kind(), {.nvlink = Rate{20e9}}));
  EXPECT_EQ(machine.gpus().size(), 3U);
  const double x16 = 8e9 * 16 / 8 * 128 / 130 * 0.87;
  EXPECT_NEAR(pair(machine, "host0", "gpu0").value, x16, 1);
  EXPECT_NEAR(pair(machine, "host0", "gpu1").value, x16,
              1);  // twice the speed, half the width
  EXPECT_EQ(source_kind(machine, "pci0->gpu1"), Source::Kind::measured);
  EXPECT_EQ(source_kind(machine, "cpu1->gpu2"),
            Source::Kind::assumed);  // without a speed
  EXPECT_EQ(pair(machine, "gpu0", "gpu2"), Rate{40e9});
  EXPECT_EQ(machine.description().vertices.size(),
            8U);  // 2 hosts, 2 sockets, the switch, 3 GPUs; without network cards
}

TEST(ImportNccl, NvlinksToOtherDevicesLeadToASwitch) {
  std::string text = nccl_tree;
  for (size_t at; (at = text.find("tclass=\"0x030200\"")) != std::string::npos;)
    text.replace(at, 17, "tclass=\"0x068000\"");
  for (size_t at; (at = text.find("nvlink target=\"0000:")) != std::string::npos;)
    text.replace(at + 15, 4, "ffff");
  const Topology machine =
      checked(import_nccl_xml(text, "n.xml", kind(), {.nvlink = Rate{20e9}}));
  EXPECT_EQ(machine.route(machine.gpus()[0], machine.gpus()[2]).size(), 2U);
  EXPECT_EQ(pair(machine, "gpu0", "gpu2"), Rate{40e9});
}

/// Expects an error after replacing the first `from` with `to`.
void nccl_refused(const std::string& from, const std::string& to,
                  const std::vector<std::string>& words) {
  std::string text = nccl_tree;
  text.replace(text.find(from), from.size(), to);
  expect_input_error([&] { import_nccl_xml(text, "n.xml", kind(), {}); }, words);
}

TEST(ImportNccl, RefusesOtherTexts) {
  const auto refused = nccl_refused;
  refused("</system>", "", {"n.xml:", "expected XML"});
  refused("dev=\"1\"", "dev=\"one\"", {"n.xml:8: gpu: dev: 'one' is not 0 to 1048576"});
  refused("dev=\"1\"", "dev=\"0\"", {"dev: '0' is another GPU's"});
  for (const char* count : {"", "4.7abc", "1e3", "-1", "19"})
    refused("count=\"2\"", fmt::format("count=\"{}\"", count),
            {fmt::format("n.xml:5: nvlink: count: '{}' is not 1 to 18", count)});
  refused("<pci busid=\"0000:07:00.0\"", "<pci",
          {"n.xml:7: pci: busid: '' is not an address of PCI; expected such as "
           "0000:06:00.0"});
  refused("0000:07:00.0", "0000:06:00.0",
          {"n.xml:7: pci: busid: '0000:06:00.0' is another device's"});
  refused("<cpu numaid=\"1\"", "<cpu host_hash=\"0x2\" numaid=\"1\"",
          {"n.xml:13: cpu: host_hash: '0x2' differs from '' of the first host; expected "
           "the file of one host"});
  expect_input_error([] { import_nccl_xml("<system/>", "n.xml", kind(), {}); },
                     {"element 'pci' with a 'gpu'"});
  expect_input_error([] { import_nccl_xml("<graphs/>", "n.xml", kind(), {}); },
                     {"element 'system'"});
  std::string deep, end;
  for (int i = 0; i < 100000; ++i) deep += "<a>", end += "</a>";
  expect_input_error(
      [&] {
        import_nccl_xml("<system>" + deep + end + "</system>", "n.xml", kind(), {});
      },
      {"n.xml:1: element: 'a' is in more than 200 others; expected fewer"});
}

TEST(ImportNccl, RefusesInvalidSpeedsWidthsAndCapabilities) {
  for (const char* speed : {"fast", "0 GT/s", "-8 GT/s", "9 GT/s", "8"})
    nccl_refused(
        "link_speed=\"8 GT/s\"", fmt::format("link_speed=\"{}\"", speed),
        {fmt::format(
            "n.xml:3: pci: link_speed: '{}' is unknown; expected 2.5, 5, 8, 16, 32, 64, "
            "128 GT/s, or 'Unknown'",
            speed)});
  for (const char* width : {"wide", "-1", "3", "64", "16x"})
    nccl_refused(
        "link_width=\"8\"", fmt::format("link_width=\"{}\"", width),
        {fmt::format("n.xml:7: pci: link_width: '{}' is unknown; expected 1, 2, 4,",
                     width)});
  for (const char* sm : {"seventy", "0", "7.0", "-70"})
    nccl_refused("sm=\"70\"", fmt::format("sm=\"{}\"", sm),
                 {fmt::format("n.xml:5: gpu: sm: '{}' is not 10 to 999", sm)});
}

TEST(ImportNccl, RefusesInvalidAndDuplicateNumaDomains) {
  nccl_refused(
      "numaid=\"1\"", "numaid=\"0\"",
      {"n.xml:13: cpu: numaid: '0' is another cpu's; expected a number of its own"});
  nccl_refused(" numaid=\"1\"", "", {"n.xml:13: cpu: numaid: '' is not -1 to 1023"});
  nccl_refused("numaid=\"1\"", "numaid=\"one\"", {"n.xml:13: cpu: numaid: 'one'"});
}

TEST(ImportNccl, RefusesNvlinksWithoutAnOppositeDirection) {
  nccl_refused(
      "count=\"2\"", "count=\"3\"",
      {"n.xml:5: gpu: gpu0: has 3 links to gpu2, which has 2 back; expected as many"});
  nccl_refused("count=\"2\"", "count=\"1\"",
               {"n.xml:15: gpu: gpu2: has 2 links to gpu0, which has 1 back"});
  nccl_refused("<nvlink target=\"0000:85:00.0\" count=\"2\" tclass=\"0x030200\"/>", "",
               {"n.xml:15: gpu: gpu2: has 2 links to gpu0, which has 0 back"});
}

TEST(ImportNccl, RefusesInvalidNumbersOfC2cLinks) {
  nccl_refused("<nvlink target=\"0000:85:00.0\"",
               "<c2c count=\"ten\" bw=\"44712\"/><nvlink target=\"0000:85:00.0\"",
               {"n.xml:5: c2c: count: 'ten' is not 0 to 1000"});
}

std::string nvbandwidth(const std::string& more = "") {
  return R"({"nvbandwidth": {"version": "v0.8", "testcases": [
    {"name": "host_to_device_memcpy_ce", "bandwidth_matrix": [["55", "56", "57"]]},
    {"name": "device_to_host_memcpy_ce", "bandwidth_matrix": [["51", "52", "53"]]},
    {"name": "host_to_device_bidirectional_memcpy_ce", "bandwidth_matrix": [["40", "40", "40"]]},
    {"name": "device_to_host_bidirectional_memcpy_ce", "bandwidth_matrix": [["30", "30", "30"]]},
    {"name": "host_to_all_memcpy_ce", "bandwidth_matrix": [["20", "20", "20"]]},
    {"name": "device_to_device_memcpy_read_sm", "status": "Waived"})" +
         more + "]}}";
}

TEST(ImportNvbandwidth, RatesBecomeLinksAndSharedLimitsBecomeGroups) {
  const Topology machine = checked(import_nvbandwidth(nvbandwidth(), "b.json", kind()));
  EXPECT_EQ(pair(machine, "host", "gpu1"), Rate{56e9});
  EXPECT_EQ(pair(machine, "gpu2", "host"), Rate{53e9});
  ASSERT_EQ(machine.groups().size(), 4U);
  EXPECT_EQ(machine.groups()[0].both_busy->saturated(), Rate{70e9});
  EXPECT_EQ(machine.groups()[3].capacity->at(3), Rate{60e9});
  EXPECT_EQ(machine.groups()[3].capacity->at(1), Rate{57e9});
  EXPECT_FALSE(machine.has_route(machine.gpus()[0], machine.gpus()[1]));
}

/// `reads_or_writes`: "read" or "write".
std::string with_peers(const std::string& reads_or_writes) {
  return nvbandwidth(R"(, {"name": "device_to_device_memcpy_)" + reads_or_writes +
                     R"(_ce",
                       "bandwidth_matrix": [["N/A", "100", "0"], ["200", "N/A", "300"], ["N/A", "400", "N/A"]]})");
}

TEST(ImportNvbandwidth, ReadsGoFromColumnToRow) {
  const Topology machine =
      checked(import_nvbandwidth(with_peers("read"), "b.json", kind()));
  EXPECT_EQ(pair(machine, "gpu1", "gpu0"), Rate{100e9});
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{200e9});
  EXPECT_EQ(pair(machine, "gpu2", "gpu1"), Rate{300e9});
  EXPECT_FALSE(machine.has_route(machine.gpus()[2], machine.gpus()[0]));
}

TEST(ImportNvbandwidth, AllGpusInBothDirectionsAreAGroup) {
  const Topology machine = checked(import_nvbandwidth(nvbandwidth(R"(,
      {"name": "host_to_all_bidirectional_memcpy_ce", "bandwidth_matrix": [["20", "20", "20"]]},
      {"name": "all_to_host_bidirectional_memcpy_ce", "bandwidth_matrix": [["5", "5", "5"]]})"),
                                                      "b.json", kind()));
  const auto all = nearest_hosts(machine);
  ASSERT_EQ(all.size(), 3U);
  for (const NearestHost& each : all) {
    EXPECT_NEAR(each.in_both.value, 40e9, 1);
    EXPECT_NEAR(each.out_both.value, 30e9, 1);
    EXPECT_NEAR(each.in_all_both.value, 20e9, 1);
    EXPECT_NEAR(each.out_all_both.value, 5e9, 1);
  }
}

TEST(ImportNvbandwidth, CasesThatDidNotPassAreLeftOut) {
  const std::string failed = R"(, {"name": "device_to_host_memcpy_ce", "status": "Error",
                                   "bandwidth_matrix": [["1", "1", "1"]]})";
  EXPECT_EQ(pair(checked(import_nvbandwidth(nvbandwidth(failed), "b.json", kind())),
                 "gpu0", "host"),
            Rate{51e9});
}

TEST(ImportNvbandwidth, WritesGoFromRowToColumn) {
  const Topology machine =
      checked(import_nvbandwidth(with_peers("write"), "b.json", kind()));
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{100e9});
  EXPECT_EQ(pair(machine, "gpu1", "gpu0"), Rate{200e9});
  EXPECT_FALSE(machine.has_route(machine.gpus()[0], machine.gpus()[2]));
}

TEST(ImportNvbandwidth, PairsOfEqualRatesShareASwitch) {
  const Topology machine = checked(
      import_nvbandwidth(nvbandwidth(R"(, {"name": "device_to_device_memcpy_read_ce",
                       "bandwidth_matrix": [["0.00", "380", "381"], ["382", "0.00", "383"], ["384", "385", "0.00"]]})"),
                         "b.json", kind()));
  EXPECT_EQ(machine.route(machine.gpus()[0], machine.gpus()[1]).size(), 2U);
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{383e9});  // the maximum into gpu1
  EXPECT_EQ(source_kind(machine, "gpu0->peer-switch"), Source::Kind::assumed);
}

TEST(ImportNvbandwidth, RefusesOtherTexts) {
  const auto refused = [](const std::string& text,
                          const std::vector<std::string>& words) {
    expect_input_error([&] { import_nvbandwidth(text, "b.json", kind()); }, words);
  };
  refused("[", {"b.json:1", "not JSON"});
  refused("{}", {"nvbandwidth: is missing"});
  refused(R"({"nvbandwidth": {"testcases": []}})", {"host_to_device_memcpy_ce"});
  refused(
      R"({"nvbandwidth": {"testcases": [{"name": "host_to_device_memcpy_ce", "bandwidth_matrix": [["fast"]]}]}})",
      {"/nvbandwidth/testcases/0/bandwidth_matrix", "fast"});
  refused(
      R"({"nvbandwidth": {"testcases": [{"name": "host_to_device_memcpy_ce", "bandwidth_matrix": [["N/A"]]}]}})",
      {"b.json: rate from the host to GPU 0"});
  refused(
      nvbandwidth(
          R"(, {"name": "host_to_device_memcpy_ce", "bandwidth_matrix": [["1", "2", "3"]]})"),
      {"/nvbandwidth/testcases/6", "host_to_device_memcpy_ce", "each test case once"});
  refused(nvbandwidth(
              R"(, {"name": "all_to_host_memcpy_ce", "bandwidth_matrix": [["1", "2"]]})"),
          {"all_to_host_memcpy_ce: 2 GPUs; expected 3"});
  refused(
      nvbandwidth(
          R"(, {"name": "device_to_device_memcpy_read_ce", "bandwidth_matrix": [["1", "2"]]})"),
      {"is not 3 x 3"});
}

}  // namespace
}  // namespace tilerail
