// Machines as topology files of NCCL, and what imports make of these.
#include "model/import/nccl_export.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/imported.hpp"
#include "tests/support/nccl_files.hpp"

namespace tilerail {
namespace {

using namespace imported;

Topology imported_from(const std::string& text) { return Topology{import_nccl_xml(text, "n.xml", kind(), {})}; }

/// All but what the sources say.
std::string without_sources(const Topology& machine) {
  Topology::Description d = machine.description();
  for (Source& source : d.sources) source.text = "";
  return to_toml(d);
}

TEST(NcclExport, WhatWasImportedIsImportedAgain) {
  for (const auto& [name, text] : nccl_files::all()) {
    const Topology machine = imported_from(text);
    const NcclFile file = to_nccl_xml(machine);
    EXPECT_EQ(without_sources(imported_from(file.text)), without_sources(machine)) << name << "\n" << file.text;
  }
}

TEST(NcclExport, TheTextOfASmallMachine) {
  const std::string text = to_nccl_xml(imported_from(nccl_files::hidden_gpus())).text;
  EXPECT_EQ(text,
            "<!-- Machine 'nccl' of TileRail. Addresses of PCI are made up.\n"
            "     rates are the nearest that lanes of PCIe and numbers of links have.\n"
            "     capacity groups have no form in the file; the machine has 5.\n"
            "     latencies, rates of host memories and rates between sockets have no form in the file. -->\n"
            "<system version=\"1\">\n"
            "  <cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"17\">\n"
            "    <pci busid=\"0000:01:00.0\" class=\"0x030200\" link_speed=\"8.0 GT/s PCIe\" link_width=\"16\">\n"
            "      <gpu dev=\"0\"/>\n"
            "    </pci>\n"
            "  </cpu>\n"
            "  <cpu numaid=\"1\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"17\">\n"
            "    <pci busid=\"0000:02:00.0\" class=\"0x030200\" link_speed=\"8.0 GT/s PCIe\" link_width=\"16\">\n"
            "      <gpu dev=\"5\"/>\n"
            "    </pci>\n"
            "  </cpu>\n"
            "</system>\n");
}

TEST(NcclExport, LinksAreThoseOfTheirKind) {
  const auto holds = [](const std::string& file, const std::string& words) {
    return to_nccl_xml(imported_from(file)).text.find(words) != std::string::npos;
  };
  EXPECT_TRUE(holds(nccl_files::xgmi(), "<system version=\"2\">"));
  EXPECT_TRUE(holds(nccl_files::xgmi(), "<gpu dev=\"0\" gcn=\"gfx942\">"));
  EXPECT_TRUE(holds(nccl_files::xgmi(), "count=\"1\" tclass=\"0x120000\"/>"));
  EXPECT_TRUE(holds(nccl_files::dgx(), "count=\"12\" tclass=\"0x068000\"/>"));
  EXPECT_TRUE(holds(nccl_files::dgx(), "<cpu numaid=\"7\" arch=\"x86_64\""));
  EXPECT_TRUE(holds(nccl_files::power9(), "<cpu numaid=\"0\" arch=\"ppc64\">"));
  EXPECT_TRUE(holds(nccl_files::power9(), "count=\"3\" tclass=\"0x068001\"/>"));
  EXPECT_TRUE(holds(nccl_files::grace(), "<cpu numaid=\"1\" arch=\"arm64\">"));
  EXPECT_TRUE(holds(nccl_files::grace(), "<c2c bw=\"447120\" count=\"1\"/>"));
  EXPECT_TRUE(holds(nccl_files::joined_switches(), "<pcilink target=\"0000:03:00.0\"/>"));
}

/// Of 16 lanes of PCIe of this speed, in GB/s.
double lanes16(double transfers) { return transfers * 16 / 8 * 128 / 130 * assumptions::reached; }
double nvlinks(int count) { return 25 * assumptions::reached * count; }

/// What a file says of copies from the first host to gpu0, and from gpu0 to gpu1, in GB/s.
struct Expected {
  const char* machine;
  double from_host, between_gpus;
};

// With the nearest lanes and numbers of NVLinks: 55.4 GB/s of a host and 442 of a port, 24 of PCIe, 26.2 and 93.4, 50
// of a POWER9 and of its GPUs, 3.29 (4 lanes), 10 below an uplink of 12, and 40.
TEST(NcclExport, ShippedMachinesHaveTheNearestRates) {
  const Expected machines[] = {
      {"hgx-h200", lanes16(32), nvlinks(18)},       {"hgx-h200-4", lanes16(32), nvlinks(18)},
      {"hgx-h200-2", lanes16(32), nvlinks(18)},     {"hgx-h200-4-plain", lanes16(32), nvlinks(18)},
      {"hgx-h100-2", lanes16(32), nvlinks(18)},     {"karolina-hgx-a100", lanes16(16), nvlinks(12)},
      {"meluxina-a100", lanes16(16), nvlinks(4)},   {"summit-node", nvlinks(2), nvlinks(2)},
      {"two-gpu", lanes16(8) * 12 / 16, nvlinks(2)}};
  for (const auto& [name, from_host, between_gpus] : machines) {
    const Topology machine = test::shipped(name), again = imported_from(to_nccl_xml(machine).text);
    EXPECT_EQ(again.gpus().size(), machine.gpus().size()) << name;
    EXPECT_NEAR(pair(again, "host0", "gpu0").value / 1e9, from_host, 1e-6) << name;
    EXPECT_NEAR(pair(again, "gpu0", "gpu1").value / 1e9, between_gpus, 1e-6) << name;
  }
  const double old = lanes16(8) * 4 / 16;
  EXPECT_NEAR(pair(imported_from(to_nccl_xml(test::shipped("cocopelia-testbed-1")).text), "host0", "gpu0").value / 1e9,
              old, 1e-6);
}

TEST(NcclExport, WhatTheFileCannotSayIsNamed) {
  const NcclFile file = to_nccl_xml(test::shipped("hgx-h200"));
  ASSERT_EQ(file.notes.size(), 3U);
  EXPECT_EQ(file.notes[1], fmt::format("capacity groups have no form in the file; the machine has {}",
                                       test::shipped("hgx-h200").groups().size()));
  for (const std::string& note : file.notes) EXPECT_NE(file.text.find(note + "."), std::string::npos);
}

TEST(NcclExport, GpusHaveTheAddressesThatAreGiven) {
  const Topology machine = imported_from(nccl_files::joined_switches());
  const auto addresses = pci_addresses({"00000000:01:00.0", "0000:AF:00.0"}, 2);
  const std::string text = to_nccl_xml(machine, addresses).text;
  EXPECT_NE(text.find("<pci busid=\"0000:01:00.0\" class=\"0x030200\""), std::string::npos) << text;
  EXPECT_NE(text.find("<pci busid=\"0000:af:00.0\" class=\"0x030200\""), std::string::npos) << text;
  EXPECT_NE(text.find("<pci busid=\"0000:02:00.0\" class=\"0x060400\""), std::string::npos) << text;  // not 0000:01
  EXPECT_EQ(without_sources(imported_from(text)), without_sources(machine));
  const auto refused = [](const std::vector<std::string>& texts, const std::string& words) {
    expect_input_error([&] { pci_addresses(texts, 2); }, {words});
  };
  refused({"0000:01:00.0", "one"}, "'one' is not an address of PCI");
  refused({"0000:0a:00.0", "00000000:0A:00.0"}, "'00000000:0A:00.0' is given twice");
  refused({"0000:01:00.0"}, "1 addresses; expected 2, one for each GPU by number");
}

/// What nvbandwidth measured of GPUs whose copies from the host have one rate: rates of pairs within two halves and
/// between them, in GB/s.
Topology measured_peers(size_t gpus, const char* host, const char* near, const char* far) {
  std::string hosts, rows;
  for (size_t i = 0; i < gpus; ++i) {
    hosts += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", host);
    rows += i == 0 ? "[" : ", [";
    for (size_t j = 0; j < gpus; ++j)
      rows += fmt::format("{}\"{}\"", j == 0 ? "" : ", ", i == j ? "N/A" : i * 2 / gpus == j * 2 / gpus ? near : far);
    rows += "]";
  }
  const auto test_case = [](const char* name, const std::string& matrix) {
    return fmt::format(R"({{"name": "{}", "status": "Passed", "bandwidth_matrix": [{}]}})", name, matrix);
  };
  return Topology{import_nvbandwidth(R"({"nvbandwidth": {"testcases": [)" +
                                         test_case("host_to_device_memcpy_ce", "[" + hosts + "]") + ", " +
                                         test_case("device_to_device_memcpy_read_ce", rows) + "]}}",
                                     "b.json", kind())};
}

TEST(NcclExport, PeersOverPcieHaveNoNvlinks) {
  const std::tuple<size_t, const char*, const char*, const char*> machines[] = {
      {4, "26.3", "26.3", "22.1"}, {4, "26.3", "26.3", "26.3"}, {8, "12.3", "11", "11"},
      {6, "55", "50", "N/A"},      {2, "13", "13", "10"},       {3, "26", "28", "28"}};
  for (const auto& [gpus, host, near, far] : machines) {
    const NcclFile file = to_nccl_xml(measured_peers(gpus, host, near, far));
    EXPECT_EQ(file.text.find("nvlink"), std::string::npos) << near << "\n" << file.text;
    const Topology again = imported_from(file.text);
    EXPECT_NEAR(pair(again, "gpu0", "gpu1") / pair(again, "host0", "gpu0"), 1, 1e-6);
  }
  for (const char* rate : {"90", "43", "390"})
    EXPECT_NE(to_nccl_xml(measured_peers(4, "26", rate, rate)).text.find("<nvlink"), std::string::npos) << rate;
}

TEST(NcclExport, LinksThatAreNeitherNvlinkNorPcieAreRefused) {
  const auto refused = [](const Topology& machine, const std::vector<std::string>& words) {
    expect_input_error([&] { to_nccl_xml(machine); }, words);
  };
  refused(
      measured_peers(6, "25", "3.5", "3.5"),
      {"nvbandwidth: NCCL's topology files cannot describe this machine: the link between gpu0 and peer-switch (3.5 "
       "GB/s) is slower than one NVLink (21.8 GB/s), and PCIe there has 25 GB/s; expected"});
  refused(measured_peers(2, "12", "3.5", "3.5"), {"the link between gpu0 and gpu1 (3.5 GB/s)"});
  refused(measured_peers(4, "3", "12", "12"), {"the link between gpu0 and peer-switch (12 GB/s)", "PCIe there has 3"});
  refused(measured_peers(4, "55", "30", "30"), {"(30 GB/s) shares PCIe of the host, and PCIe there has 55 GB/s"});
}

TEST(NcclExport, LinksBetweenTwoKindsOfGpusKeepTheirCounts) {
  std::string file = nccl_files::cube_mesh();
  file.replace(file.find("sm=\"70\""), 7, "sm=\"90\"");
  const Topology machine = imported_from(file);
  EXPECT_EQ(without_sources(imported_from(to_nccl_xml(machine).text)), without_sources(machine));
}

TEST(NcclExport, AttributesThatAreNotUtf8AreNamedInAFileThatIs) {
  std::string file = nccl_files::dgx();
  file.replace(file.find("tclass"), 2, "t\x80");
  const Topology machine = imported_from(file);
  EXPECT_EQ(to_toml(read_topology(to_toml(machine.description()), "again.toml").description()),
            to_toml(machine.description()));
}

TEST(NcclExport, SlowNvlinksOfAFileStayNvlinks) {
  const Topology machine{import_nccl_xml(nccl_files::dgx(), "n.xml", kind(), {.nvlink = Rate{1e9}})};
  EXPECT_NE(to_nccl_xml(machine).text.find("<nvlink"), std::string::npos);
}

TEST(NcclExport, MachinesThatHaveNoFormAreRefusedWithTheReason) {
  const auto refused = [](const Topology& machine, const std::vector<std::string>& words) {
    expect_input_error([&] { to_nccl_xml(machine); }, words);
  };
  for (const char* name : {"clx-ai", "clx-ai-hetero"})
    refused(test::shipped(name),
            {name, ": NCCL's topology files cannot describe this machine: the link between plx", "(9.22 GB/s)"});
  refused(test::shipped("pcie-tree-8"), {"the link between root0 and root1 (18 GB/s) makes a second way of PCIe"});
}

}  // namespace
}  // namespace tilerail
