// Machines of `tilerail topo new` as topology files of NCCL.
#include "model/import/nccl_export.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/import/import.hpp"
#include "model/machine/topology_toml.hpp"
#include "study/design/machine_design.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/imported.hpp"

namespace tilerail::study {
namespace {

const std::string kernels = TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml";

Topology designed(const DesignText& design) { return read_topology(design_machine(design), "new.toml"); }

/// Rates of lanes and NVLinks stay, but for the digits that the standards' nominal rates lack.
void expect_the_same_rates(const Topology& machine) {
  const NcclFile file = to_nccl_xml(machine);
  const Topology again{import_nccl_xml(file.text, "n.xml", imported::kind(), {})};
  ASSERT_EQ(again.gpus().size(), machine.gpus().size());
  ASSERT_EQ(again.hosts().size(), machine.hosts().size());
  for (size_t a = 0; a < machine.gpus().size(); ++a) {
    const MemoryId here = machine.gpus()[a], there = again.gpus()[a];
    for (size_t b = 0; b < machine.gpus().size(); ++b) {
      if (a == b) continue;
      EXPECT_NEAR(again.pair_rate(there, again.gpus()[b]) / machine.pair_rate(here, machine.gpus()[b]), 1, 1e-3);
    }
    for (size_t h = 0; h < machine.hosts().size(); ++h)
      EXPECT_NEAR(again.pair_rate(again.hosts()[h], there) / machine.pair_rate(machine.hosts()[h], here), 1, 1e-3);
  }
}

TEST(NcclExportOfDesigns, LanesAndNvlinksKeepTheirRates) {
  const std::string six_nvlinks = "130.5 GB/s", eighteen = "391.5 GB/s";  // of 21.75
  for (const char* pcie : {"3", "4", "5", "6"})
    for (const char* hosts : {"1", "2", "4"})
      for (const char* uplink : {"1", "2"}) {
        expect_the_same_rates(
            designed({.gpus = "8", .kernels = kernels, .sockets = hosts, .uplink_gpus = uplink, .pcie = pcie}));
        expect_the_same_rates(designed({.gpus = "8",
                                        .kernels = kernels,
                                        .sockets = hosts,
                                        .uplink_gpus = uplink,
                                        .pcie = pcie,
                                        .nvlink = pcie[0] == '3' ? six_nvlinks : eighteen}));
      }
}

// More sockets than have a link for each pair are joined by a switch.
TEST(NcclExportOfDesigns, SocketsMayBeJoinedByASwitch) {
  expect_the_same_rates(designed({.gpus = "10", .kernels = kernels, .sockets = "10", .pcie = "4"}));
}

TEST(NcclExportOfDesigns, IslandsOfNvlinkAndManyGpusAreRefused) {
  const auto refused = [](const DesignText& design, const std::vector<std::string>& words) {
    expect_input_error([&] { to_nccl_xml(designed(design)); }, words);
  };
  const std::string cannot = "NCCL's topology files cannot describe this machine: ";
  refused({.gpus = "8", .kernels = kernels, .islands = "2", .nvlink = "450"},
          {"8-gpus: " + cannot + "NVLink switches nvsw0 and nvsw1; expected one"});
  refused({.gpus = "8", .kernels = kernels, .islands = "2", .nvlink = "450", .bridge = "100"}, {cannot, "nvsw1"});
  refused({.gpus = "200", .kernels = kernels}, {cannot + "200 GPUs; expected 1 to 128"});
}

}  // namespace
}  // namespace tilerail::study
