// Imports of real tool outputs on common machines: DGX A100, DGX H100, DGX-1, AC922, a
// cloud node.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/import/nccl_elements.hpp"
#include "tests/support/imported.hpp"

namespace tilerail {
namespace {

using namespace imported;

Topology smi_machine(const std::string& text) {
  return Topology{import_nvidia_smi(text, "topo.txt", kind(), {})};
}
Topology from_nccl(const std::string& text) {
  return Topology{import_nccl_xml(text, "nccl.xml", kind(), {})};
}

// Pairs of GPUs share a PCIe switch, which is visible only in the columns of network
// cards. Rows of cards and two legends follow.
TEST(DumpsOfNvidiaSmi, DgxA100) {
  const char* const affinity[] = {"48-63,176-191\t3", "16-31,144-159\t1",
                                  "112-127,240-255\t7", "80-95,208-223\t5"};
  std::string text = "        \x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7";
  for (int card = 0; card < 10; ++card) text += fmt::format("\tmlx5_{}", card);
  text += "\tCPU Affinity\tNUMA Affinity\x1b[0m\n";
  for (int gpu = 0; gpu < 8; ++gpu) {
    text += fmt::format("GPU{}", gpu);
    for (int other = 0; other < 8; ++other) text += gpu == other ? "\t X " : "\tNV12";
    for (int card = 0; card < 10; ++card)
      text += card / 2 == gpu / 2 && card < 8 ? "\tPXB" : "\tSYS";
    text += fmt::format("\t{}\n", affinity[gpu / 2]);
  }
  for (int card = 0; card < 10; ++card)
    text += fmt::format("mlx5_{}\tPXB\tPXB\tSYS\n", card);
  text +=
      "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # "
      "NVLinks\n\nNIC Legend:\n\n  NIC0: "
      "m\n";
  const Topology machine = smi_machine(text);
  EXPECT_EQ(machine.gpus().size(), 8U);
  EXPECT_EQ(machine.hosts().size(), 4U);
  EXPECT_EQ(way(machine, "host3", "gpu1"), "host3->cpu3 cpu3->plx0 plx0->gpu1");
  EXPECT_EQ(way(machine, "host1", "gpu2"), "host1->cpu1 cpu1->plx2 plx2->gpu2");
  EXPECT_EQ(machine.memory(machine.hosts()[0]).name, "host1");
  EXPECT_EQ(way(machine, "gpu0", "gpu7"), "gpu0->nvsw nvsw->gpu7");
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), assumptions::nvlink * 12);
}

// Every GPU has a switch with its own card; the table has an additional column.
TEST(DumpsOfNvidiaSmi, DgxH100) {
  std::string text =
      "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\tNUMA "
      "Affinity\tGPU NUMA ID\n";
  for (int gpu = 0; gpu < 4; ++gpu) {
    text += fmt::format("GPU{}", gpu);
    for (int other = 0; other < 4; ++other) text += gpu == other ? "\t X " : "\tNV18";
    for (int card = 0; card < 4; ++card) text += card == gpu ? "\tPXB" : "\tNODE";
    text += "\t0-55,112-167\t0\t\tN/A\n";
  }
  const Topology machine = smi_machine(text);
  EXPECT_EQ(machine.hosts().size(), 1U);
  EXPECT_EQ(way(machine, "host0", "gpu1"), "host0->cpu0 cpu0->gpu1");
  EXPECT_EQ(way(machine, "gpu2", "gpu1"), "gpu2->nvsw nvsw->gpu1");
}

// The hybrid cube mesh, from a driver with SOC for SYS and without a NUMA column.
TEST(DumpsOfNvidiaSmi, Dgx1WithAnOldDriver) {
  const Topology machine = smi_machine(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tCPU Affinity\n"
      "GPU0\t X \tNV1\tNV2\tSOC\tPIX\t0-19\nGPU1\tNV1\t X \tPIX\tNV2\tPIX\t0-19\n"
      "GPU2\tNV2\tPIX\t X \tSOC\tPHB\t0-19\nGPU3\tSOC\tNV2\tSOC\t X "
      "\tSOC\t20-39\nmlx5_0\tPIX\tPIX\tPHB\tSOC\t X \n");
  EXPECT_EQ(machine.hosts().size(), 2U);
  EXPECT_EQ(pair(machine, "gpu0", "gpu2"), assumptions::nvlink * 2);
  EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->gpu2");
  EXPECT_EQ(way(machine, "host0", "gpu2"),
            "host0->cpu0 cpu0->plx0 plx0->gpu2");  // with gpu1, which shares it with gpu0
}

// No affinities, a skipped number, and the remains of escapes after copying from a
// terminal.
TEST(DumpsOfNvidiaSmi, CloudNodeAsPasted) {
  const Topology machine = smi_machine(
      "$ nvidia-smi topo -m\r\n        [4mGPU0    GPU2    GPU NUMA ID[0m\r\nGPU0     X   "
      "   PHB     N/A\r\n"
      "GPU2    PHB      X      N/A\r\n");
  EXPECT_EQ(machine.hosts().size(), 1U);
  EXPECT_TRUE(machine.find_gpu(2));
  EXPECT_FALSE(machine.find_gpu(1));
  EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->cpu0 cpu0->gpu2");
}

TEST(DumpsOfNvidiaSmi, OneGpu) {
  const Topology machine = smi_machine(
      "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t0-15\t0\t\tN/A\n");
  EXPECT_EQ(machine.gpus().size(), 1U);
}

/// Two GPUs and a card behind two levels of switches, six NVSwitches.
std::string dgx_a100() {
  std::string gpus;
  for (int gpu = 0; gpu < 2; ++gpu) {
    gpus += fmt::format(
        "<pci busid=\"0000:0{}:00.0\" class=\"0x030200\" vendor=\"0x10de\" "
        "device=\"0x20b0\" link_speed=\"16.0 GT/s "
        "PCIe\" link_width=\"16\"><gpu dev=\"{}\" sm=\"80\" rank=\"{}\" gdr=\"1\">",
        7 + 8 * gpu > 9 ? 8 : 7, gpu, gpu);
    for (int nvs = 0; nvs < 6; ++nvs)
      gpus += fmt::format(
          "<nvlink target=\"0000:c{}:00.0\" count=\"2\" tclass=\"0x068000\"/>", 4 + nvs);
    gpus += "</gpu></pci>";
  }
  return "<system version=\"1\">\n<cpu host_hash=\"0x9e1e4f1a\" numaid=\"3\" "
         "affinity=\"ffff0000,00000000,00000000,00000000,ffff0000\" arch=\"x86_64\" "
         "vendor=\"AuthenticAMD\" "
         "familyid=\"143\" modelid=\"49\">\n<pci busid=\"0000:01:00.0\" "
         "class=\"0x060400\" vendor=\"0x1000\" "
         "link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">" +
         gpus +
         "<pci busid=\"0000:0c:00.0\" class=\"0x020700\" link_speed=\"16.0 GT/s PCIe\" "
         "link_width=\"16\"><nic><net "
         "name=\"mlx5_0\" dev=\"0\" speed=\"200000\" port=\"1\" latency=\"0.000000\" "
         "guid=\"0x1\" maxconn=\"131072\" "
         "gdr=\"1\" coll=\"1\"/></nic></pci></pci></cpu>\n<cpu numaid=\"0\" "
         "arch=\"x86_64\"><nic><net name=\"eth0\" "
         "dev=\"1\" speed=\"10000\"/></nic></cpu></system>\n";
}

TEST(DumpsOfNccl, DgxA100) {
  const Topology machine = from_nccl(dgx_a100());
  EXPECT_EQ(machine.hosts().size(), 1U);  // the other CPU has no GPU
  EXPECT_EQ(way(machine, "host3", "gpu1"), "host3->cpu3 cpu3->pci0 pci0->gpu1");
  EXPECT_EQ(way(machine, "gpu0", "gpu1"), "gpu0->nvsw nvsw->gpu1");
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), assumptions::nvlink * 12);
  EXPECT_NEAR(pair(machine, "host3", "gpu0").value, 31.5e9 * assumptions::reached,
              0.01e9);  // PCIe 4
}

// IBM's AC922: three NVLinks to the processor, one element for each of its bridges, and
// three to the other GPU.
TEST(DumpsOfNccl, NvlinksToAProcessorTakeThePlaceOfPcie) {
  std::string gpus;
  for (int gpu = 0; gpu < 2; ++gpu) {
    gpus += fmt::format(
        "<pci busid=\"0004:0{}:00.0\" class=\"0x030200\" link_speed=\"8 GT/s\" "
        "link_width=\"8\"><gpu "
        "dev=\"{}\" sm=\"70\" rank=\"{}\">",
        4 + gpu, gpu, gpu);
    for (int bridge = 0; bridge < 3; ++bridge)
      gpus += fmt::format(
          "<nvlink target=\"0007:00:0{}.{}\" count=\"1\" tclass=\"0x068001\"/>", gpu,
          bridge);
    gpus += fmt::format(
        "<nvlink target=\"0004:0{}:00.0\" count=\"3\" tclass=\"0x030200\"/></gpu></pci>",
        5 - gpu);
  }
  const Topology machine =
      from_nccl("<system version=\"1\"><cpu numaid=\"0\" arch=\"ppc64\">" + gpus +
                "</cpu></system>");
  EXPECT_EQ(pair(machine, "host0", "gpu0"), assumptions::nvlink * 3);
  EXPECT_EQ(way(machine, "host0", "gpu0"), "host0->cpu0 cpu0->gpu0");
  EXPECT_EQ(way(machine, "gpu0", "gpu1"), "gpu0->gpu1");
}

// NVLink-C2C is NCCL's element c2c; the PCIe of the GPU is slow and unused.
TEST(DumpsOfNccl, GraceHopperHasTheRateOfC2c) {
  const std::string begin =
      "<system version=\"1\"><cpu host_hash=\"0xabc\" numaid=\"0\" arch=\"arm64\"><pci "
      "busid=\"0009:01:00.0\" "
      "class=\"0x030200\" link_speed=\"2.5 GT/s PCIe\" link_width=\"1\"><gpu dev=\"0\" "
      "sm=\"90\" rank=\"0\">";
  const Topology machine{import_nccl_xml(
      begin + R"(<c2c bw="44712" count="10"/></gpu></pci></cpu></system>)", "n.xml",
      kind(), {.host_memory = Rate{1e12}})};
  EXPECT_NEAR(pair(machine, "host0", "gpu0").value, 447.12e9 * assumptions::reached, 1);
  EXPECT_EQ(source_kind(machine, "cpu0->gpu0"), Source::Kind::measured);
  const Topology unknown{
      import_nccl_xml(begin + R"(<c2c bw="0" count="10"/></gpu></pci></cpu></system>)",
                      "n.xml", kind(), {.c2c = Rate{200e9}})};
  EXPECT_EQ(pair(unknown, "gpu0", "host0"), Rate{200e9});
  EXPECT_EQ(source_kind(unknown, "gpu0->cpu0"), Source::Kind::assumed);
}

// A GPU whose memory is a NUMA domain is coherent with its processor.
TEST(DumpsOfNvidiaSmi, QuadGraceHopper) {
  std::string text =
      "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (int gpu = 0; gpu < 4; ++gpu) {
    text += fmt::format("GPU{}", gpu);
    for (int other = 0; other < 4; ++other) text += gpu == other ? "\t X " : "\tNV6";
    text += fmt::format("\t{}-{}\t{}\t\t{}\n", 72 * gpu, 72 * gpu + 71, gpu, 4 + gpu);
  }
  const Topology machine{import_nvidia_smi(
      text, "t", kind(), {.c2c = Rate{400e9}, .host_memory = Rate{500e9}})};
  EXPECT_EQ(machine.hosts().size(), 4U);
  EXPECT_EQ(pair(machine, "host1", "gpu1"), Rate{400e9});
  EXPECT_EQ(pair(machine, "gpu0", "gpu3"), assumptions::nvlink * 6);
  EXPECT_EQ(way(machine, "gpu0", "gpu3"),
            "gpu0->gpu3");  // even if C2C and sockets are as fast
}

/// Two GPUs with a compute capability, joined by this many NVLinks.
Topology two_joined(const std::string& sm, int links, const ImportRates& rates = {}) {
  std::string gpus;
  for (int gpu = 0; gpu < 2; ++gpu)
    gpus += fmt::format(
        "<pci busid=\"0000:0{}:00.0\" link_speed=\"32.0 GT/s PCIe\" "
        "link_width=\"16\"><gpu dev=\"{}\" {}><nvlink "
        "target=\"0000:0{}:00.0\" count=\"{}\" tclass=\"0x030200\"/></gpu></pci>",
        gpu, gpu, sm.empty() ? "" : "sm=\"" + sm + "\"", 1 - gpu, links);
  return Topology{import_nccl_xml(
      "<system version=\"1\"><cpu numaid=\"0\">" + gpus + "</cpu></system>", "n.xml",
      kind(), rates)};
}

TEST(DumpsOfNccl, NvlinksHaveTheRateOfTheirGeneration) {
  const std::pair<const char*, double> rates[] = {
      {"60", 20e9}, {"70", 25e9}, {"80", 25e9},  {"86", 14.0625e9},
      {"90", 25e9}, {"", 25e9},   {"100", 50e9}, {"103", 50e9}};
  for (const auto& [sm, rate] : rates)
    EXPECT_NEAR(pair(two_joined(sm, 4), "gpu0", "gpu1").value,
                4 * rate * assumptions::reached, 1)
        << sm;
  EXPECT_EQ(pair(two_joined("100", 4, {.nvlink = Rate{10e9}}), "gpu0", "gpu1"),
            Rate{40e9});
}

// One NVLink is slower than PCIe 5.
TEST(DumpsOfNccl, PeersUseNvlinkEvenIfPcieIsFaster) {
  const Topology machine = two_joined("80", 1);
  EXPECT_EQ(way(machine, "gpu0", "gpu1"), "gpu0->gpu1");
  EXPECT_EQ(
      way(smi_machine(
              "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV1\t0-3\nGPU1\tNV1\t X \t0-3\n"),
          "gpu1", "gpu0"),
      "gpu1->gpu0");
}

// In a virtual machine, the file contains neither speeds nor switches.
TEST(DumpsOfNccl, WithoutSpeedsPcieIsAssumed) {
  const Topology machine = from_nccl(
      "<system version=\"1\"><cpu numaid=\"-1\" arch=\"x86_64\"><pci "
      "busid=\"0000:00:04.0\" class=\"0x030200\" "
      "link_speed=\"Unknown speed\" link_width=\"63\"><gpu dev=\"0\" sm=\"80\" "
      "rank=\"0\" "
      "gdr=\"0\"/></pci></cpu></system>");
  EXPECT_EQ(pair(machine, "host0", "gpu0"), ImportRates{}.pcie);
}

/// Output of `nvbandwidth -j`; `head` and `status` differ by version, rates are texts or
/// numbers.
std::string nvbandwidth(const std::string& head, const std::string& status,
                        const std::string& one, const std::string& two) {
  return "{\"nvbandwidth\": {" + head +
         ", \"testcases\": [{\"name\": \"host_to_device_memcpy_ce\", " + status +
         "\"bandwidth_description\": \"memcpy CE CPU(row) -> GPU(column) bandwidth "
         "(GB/s)\", \"bandwidth_matrix\": [[" +
         one + ", " + two +
         "]], \"average\": 55.0, \"max\": 55.6, \"min\": 54.0, \"sum\": 110.0}, " +
         "{\"name\": \"device_to_device_memcpy_read_ce\", " + status +
         "\"bandwidth_matrix\": [[\"N/A\", " + two + "], [" + two +
         ", \"N/A\"]]}, {\"name\": \"device_local_copy\", " + status +
         "\"bandwidth_matrix\": [[\"1500.1\", \"1499.9\"]]}, " +
         "{\"name\": \"multinode_device_to_device_memcpy_read_ce\", \"status\": "
         "\"Waived\"}]}}";
}

TEST(DumpsOfNvbandwidth, FieldsOfOldAndNewVersions) {
  const std::string old =
      nvbandwidth(R"("git_version": "v0.4", "Driver Version": "535.104.05")", "",
                  R"("55.60")", R"("54.00")");
  const std::string recent = nvbandwidth(
      R"("CUDA Runtime Version": 12090, "version": "v0.8", "GPU Device list": [])",
      R"("status": "Passed", )", "55.6", "54");
  for (const std::string& text : {old, recent}) {
    const Topology machine{import_nvbandwidth(text, "b.json", kind())};
    EXPECT_EQ(pair(machine, "host", "gpu0"), Rate{55.6e9});
    EXPECT_EQ(pair(machine, "gpu1", "gpu0"), Rate{54e9});
  }
}

TEST(LinkValues, OnlyWellFormedSpeedsAndWidthsAreAccepted) {
  EXPECT_EQ(pcie_transfers("16.0 GT/s PCIe"), 16);
  EXPECT_EQ(pcie_transfers("2.5 GT/s"), 2.5);
  EXPECT_EQ(pcie_lanes("8"), 8);
  for (const char* speed : {"", "Unknown speed", "Unknown", "255"})
    EXPECT_EQ(pcie_transfers(speed), 0) << speed;
  for (const char* width : {"", "0", "63", "255"})
    EXPECT_EQ(pcie_lanes(width), 0) << width;
  for (const char* speed :
       {"16 bananas", "-3", "GT/s", "4.7abc GT/s", "1e2 GT/s", "inf GT/s"})
    EXPECT_FALSE(pcie_transfers(speed)) << speed;
  for (const char* width : {"-8", "16x", "3", "1e1"})
    EXPECT_FALSE(pcie_lanes(width)) << width;
}

TEST(LinkValues, ThePayloadDependsOnTheEncoding) {
  EXPECT_NEAR(pcie_payload(16, 8).value, 16e9 * 128 / 130, 1);
  EXPECT_NEAR(pcie_payload(2.5, 16).value, 2.5e9 * 2 * 0.8, 1);
  EXPECT_NEAR(pcie_payload(64, 16).value, 121e9, 1);  // equal to PCIe 6 in `--pcie 6`
}

TEST(Assumptions, LatenciesOfLinksAddUpToLatenciesOfCopies) {
  using namespace assumptions;
  EXPECT_DOUBLE_EQ(host_latency.value, 2.5e-6);
  EXPECT_EQ(std::size(pcie), size_t(last_pcie - first_pcie + 1));
  for (size_t i = 0; i < pcie.size(); ++i)
    EXPECT_NEAR(pcie[i].value /
                    (8e9 * (1 << i) * 16 / 8 * (8 << i < flits_from ? line_code : flits)),
                1, 1e-3);
}

}  // namespace
}  // namespace tilerail
