// Imports of `nvidia-smi topo` on machines with defects or unusual configurations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "model/import/gpu_kind.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/imported.hpp"

namespace tilerail {
namespace {

using namespace imported;

constexpr double link = 21.75;  // GB/s of an NVLink

Topology from_smi(const std::string& text, const ImportRates& rates = {}) {
  return written_again(import_nvidia_smi(text, "topo.txt", kind(), rates));
}

void refused_matrix(const std::string& text, const std::vector<std::string>& words) {
  expect_input_error([&] { import_nvidia_smi(text, "topo.txt", kind(), {}); }, words);
}

using Links = std::vector<std::vector<int>>;

/// NV# for counts above 0, else `none`; all GPUs have one NUMA affinity.
std::string text_of(const Links& links, const std::string& none = "PHB") {
  std::vector<std::vector<std::string>> cells(links.size());
  for (size_t i = 0; i < links.size(); ++i)
    for (size_t j = 0; j < links.size(); ++j)
      cells[i].push_back(i == j            ? "X"
                         : links[i][j] > 0 ? fmt::format("NV{}", links[i][j])
                                           : none);
  return smi_text(cells, "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID",
                  "\t0-55\t0\t\tN/A");
}

/// All GPUs on one NVSwitch, GPU i with this many active NVLinks.
Links switched(const std::vector<int>& ports) {
  Links links(ports.size(), std::vector<int>(ports.size()));
  for (size_t i = 0; i < ports.size(); ++i)
    for (size_t j = 0; j < ports.size(); ++j) links[i][j] = std::min(ports[i], ports[j]);
  return links;
}

TEST(SmiNvlinks, AGpuWithFewerNvlinksUpHasASmallerPortOnTheSwitch) {
  const Topology machine = from_smi(text_of(switched({18, 18, 16})));
  EXPECT_NEAR(pair(machine, "gpu0", "gpu1").value, 391.5e9, 1);
  EXPECT_NEAR(pair(machine, "gpu1", "gpu2").value, 348e9, 1);
  EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->nvsw nvsw->gpu2");
  EXPECT_NEAR(all_pairs_busy(machine), 2 * 391.5 + 348, 1e-6);
  for (const int up : {1, 2, 3, 9, 10}) {  // including counts so low that PCIe is faster
                                           // and the sum is at most 18
    const Topology broken = from_smi(text_of(switched({18, 18, up})));
    EXPECT_NEAR(pair(broken, "gpu0", "gpu2").value, up * link * 1e9, 1) << up;
    EXPECT_NEAR(all_pairs_busy(broken), (36 + up) * link, 1e-6) << up;
  }
}

TEST(SmiNvlinks, IslandsOfGpusHaveSeparateSwitches) {
  Links links(6, std::vector<int>(6));
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) links[i][j] = 18, links[3 + i][3 + j] = 12;
  const Topology machine = from_smi(text_of(links));
  EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->nvsw0 nvsw0->gpu2");
  EXPECT_EQ(way(machine, "gpu3", "gpu5"), "gpu3->nvsw1 nvsw1->gpu5");
  EXPECT_EQ(way(machine, "gpu0", "gpu3"), "gpu0->cpu0 cpu0->gpu3");
  EXPECT_NEAR(pair(machine, "gpu3", "gpu4").value, 12 * link * 1e9, 1);
}

TEST(SmiNvlinks, AGpuWithoutNvlinksIsNotOnTheSwitch) {
  Links links = switched({18, 18, 18, 0});
  const Topology machine = from_smi(text_of(links));
  EXPECT_EQ(way(machine, "gpu0", "gpu3"), "gpu0->cpu0 cpu0->gpu3");
  EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->nvsw nvsw->gpu2");
}

TEST(SmiNvlinks, DirectLinksOfFourGpusAddUp) {
  for (const int each : {4, 6}) {  // A100 and H100 boards of four
    const Topology machine = from_smi(text_of(switched({each, each, each, each})));
    EXPECT_EQ(way(machine, "gpu0", "gpu3"), "gpu0->gpu3");
    EXPECT_NEAR(all_pairs_busy(machine), 12 * each * link, 1e-6);
  }
  EXPECT_EQ(way(from_smi(text_of(switched({18, 18}))), "gpu0", "gpu1"), "gpu0->gpu1");
}

TEST(SmiNvlinks, TheKindOfGpuSetsTheNumberOfNvlinks) {
  GpuKind v100 = kind();
  v100.kernels.name = "v100";
  const std::string text = text_of(switched({6, 6, 6}));  // three GPUs of a DGX-2
  EXPECT_EQ(way(Topology{import_nvidia_smi(text, "t", v100, {})}, "gpu0", "gpu1"),
            "gpu0->nvsw nvsw->gpu1");
  EXPECT_EQ(way(from_smi(text), "gpu0", "gpu1"),
            "gpu0->gpu1");  // three GPUs of a board with four H100
}

/// Expects that neither a pair nor the total is faster than before.
void expect_not_faster(const Links& before, const Links& after) {
  const Topology whole{import_nvidia_smi(text_of(before), "t", kind(), {})},
      broken{import_nvidia_smi(text_of(after), "t", kind(), {})};
  for (const MemoryId src : whole.gpus())
    for (const MemoryId dst : whole.gpus()) {
      if (src == dst) continue;
      EXPECT_LE(broken.pair_rate(src, dst).value, whole.pair_rate(src, dst).value)
          << text_of(after);
    }
  EXPECT_LE(all_pairs_busy(broken), all_pairs_busy(whole) * (1 + 1e-9))
      << text_of(before) << text_of(after);
}

// A pair with fewer NVLinks: on a switch, for GPUs with any numbers of them, and for up
// to four GPUs with direct links.
TEST(SmiNvlinksProperty, ABrokenLinkMakesNothingFaster) {
  std::mt19937 random{29};
  const auto below = [&](int end) { return int(random() % unsigned(end)); };
  for (int round = 0; round < 800; ++round) {
    const bool direct = round % 2 == 1;
    const int gpus = direct ? 2 + below(3) : 3 + below(6);
    Links links(size_t(gpus), std::vector<int>(static_cast<size_t>(gpus)));
    for (size_t i = 0; i < links.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        links[i][j] = links[j][i] = direct ? 1 + below(6) : 7 + below(12);
    Links lower = links;
    const size_t i = 1 + size_t(below(gpus - 1)), j = size_t(below(int(i)));
    lower[i][j] = lower[j][i] = 1 + below(links[i][j]);
    expect_not_faster(links, lower);
  }
}

// An initially intact machine whose pairs and GPUs lose more and more NVLinks.
TEST(SmiNvlinksProperty, AMachineThatBreaksBitByBitIsNeverFasterThanBefore) {
  std::mt19937 random{30};
  const auto below = [&](int end) { return int(random() % unsigned(end)); };
  for (const int gpus : {3, 4, 8, 16}) {
    Links links = switched(std::vector<int>(size_t(gpus), 18));
    for (int step = 0; step < 12; ++step) {
      Links lower = links;
      const size_t i = 1 + size_t(below(gpus - 1)), j = size_t(below(int(i)));
      lower[i][j] = lower[j][i] = std::max(1, links[i][j] - 1 - below(4));
      expect_not_faster(links, lower);
      links = lower;
    }
  }
}

TEST(SmiDomains, GpusThatAreSysToEachOtherAreBelowTwoSockets) {
  const std::string header = "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID",
                    behind = "\t\t\tN/A";
  const Topology pairs = from_smi(smi_text({{"X", "PHB", "SYS", "SYS"},
                                            {"PHB", "X", "SYS", "SYS"},
                                            {"SYS", "SYS", "X", "PHB"},
                                            {"SYS", "SYS", "PHB", "X"}},
                                           header, behind));
  EXPECT_EQ(pairs.hosts().size(), 2U);
  EXPECT_EQ(way(pairs, "gpu0", "gpu1"), "gpu0->cpu0 cpu0->gpu1");
  EXPECT_EQ(way(pairs, "gpu0", "gpu2"), "gpu0->cpu0 cpu0->cpu1 cpu1->gpu2");
  const Topology apart =
      from_smi(smi_text({{"X", "SYS", "SYS"}, {"SYS", "X", "SYS"}, {"SYS", "SYS", "X"}}));
  EXPECT_EQ(apart.hosts().size(), 3U);
  // The same CPUs, as in a container, and no NUMA domains.
  EXPECT_EQ(from_smi(smi_text({{"X", "SYS"}, {"SYS", "X"}},
                              "\tCPU Affinity\tNUMA Affinity", "\t0-15\tN/A"))
                .hosts()
                .size(),
            2U);
  EXPECT_EQ(from_smi(smi_text({{"X", "SYS"}, {"SYS", "X"}}, "\tCPU Affinity", "\t0-15"))
                .hosts()
                .size(),
            2U);
}

TEST(SmiDomains, NearRelationsMeanOneSocketAndUndecidedGpusBelongToTheFirst) {
  for (const char* near : {"PIX", "PXB", "PHB", "NODE"})
    EXPECT_EQ(
        from_smi(smi_text({{"X", near, "SYS"}, {near, "X", "SYS"}, {"SYS", "SYS", "X"}}))
            .hosts()
            .size(),
        2U)
        << near;
  EXPECT_EQ(from_smi(smi_text({{"X", "NV12"}, {"NV12", "X"}})).hosts().size(), 1U);
  const Topology machine =
      from_smi(smi_text({{"X", "NV4", "SYS"}, {"NV4", "X", "NV4"}, {"SYS", "NV4", "X"}}));
  EXPECT_EQ(machine.hosts().size(), 2U);
  EXPECT_EQ(way(machine, "host0", "gpu1"), "host0->cpu0 cpu0->gpu1");
}

TEST(SmiDomains, NodeBetweenTwoNumaAffinitiesIsOneSocket) {
  const std::string text =
      "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tNODE\tSYS\t0-15\t0\n"
      "GPU1\tNODE\tX\tSYS\t16-31\t1\nGPU2\tSYS\tSYS\tX\t32-47\t2\n";
  const Topology machine = from_smi(text);
  EXPECT_EQ(way(machine, "host0", "gpu1"), "host0->cpu0 cpu0->cpu1 cpu1->gpu1");
  EXPECT_EQ(way(machine, "host2", "gpu2"), "host2->cpu2 cpu2->gpu2");
  const auto between = [&](const char* name) {
    return std::ranges::find(machine.links(), name, &Link::name)->bandwidth;
  };
  EXPECT_EQ(between("cpu0->cpu1"), assumptions::domains);
  EXPECT_EQ(between("cpu1->cpu2"), assumptions::sockets);
}

TEST(SmiDomains, NetworkCardsSeparateSocketsWithoutAffinities) {
  const Topology machine = from_smi(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\nGPU0\tX\tNV18\tNV18\tNV18\tPXB\tSYS\nGPU1\tN"
      "V18\tX\tNV18\tNV18\tNODE\tSYS"
      "\n"
      "GPU2\tNV18\tNV18\tX\tNV18\tSYS\tPXB\nGPU3\tNV18\tNV18\tNV18\tX\tSYS\tNODE\n");
  EXPECT_EQ(machine.hosts().size(), 2U);
  EXPECT_EQ(way(machine, "host1", "gpu3"), "host1->cpu1 cpu1->gpu3");
}

TEST(SmiDomains, ContradictionsAreRefused) {
  refused_matrix(
      smi_text({{"X", "SYS"}, {"SYS", "X"}}, "\tCPU Affinity\tNUMA Affinity",
               "\t0-15\t0"),
      {"topo.txt:3: GPU1 to GPU0: 'SYS' contradicts other relations or affinities, "
       "which put "
       "both below one socket; expected "
       "GPUs of "
       "one socket or of two"});
  refused_matrix(
      smi_text({{"X", "PHB", "SYS"}, {"PHB", "X", "NODE"}, {"SYS", "NODE", "X"}}),
      {"topo.txt:4: GPU2 to GPU0: 'SYS' contradicts other relations"});
  refused_matrix(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA "
      "Affinity\nGPU0\tX\tPIX\t0-15\t0\nGPU1\tPIX\tX\t16-31\t1\n",
      {"topo.txt:3: GPU1 to GPU0: 'PIX' does not fit the NUMA affinities 1 and 0; "
       "expected one affinity"});
  refused_matrix(
      "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tPHB\t0-15\nGPU1\tPHB\tX\t16-31\n",
      {"topo.txt:3: GPU1 to GPU0: 'PHB' does not fit the CPU affinities 16-31 and "
       "0-15; expected one affinity"});
}

TEST(SmiColumns, RowsThatEndBeforeTheLastColumnAreRefused) {
  refused_matrix(
      "        GPU0    GPU1    CPU Affinity    NUMA Affinity   GPU NUMA ID\nGPU0     X   "
      "   PHB     0-15    0\n"
      "GPU1    PHB      X      0-15    0\n",
      {"topo.txt:2: header and row differ in their number of columns: 2 behind the 2 of "
       "GPUs and network cards, 3 in "
       "the header in line 1; expected as many"});
  refused_matrix("\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\tX\t0-15\tN/A\n",
                 {"topo.txt:2: header and row differ in their number of columns"});
}

TEST(SmiColumns, HeadersThatLostATabAreRefused) {
  const auto text = [](const std::string& header) {
    return "\tGPU0\tGPU1\t" + header +
           "\nGPU0\tX\tNV18\tPXB\tNODE\tNODE\t0-55,112-167\t0\t\tN/"
           "A\nGPU1\tNV18\tX\tNODE\tPXB\tNODE\t0-55,112-167\t0\t\tN/A\n";
  };
  EXPECT_EQ(from_smi(text("NIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID"))
                .gpus()
                .size(),
            2U);
  for (const char* header :
       {"NIC0\tNIC1NIC2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID",
        "NIC0NIC1\tNIC2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID",
        "NIC0\tNIC1\tNIC2\tCPU Affinity", "NIC0\tNIC1NIC2\tCPU Affinity\tNUMA Affinity"})
    refused_matrix(text(header),
                   {"topo.txt:2: header and row differ in their number of columns"});
  refused_matrix(
      text("NIC0\tNIC1\tNIC2CPU Affinity\tNUMA Affinity\tGPU NUMA ID"),
      {"topo.txt:1: column: 'AFFINITY' is unknown; expected GPUs and network cards, "
       "then CPU Affinity"});
  for (const char* name : {"GPUX", "GPU99999999999"})
    refused_matrix(
        std::string{"\tGPU0\t"} + name + "\nGPU0\tX\tSYS\n" + name + "\tSYS\tX\n",
        {"topo.txt:1: column: ", name, "is unknown"});
  refused_matrix(
      text("NIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\tColour"),
      {"topo.txt:1: column: 'CPU' is unknown; expected GPUs and network cards, then "
       "CPU Affinity"});
  refused_matrix("\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tPIX\tmany\nGPU1\tPIX\tX\tmany\n",
                 {"topo.txt:2: CPU AFFINITY: 'MANY'"});
  for (const char* domain : {"-1", "1,", "2147483648", "1,99999999999999", "0-1-2"})
    refused_matrix(std::string{"\tGPU0\tGPU1\tNUMA Affinity\nGPU0\tX\tPIX\t"} + domain +
                       "\nGPU1\tPIX\tX\t" + domain + "\n",
                   {"topo.txt:2: NUMA AFFINITY: '", domain, "is not numbers such as"});
}

TEST(SmiColumns, SpacesTabsCapitalsColoursAndOrderDoNotMatter) {
  const std::string plain =
      "\tGPU0\tGPU1\tNIC0\tGPU2\tCPU Affinity\tNUMA Affinity\nGPU0\t X "
      "\tPIX\tPIX\tSYS\t0-15\t0\n"
      "GPU1\tPIX\t X \tPIX\tSYS\t0-15\t0\nNIC0\tPIX\tPIX\t X "
      "\tSYS\nGPU2\tSYS\tSYS\tSYS\t X \t16-31\t1\n";
  const std::string expected = to_toml(import_nvidia_smi(plain, "t", kind(), {}));
  const auto same = [&](const std::string& text) {
    EXPECT_EQ(to_toml(import_nvidia_smi(text, "t", kind(), {})), expected) << text;
  };
  const auto changed = [&](char from, const std::string& to) {
    std::string text;
    for (const char c : plain) text += c == from ? to : std::string{c};
    return text;
  };
  same(changed('\t', "    "));
  same(changed('\n', "\r\n"));
  same(changed('\n', "\n\n"));
  std::string small = plain;
  for (char& c : small) c = char(std::tolower(static_cast<unsigned char>(c)));
  same(small);
  same("\x1b[4m" + plain +
       "\nLegend:\n\n  X    = Self\n  NV#  = so many\n\nNIC Legend:\n\n  NIC0: mlx5_0\n");
  same("user@node:~$ nvidia-smi topo -m\n" + plain + "user@node:~$ exit\n");
  std::vector<std::string> lines;
  for (size_t at = 0, end; at < plain.size(); at = end + 1)
    lines.push_back(plain.substr(at, (end = plain.find('\n', at)) - at));
  same(lines[0] + "\n" + lines[4] + "\n" + lines[2] + "\n" + lines[1] + "\n" + lines[3]);
}

TEST(SmiColumns, OneToSixteenGpus) {
  for (size_t gpus = 1; gpus <= 16; ++gpus) {
    std::vector<std::vector<std::string>> cells(gpus,
                                                std::vector<std::string>(gpus, "NODE"));
    for (size_t i = 0; i < gpus; ++i) cells[i][i] = " X ";
    EXPECT_EQ(from_smi(smi_text(cells, "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID",
                                "\t0-15\t0\t\tN/A"))
                  .gpus()
                  .size(),
              gpus);
  }
}

TEST(SmiColumns, UnknownColumnsAreNamed) {
  const std::string two =
      smi_text({{"X", "PHB"}, {"PHB", "X"}}, "\tCPU Affinity", "\t0-15");
  refused_matrix(two + "MIG0\tPHB\tPHB\n", {"topo.txt:4: row: 'MIG0' is unknown"});
  refused_matrix(two + "GPU5\tPHB\tPHB\n", {"topo.txt:4: row: 'GPU5' is unknown"});
  refused_matrix(two + smi_text({{"X", "SYS"}, {"SYS", "X"}}),
                 {"topo.txt:4: another matrix than the one in line 1"});
  refused_matrix(two + smi_text({{"X", "LOST"}, {"LOST", "X"}}),
                 {"topo.txt:5: cell: 'LOST' is unknown"});
}

TEST(SmiColumns, HostileFilesAreRefusedQuickly) {
  std::string wide = "\tGPU0", long_text;
  for (int i = 0; i < 100000; ++i) wide += fmt::format("\tNIC{}", i);
  refused_matrix(wide + "\n",
                 {"topo.txt:1: words in a header: '100001' is not at most 1024"});
  for (int i = 0; i < 10000; ++i)
    long_text += fmt::format("\tGPU{}\nGPU{}\tX\n", i % 5000, i % 5000);
  refused_matrix(long_text, {"topo.txt:3: the GPUs of 'topo -p2p' differ"});
}

TEST(SmiC2c, AGpuWithoutANumaIdHasPcie) {
  const auto text = [](const std::string& id) {
    return smi_text({{"X"}}, "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID",
                    "\t0-71\t0\t\t" + id);
  };
  EXPECT_EQ(pair(from_smi(text("4"), {.c2c = Rate{250e9}}), "host0", "gpu0"),
            Rate{250e9});
  EXPECT_LT(pair(from_smi(text("N/A"), {.c2c = Rate{250e9}}), "host0", "gpu0"),
            Rate{100e9});
}

std::string states(const std::string& state) {
  return "\n \tGPU0\tGPU1\t\n GPU0\tX\t" + state + "\t\n GPU1\t" + state +
         "\tX\t\n\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n  GNS  = GPU not "
         "supported\n";
}

TEST(SmiPeerAccess, GpusThatCannotAccessEachOtherHaveNoRoute) {
  const std::string matrix =
      smi_text({{"X", "NODE"}, {"NODE", "X"}},
               "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID", "\t0-15\t0\t\tN/A") +
      "\nLegend:\n\n  X    = Self\n";
  for (const char* state : {"GNS", "CNS", "NS", "TNS", "DR", "U", "gns"}) {
    const Topology machine = from_smi(matrix + states(state));
    EXPECT_FALSE(machine.has_route(machine.gpus()[0], machine.gpus()[1])) << state;
    EXPECT_TRUE(machine.has_route(machine.gpus()[0], machine.hosts()[0])) << state;
  }
  EXPECT_EQ(to_toml(import_nvidia_smi(matrix + states("OK"), "t", kind(), {})),
            to_toml(import_nvidia_smi(matrix, "t", kind(), {})));
  refused_matrix(matrix + states("MAYBE"), {"topo.txt:10: cell: 'MAYBE' is unknown"});
  refused_matrix(states("OK"),
                 {"topo.txt:2: this is the output of 'nvidia-smi topo -p2p', a "
                  "file of peer access; expected"});
  refused_matrix(smi_text({{"X"}}, "\tCPU Affinity", "\t0-15") + states("OK"),
                 {"topo.txt:4: the GPUs of 'topo -p2p' differ"});
}

TEST(SmiPeerAccess, EveryMatrixCanDenyAccessToAPair) {
  const std::string matrix = text_of(switched({4, 4, 4})),
                    head = "\n\tGPU0\tGPU1\tGPU2\n";
  const Topology machine =
      from_smi(matrix + head + "GPU0\tX\tOK\tOK\nGPU1\tOK\tX\tCNS\nGPU2\tOK\tOK\tX\n" +
               head + "GPU0\tX\tNS\tOK\nGPU1\tNS\tX\tOK\nGPU2\tOK\tOK\tX\n");
  const auto reaches = [&](size_t a, size_t b) {
    return machine.has_route(machine.gpus()[a], machine.gpus()[b]);
  };
  EXPECT_TRUE(reaches(0, 2) && reaches(2, 0));
  EXPECT_FALSE(reaches(0, 1) || reaches(1, 0));  // not over NVLink either
  EXPECT_FALSE(reaches(1, 2) || reaches(2, 1));  // OK in one direction only
}

TEST(GpuKinds, PcieFollowsTheModel) {
  const std::pair<const char*, int> models[] = {{"v100", 3},
                                                {"p100", 3},
                                                {"a100", 4},
                                                {"nvidia-a100-sxm4-80gb", 4},
                                                {"nvidia-h200", 5},
                                                {"h100", 5},
                                                {"a10g", 4},
                                                {"V100S", 3},
                                                {"flat", 5},
                                                {"l40s", 4},
                                                {"la100", 5},
                                                {"v100-5-of-7", 3},
                                                {"tesla-v100s-pcie", 3}};
  for (const auto& [name, number] : models)
    EXPECT_EQ(gpu_model(name).pcie, number) << name;
}

}  // namespace
}  // namespace tilerail
