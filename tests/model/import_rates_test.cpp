// Imports of nvbandwidth and p2pBandwidthLatencyTest, and the resulting rates of
// simultaneous copies.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "model/machine/machine_facts.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/imported.hpp"

namespace tilerail {
namespace {

using namespace imported;
using Matrix = std::vector<std::vector<std::string>>;
using Cases = std::vector<std::pair<std::string, Matrix>>;

std::string json_of(const Cases& cases) {
  std::string text;
  for (const auto& [name, matrix] : cases) {
    std::string rows;
    for (const auto& row : matrix)
      rows +=
          fmt::format("{}[\"{}\"]", rows.empty() ? "" : ", ", fmt::join(row, "\", \""));
    text += fmt::format(
        "{}{{\"name\": \"{}\", \"status\": \"Passed\", \"bandwidth_matrix\": [{}]}}",
        text.empty() ? "" : ", ", name, rows);
  }
  return "{\"nvbandwidth\": {\"testcases\": [" + text + "]}}";
}

Topology imported_of(const Cases& cases) {
  return written_again(import_nvbandwidth(json_of(cases), "b.json", kind()));
}

Cases with_host(const std::string& rate, size_t gpus, const Cases& more = {}) {
  const Matrix row{std::vector<std::string>(gpus, rate)};
  Cases cases{{"host_to_device_memcpy_ce", row}, {"device_to_host_memcpy_ce", row}};
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

/// Rates of pairs: N/A on the diagonal, `of` elsewhere.
template <class Of>
Matrix pairs(size_t gpus, const Of& of) {
  Matrix matrix(gpus);
  for (size_t i = 0; i < gpus; ++i)
    for (size_t j = 0; j < gpus; ++j) matrix[i].push_back(i == j ? "N/A" : of(i, j));
  return matrix;
}

const Matrix one_slow =
    pairs(4, [](size_t i, size_t j) { return i == 2 || j == 2 ? "345" : "390"; });

TEST(NvbandwidthPeers, NoGpuSendsMoreThanItsPort) {
  const Topology machine =
      imported_of(with_host("55", 4,
                            {{"device_to_device_memcpy_read_ce", one_slow},
                             {"one_to_all_write_ce", {{"390", "390", "345", "390"}}},
                             {"all_to_one_write_ce", {{"388", "388", "344", "388"}}}}));
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{390e9});
  EXPECT_EQ(pair(machine, "gpu0", "gpu2"), Rate{345e9});
  EXPECT_LE(all_pairs_busy(machine), 1515);
  EXPECT_NEAR(all_pairs_busy(machine), 3 * 388 + 344, 1e-6);  // rate of all together
  const Topology without =
      imported_of(with_host("55", 4, {{"device_to_device_memcpy_read_ce", one_slow}}));
  EXPECT_NEAR(all_pairs_busy(without), 3 * 390 + 345, 1e-6);
}

TEST(NvbandwidthPeers, IslandsWithoutMutualAccessHaveSeparateSwitches) {
  const Topology machine = imported_of(with_host(
      "55", 6, {{"device_to_device_memcpy_read_ce", pairs(6, [](size_t i, size_t j) {
                   return i / 3 == j / 3 ? "390" : "N/A";
                 })}}));
  EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->peer-switch0 peer-switch0->gpu2");
  EXPECT_EQ(way(machine, "gpu3", "gpu5"), "gpu3->peer-switch1 peer-switch1->gpu5");
  EXPECT_FALSE(machine.has_route(machine.gpus()[0], machine.gpus()[3]));
  EXPECT_NEAR(all_pairs_busy(machine), 6 * 390, 1e-6);
}

TEST(NvbandwidthPeers, OneToAllRatesDecideWhetherLinksOfPairsAddUp) {
  const Matrix equal = pairs(4, [](size_t, size_t) { return "90"; });
  EXPECT_NEAR(all_pairs_busy(imported_of(
                  with_host("25", 4, {{"device_to_device_memcpy_read_ce", equal}}))),
              360, 1e-6);
  for (const bool reads : {false, true}) {
    const Topology mesh =
        imported_of(with_host("25", 4,
                              {{"device_to_device_memcpy_read_ce", equal},
                               {reads ? "all_to_one_read_ce" : "one_to_all_write_ce",
                                {{"250", "250", "250", "260"}}}}));
    EXPECT_EQ(way(mesh, "gpu0", "gpu1"), "gpu0->gpu1");
    EXPECT_NEAR(all_pairs_busy(mesh), 1010, 1e-6);
  }
}

TEST(NvbandwidthPeers, PcieIsOnePortForPeersAndTheHost) {
  const Matrix two_sockets =
      pairs(4, [](size_t i, size_t j) { return i / 2 == j / 2 ? "26.34" : "22.10"; });
  const Topology machine =
      imported_of({{"host_to_device_memcpy_ce", {{"26.30", "26.30", "26.30", "26.30"}}},
                   {"device_to_host_memcpy_ce", {{"26.40", "26.40", "26.40", "26.40"}}},
                   {"device_to_device_memcpy_read_ce", two_sockets},
                   {"one_to_all_write_ce", {{"26.20", "26.20", "26.20", "26.20"}}},
                   {"all_to_one_write_ce", {{"26.20", "26.20", "26.20", "26.20"}}}});
  EXPECT_LE(all_pairs_busy(machine), 105);
  EXPECT_EQ(pair(machine, "gpu0", "gpu2"), Rate{22.1e9});
  const auto memory = [&](const char* name) { return *machine.find_memory(name); };
  const std::vector<std::pair<MemoryId, MemoryId>> into{{memory("host"), memory("gpu0")},
                                                        {memory("gpu1"), memory("gpu0")}};
  const auto rates = concurrent_rates(machine, into);
  EXPECT_NEAR((rates[0] + rates[1]).value, 26.2e9, 1);  // 26.34 alone
  // NVLink-C2C is faster than the NVLinks, which are separate links.
  const Matrix nvlinks = pairs(4, [](size_t, size_t) { return "130"; });
  const Topology separate =
      imported_of(with_host("350", 4, {{"device_to_device_memcpy_read_ce", nvlinks}}));
  for (const CapacityGroup& group : separate.groups()) ADD_FAILURE() << group.name;
}

TEST(NvbandwidthPeers, SlowPeersAreImportedAsMeasured) {
  const Topology machine =
      imported_of(with_host("25", 6,
                            {{"device_to_device_memcpy_read_ce",
                              pairs(6, [](size_t, size_t) { return "3.5"; })}}));
  EXPECT_EQ(pair(machine, "gpu0", "gpu5"), Rate{3.5e9});
  EXPECT_EQ(pair(machine, "host", "gpu5"), Rate{25e9});
}

/// GB/s of each GPU, in and out: with all GPUs copying in one direction, and in both.
void expect_load(const Topology& machine, const std::vector<double>& one,
                 const std::vector<double>& both) {
  const auto all = nearest_hosts(machine);
  ASSERT_EQ(all.size(), one.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(all[i].in_all.value / 1e9, one[i], 1e-6) << i;
    EXPECT_NEAR(all[i].out_all.value / 1e9, one[i], 1e-6) << i;
    EXPECT_NEAR(all[i].in_all_both.value / 1e9, both[i], 1e-6) << i;
    EXPECT_NEAR(all[i].out_all_both.value / 1e9, both[i], 1e-6) << i;
    EXPECT_NEAR(all[i].in_alone.value / 1e9, 56, 1e-6) << i;
  }
}

TEST(NvbandwidthHost, EachGpuHasItsRateOfTheRunWithAllGpus) {
  const std::pair<std::vector<double>, std::vector<double>> loads[] = {
      {{44, 44, 25, 25}, {30, 30, 12, 12}},
      {{44, 25, 44, 25}, {30, 12, 30, 12}},
      {{44, 44, 44, 25}, {30, 30, 30, 12}},
      {{44, 25, 25, 25}, {30, 12, 12, 12}},
      {{44, 25}, {30, 12}},
      {{50, 40, 30, 20}, {24, 18, 12, 8}},
      {{33, 33, 33, 33}, {20, 20, 20, 20}}};
  for (const auto& [one, both] : loads) {
    const auto row = [](const std::vector<double>& rates) {
      std::vector<std::string> texts;
      for (const double rate : rates) texts.push_back(fmt::format("{}", rate));
      return Matrix{texts};
    };
    expect_load(
        imported_of(with_host("56", one.size(),
                              {{"host_to_all_memcpy_ce", row(one)},
                               {"all_to_host_memcpy_ce", row(one)},
                               {"host_to_all_bidirectional_memcpy_ce", row(both)},
                               {"all_to_host_bidirectional_memcpy_ce", row(both)}})),
        one, both);
  }
}

/// Rates of all GPUs in both directions: in and out.
using BothWays = std::pair<std::vector<double>, std::vector<double>>;

TEST(NvbandwidthHost, EachDirectionOfEachGpuHasItsMeasuredRate) {
  const BothWays loads[] = {{{40, 20}, {20, 10}},
                            {{10, 20}, {30, 15}},
                            {{30, 30, 20}, {15, 15, 25}},
                            {{24, 18, 12, 8}, {12, 9, 16, 20}},
                            {{20, 20, 20, 20}, {10, 12, 10, 14}}};
  for (const auto& [in, out] : loads) {
    const auto row = [](const std::vector<double>& rates) {
      return fmt::format("{}", fmt::join(rates, "\", \""));
    };
    const auto all = nearest_hosts(
        imported_of(with_host("56", in.size(),
                              {{"host_to_all_bidirectional_memcpy_ce", {{row(in)}}},
                               {"all_to_host_bidirectional_memcpy_ce", {{row(out)}}}})));
    for (size_t i = 0; i < in.size(); ++i) {
      EXPECT_NEAR(all[i].in_all_both.value / 1e9, in[i], 1e-6) << i;
      EXPECT_NEAR(all[i].out_all_both.value / 1e9, out[i], 1e-6) << i;
    }
  }
}

TEST(NvbandwidthHost, RatesOfAllGpusAreIgnoredOnMachinesOfOneGpu) {
  const Topology one = imported_of(with_host("55", 1));
  const Topology all =
      imported_of(with_host("55", 1,
                            {{"host_to_all_memcpy_ce", {{"50"}}},
                             {"all_to_host_bidirectional_memcpy_ce", {{"40"}}},
                             {"one_to_all_write_ce", {{"30"}}}}));
  EXPECT_EQ(to_toml(all.description()), to_toml(one.description()));
}

TEST(NvbandwidthJson, AByteOrderMarkIsNotPartOfTheText) {
  const std::string text = json_of(with_host("55", 2));
  EXPECT_EQ(to_toml(import_nvbandwidth("\xef\xbb\xbf" + text, "b", kind())),
            to_toml(import_nvbandwidth(text, "b", kind())));
}

TEST(NvbandwidthPeers, BothDirectionsOfAPairGetTheTotalThatWasMeasured) {
  const auto everywhere = [](const char* rate) {
    return pairs(2, [=](size_t, size_t) { return rate; });
  };
  for (const char* name : {"device_to_device_bidirectional_memcpy_read_ce_total",
                           "device_to_device_bidirectional_memcpy_write_ce_total"}) {
    const Topology machine =
        imported_of(with_host("55", 2,
                              {{"device_to_device_memcpy_read_ce", everywhere("392")},
                               {name, everywhere("742.5")}}));
    EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{392e9});
    EXPECT_NEAR(all_pairs_busy(machine), 742.5, 1e-6) << name;
  }
}

TEST(NvbandwidthJson, OtherTextsAreRefused) {
  const auto refused = [](const std::string& text,
                          const std::vector<std::string>& words) {
    expect_input_error([&] { import_nvbandwidth(text, "b.txt", kind()); }, words);
  };
  refused("Running host_to_device_memcpy_ce.", {"b.txt:1:1: not JSON"});
  refused("{\"nvbandwidth\": {\"testcases\": []}}",
          {"'nvbandwidth -j' ('nvbandwidth --format json' in newer versions)"});
  refused("{}", {"b.txt: nvbandwidth: is missing; expected output of 'nvbandwidth -j'",
                 "'nvbandwidth --format json'"});
}

TEST(NvbandwidthJson, MissingPeersAreNamedAndSecondRowsRefused) {
  std::vector<std::string> notes;
  import_nvbandwidth(
      json_of(with_host("55", 2, {{"device_local_copy", {{"1500", "1500"}}}})), "b.json",
      kind(), &notes);
  EXPECT_EQ(
      notes,
      std::vector<std::string>{
          "b.json: no matrix device_to_device_memcpy_read_ce or "
          "device_to_device_memcpy_write_ce; the machine has no copies between GPUs"});
  notes.clear();
  const Matrix near = pairs(2, [](size_t, size_t) { return "390"; });
  import_nvbandwidth(
      json_of(with_host("55", 2, {{"device_to_device_memcpy_write_ce", near}})), "b.json",
      kind(), &notes);
  import_nvbandwidth(json_of(with_host("55", 1)), "b.json", kind(), &notes);
  EXPECT_TRUE(notes.empty());
  expect_input_error(
      [] {
        import_nvbandwidth(
            json_of(with_host("55", 2,
                              {{"host_to_all_memcpy_ce", {{"5", "5"}, {"6", "6"}}}})),
            "b", kind());
      },
      {"b: host_to_all_memcpy_ce: 2 rows; expected one"});
}

/// The rows of a matrix of p2pBandwidthLatencyTest, with `own` on the diagonal.
template <class Of>
std::string p2p_matrix(const std::string& title, const std::string& corner, size_t gpus,
                       double own, const Of& of) {
  std::string text = (title.empty() ? "" : title + "\n") + "   " + corner;
  for (size_t i = 0; i < gpus; ++i) text += fmt::format("{:6} ", i);
  for (size_t i = 0; i < gpus; ++i) {
    text += fmt::format("\n{:6} ", i);
    for (size_t j = 0; j < gpus; ++j)
      text += fmt::format("{:6.2f} ", i == j ? own : of(i, j));
  }
  return text + "\n";
}

/// Two pairs of GPUs with peer access only within a pair: 50 GB/s from the lower number,
/// 48 from the higher.
std::string p2p_text(const std::string& writes = " (P2P Writes)") {
  const auto near = [](size_t i, size_t j) { return i / 2 == j / 2; };
  std::string text = "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n";
  for (int i = 0; i < 4; ++i)
    text += fmt::format(
        "Device: {}, NVIDIA A40, pciBusID: {}, pciDeviceID: 0, pciDomainID:0\n", i, i);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j)
      if (i != j)
        text += fmt::format("Device={} {} Access Peer Device={}\n", i,
                            near(i, j) ? "CAN" : "CANNOT", j);
  text +=
      "\n***NOTE: In case a device doesn't have P2P access to other one, it falls "
      "back.\n\nP2P Connectivity Matrix\n";
  text += "     D\\D     0     1     2     3\n";
  for (size_t i = 0; i < 4; ++i) {
    text += fmt::format("     {}\t", i);
    for (size_t j = 0; j < 4; ++j) text += fmt::format("     {}", near(i, j) ? 1 : 0);
    text += "\n";
  }
  const auto staged = [](size_t, size_t) { return 16.0; };
  const auto peers = [&](double up, double down) {
    return [=](size_t i, size_t j) { return i / 2 != j / 2 ? 16.0 : i < j ? up : down; };
  };
  text += p2p_matrix("Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "D\\D", 4,
                     640, staged);
  text += p2p_matrix("Unidirectional P2P=Enabled Bandwidth" + writes + " Matrix (GB/s)",
                     "D\\D", 4, 641, peers(50, 48));
  text += p2p_matrix("Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)", "D\\D", 4, 640,
                     staged);
  text += p2p_matrix("Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", "D\\D", 4, 642,
                     peers(90, 90));
  text += p2p_matrix("P2P=Disabled Latency Matrix (us)", "GPU", 4, 1.7, staged) + "\n" +
          p2p_matrix("", "CPU", 4, 3, staged);
  text += p2p_matrix("P2P=Enabled Latency" + writes + " Matrix (us)", "GPU", 4, 1.7,
                     peers(2, 3)) +
          "\n" + p2p_matrix("", "CPU", 4, 3, staged);
  return text + "\nNOTE: The CUDA Samples are not meant for performance measurements.\n";
}

Topology p2p(const std::string& text, const ImportRates& rates = {}) {
  return written_again(import_p2p_test(text, "p2p.txt", kind(), rates));
}

TEST(ImportP2pTest, PairsWithAccessAreLinksAndOthersHaveNoRoute) {
  const Topology machine = p2p(p2p_text(), {.pcie = Rate{25e9}});
  EXPECT_EQ(machine.gpus().size(), 4U);
  EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{50e9});
  EXPECT_EQ(pair(machine, "gpu1", "gpu0"), Rate{48e9});
  EXPECT_FALSE(machine.has_route(machine.gpus()[0], machine.gpus()[2]));
  EXPECT_NEAR(machine.latency(machine.gpus()[2], machine.gpus()[3]).value, 2e-6, 1e-12);
  EXPECT_EQ(pair(machine, "host", "gpu3"), Rate{25e9});
  EXPECT_EQ(source_kind(machine, "cpu->gpu3"), Source::Kind::assumed);
  EXPECT_EQ(source_kind(machine, "gpu2->gpu3"), Source::Kind::measured);
}

TEST(ImportP2pTest, BothDirectionsOfAPairAreBounded) {
  const Topology machine = p2p(p2p_text());
  const MemoryId a = machine.gpus()[0], b = machine.gpus()[1];
  const std::vector<std::pair<MemoryId, MemoryId>> both{{a, b}, {b, a}};
  const auto rates = concurrent_rates(machine, both);
  EXPECT_NEAR((rates[0] + rates[1]).value, 90e9, 1);
}

TEST(ImportP2pTest, ReadsAndOldVersionsCopyFromColumnToRow) {
  for (const char* title : {" (P2P Reads)", ""}) {
    const Topology machine = p2p(p2p_text(title));
    EXPECT_EQ(pair(machine, "gpu0", "gpu1"), Rate{48e9}) << title;
    EXPECT_NEAR(machine.latency(machine.gpus()[0], machine.gpus()[1]).value, 3e-6, 1e-12)
        << title;
  }
}

/// All GPUs have access to each other at this rate.
std::string p2p_switch(size_t gpus, double rate, double both) {
  const auto of = [](double value) { return [=](size_t, size_t) { return value; }; };
  return p2p_matrix("P2P Connectivity Matrix", "D\\D", gpus, 1, of(1)) +
         p2p_matrix("Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)",
                    "D\\D", gpus, 3000, of(rate)) +
         p2p_matrix("Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)", "D\\D", gpus,
                    3000, of(both));
}

TEST(ImportP2pTest, EqualPairsAreASwitchWhosePortsHaveTheRateOfBothDirections) {
  for (const size_t gpus : {3U, 8U, 16U}) {
    const Topology machine = p2p(p2p_switch(gpus, 400, 700));
    EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->peer-switch peer-switch->gpu2");
    EXPECT_NEAR(all_pairs_busy(machine), double(gpus) * 350, 1e-6);
  }
  EXPECT_EQ(p2p(p2p_switch(1, 0, 0)).gpus().size(), 1U);
}

TEST(ImportP2pTest, PeersOverPcieShareItsPort) {
  const Topology machine = p2p(p2p_switch(4, 24, 40), {.pcie = Rate{25e9}});
  const auto memory = [&](const char* name) { return *machine.find_memory(name); };
  const std::vector<std::pair<MemoryId, MemoryId>> into{{memory("host"), memory("gpu0")},
                                                        {memory("gpu1"), memory("gpu0")}};
  const auto rates = concurrent_rates(machine, into);
  EXPECT_NEAR((rates[0] + rates[1]).value, 24e9, 1);
}

TEST(ImportP2pTest, PeersThatAreSlowerThanPcieHaveTheirMeasuredRate) {
  for (const double rate : {24.0, 12.0}) {
    const Topology machine = p2p(p2p_switch(4, rate, 1.7 * rate), {.pcie = Rate{27.4e9}});
    EXPECT_EQ(way(machine, "gpu0", "gpu2"), "gpu0->peer-switch peer-switch->gpu2");
    EXPECT_EQ(pair(machine, "gpu1", "gpu3"), Rate{rate * 1e9});
    EXPECT_NEAR(all_pairs_busy(machine), 4 * 1.7 / 2 * rate, 1e-6);
  }
}

TEST(ImportP2pTest, TheHostMemoryIsSharedByAllGpus) {
  const Topology machine =
      p2p(p2p_switch(4, 400, 700), {.pcie = Rate{25e9}, .host_memory = Rate{40e9}});
  double sum = 0;
  for (const NearestHost& each : nearest_hosts(machine)) sum += each.in_all.value;
  EXPECT_NEAR(sum, 40e9, 1);
}

TEST(ImportP2pTest, DeviceLinesDefineAccessWithoutTheMatrix) {
  std::string text = p2p_text();
  const size_t begin = text.find("P2P Connectivity"),
               end = text.find("Unidirectional P2P=Disabled");
  text.erase(begin, end - begin);
  EXPECT_EQ(to_toml(import_p2p_test(text, "p2p.txt", kind(), {})),
            to_toml(import_p2p_test(p2p_text(), "p2p.txt", kind(), {})));
}

TEST(ImportP2pTest, LineEndsMarksAndPromptsDoNotMatter) {
  const auto expected = to_toml(import_p2p_test(p2p_text(), "p2p.txt", kind(), {}));
  std::string text = p2p_text();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\r\n");
  for (const char* before : {"", "\xef\xbb\xbf",
                             "\xef\xbb\xbf"
                             "C:\\samples> p2pBandwidthLatencyTest.exe\r\n",
                             "$ ./p2p\n"})
    EXPECT_EQ(to_toml(import_p2p_test(before + text, "p2p.txt", kind(), {})), expected)
        << before;
}

TEST(ImportP2pTest, RefusesOtherTextsByLine) {
  const auto refused = [](std::string text, const std::string& from,
                          const std::string& to, const std::vector<std::string>& words) {
    text.replace(text.find(from), from.size(), to);
    expect_input_error([&] { import_p2p_test(text, "p2p.txt", kind(), {}); }, words);
  };
  expect_input_error([] { import_p2p_test("nothing", "p2p.txt", kind(), {}); },
                     {"p2p.txt:1: line with the title of a matrix"});
  refused(p2p_text(), "     3\t     0     0     1     1\n", "",
          {"p2p.txt:22: rows: '3' is not 4, one for each GPU"});
  refused(p2p_text(), "50.00", "5e9",
          {"p2p.txt:35: '5000 PB/s' is out of range; expected 1 MB/s to 1 PB/s"});
  refused(p2p_text(), "641.00", "fast", {"p2p.txt:35: 'fast' is not a number"});
  refused(p2p_text(), "Unidirectional P2P=Enabled", "Unidirectional P2P=Disabled",
          {"p2p.txt: Unidirectional P2P=Enabled"});
}

}  // namespace
}  // namespace tilerail
