// Imports of topology files of NCCL and RCCL, and rejected or ignored parts of such
// files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "model/import/nccl_elements.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/imported.hpp"
#include "tests/support/nccl_files.hpp"

namespace tilerail {
namespace {

using namespace imported;
using namespace nccl_files;

Topology imported_from(const std::string& text, const ImportRates& rates = {}) {
  return Topology{import_nccl_xml(text, "n.xml", kind(), rates)};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void refused(const std::string& text, const std::vector<std::string>& words,
             const ImportRates& rates = {}) {
  expect_input_error([&] { import_nccl_xml(text, "n.xml", kind(), rates); }, words);
}

/// The text of the source of a file's figures.
std::string source_text(const Topology& machine, const std::string& key = "NCCL") {
  const auto& sources = machine.description().sources;
  const auto at = std::ranges::find(sources, key, &Source::key);
  return at == sources.end() ? "" : at->text;
}

TEST(NcclXgmi, LinksHaveTheRateThatRcclCounts) {
  const Topology machine = imported_from(xgmi());
  EXPECT_EQ(machine.gpus().size(), 4U);
  for (int gpu = 1; gpu < 4; ++gpu) {
    EXPECT_EQ(way(machine, "gpu0", fmt::format("gpu{}", gpu)),
              fmt::format("gpu0->gpu{}", gpu));
    EXPECT_EQ(pair(machine, "gpu0", fmt::format("gpu{}", gpu)), Rate{48e9});
  }
  EXPECT_EQ(way(machine, "host0", "gpu1"), "host0->cpu0 cpu0->pci1 pci1->gpu1");
  EXPECT_EQ(source_kind(machine, "gpu0->gpu1"), Source::Kind::published);
  EXPECT_NE(machine.description().description.find("AMD GPUs, for simulations only"),
            std::string::npos);
}

TEST(NcclXgmi, TheRateFollowsTheArchitecture) {
  const std::pair<const char*, double> rates[] = {
      {"gfx906", 24e9}, {"gfx908", 24e9}, {"gfx90a", 36e9},
      {"gfx940", 48e9}, {"gfx950", 48e9}, {"gfx942:sramecc+:xnack-", 48e9},
      {"942", 48e9},    {"910", 36e9},    {"908", 24e9}};
  for (const auto& [gcn, rate] : rates)
    EXPECT_EQ(pair(imported_from(xgmi(gcn, 2)), "gpu3", "gpu1"), Rate{2 * rate}) << gcn;
}

TEST(NcclXgmi, AnUnknownArchitectureNeedsARate) {
  for (const char* gcn : {"gfx1250", "", "gfx90"})
    refused(xgmi(gcn), {"n.xml:6: xgmi: gcn: ", "expected gfx906,", "a given link rate"});
  EXPECT_EQ(
      pair(imported_from(xgmi("gfx1250", 2), {.nvlink = Rate{50e9}}), "gpu0", "gpu1"),
      Rate{100e9});
}

TEST(NcclXgmi, LinksAreCheckedAsNvlinksAre) {
  refused(
      replaced(xgmi(), "count=\"1\"", "count=\"2\""),
      {"n.xml:5: gpu: gpu0: has 2 links to gpu1, which has 1 back; expected as many"});
  refused(replaced(xgmi(), "count=\"1\"", "count=\"\""),
          {"n.xml:6: xgmi: count: '' is not 1 to 18"});
  refused(replaced(xgmi(), "target=\"0000:11:00.0\"", "target=\"0000:10:00.0\""),
          {"n.xml:6: xgmi", "the GPU itself"});
  refused(
      replaced(xgmi(), "<xgmi target=\"0000:11:00.0\"", "<xgmi target=\"0000:01:00.0\""),
      {"n.xml:6: xgmi"});
  refused(replaced(replaced(xgmi(), "0000:11:00.0\" count", "0000:99:00.0\" count"),
                   "tclass=\"0x120000\"", "tclass=\"0x068000\""),
          {"n.xml:6: xgmi: tclass: '0x068000' is unknown"});
}

TEST(NcclMissingGpus, NvlinksToMissingGpusAreOmittedAndNamed) {
  const Topology machine = imported_from(hidden_gpus());
  EXPECT_FALSE(machine.find_memory("nvsw"));
  EXPECT_EQ(machine.description().vertices.size(),
            6U);  // two hosts, two sockets, two GPUs
  EXPECT_EQ(way(machine, "gpu0", "gpu5"), "gpu0->cpu0 cpu0->cpu1 cpu1->gpu5");
  EXPECT_NEAR(pair(machine, "gpu0", "gpu5").value, 13.7e9, 0.01e9);
  EXPECT_NE(source_text(machine).find(
                "10 x nvlink to a GPU that the file does not have (line 5)"),
            std::string::npos);
}

TEST(NcclMissingGpus, SpellingsOfAddressesAreOneAddress) {
  for (const char* other : {"0000:0A:00.0", "0000:0a:00.0", "00000000:0A:00.0",
                            "0000:a:0.0", "0a:00.0", "0000:0a:00"}) {
    std::string text = replaced(hidden_gpus(), "0000:86:00.0", "0000:0A:00.0");
    text = replaced(text, "0000:0a:00.0\" count=\"1\"",
                    fmt::format("{}\" count=\"2\"", other));
    text = replaced(text, "0000:07:00.0\" count=\"2\"", "0000:06:00.0\" count=\"2\"");
    EXPECT_EQ(way(imported_from(text), "gpu0", "gpu5"), "gpu0->gpu5") << other;
  }
  for (const char* none : {"", "06", "0000:06:00.0.0", "g:06:00.0", "0000:106:00.0",
                           "0000:06:00.10", "::", "0000:06:"})
    EXPECT_FALSE(pci_address(none)) << none;
}

TEST(NcclClasses, GpusWithoutAnElementAreNumberedInFileOrder) {
  const Topology machine = imported_from(cloud());
  EXPECT_EQ(machine.gpus().size(), 4U);
  EXPECT_EQ(way(machine, "host1", "gpu2"), "host1->cpu1 cpu1->pci1 pci1->gpu2");
  EXPECT_EQ(way(machine, "gpu0", "gpu1"), "gpu0->pci0 pci0->gpu1");
  EXPECT_NE(source_text(machine).find("1 x network card (line 8)"), std::string::npos);
}

TEST(NcclClasses, DisplaysAndAcceleratorsAreGpus) {
  for (const char* gpu :
       {"0x03", "0x0300", "0x030000", "0x0302", "0x038000", "0x12", "0x120000"}) {
    std::string text = cloud();
    for (size_t at; (at = text.find("0x030200")) != std::string::npos;)
      text.replace(at, 8, gpu);
    EXPECT_EQ(imported_from(text).gpus().size(), 4U) << gpu;
  }
  for (const char* device : {"0x010802", "0x020000", "0x0604", "0x068000", "0x08"})
    EXPECT_EQ(imported_from(replaced(cloud(), "0x030200", device)).gpus().size(), 3U)
        << device;
  for (const char* none : {"", "gpu", "0x", "0x3", "03", "0xzz", "0x0302001"})
    refused(replaced(cloud(), "0x030200", none),
            {"n.xml:7: pci: class", "is not a PCI class"});
}

// GPUs that are not visible to the job have no number.
TEST(NcclClasses, GpusWithoutANumberGetTheRemainingNumbers) {
  std::string text = replaced(
      cloud(),
      R"("0001:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>)",
      R"("0001:00:00.0" class="0x030200"><gpu dev="1" sm="90"/></pci>)");
  const Topology machine = imported_from(text);
  EXPECT_EQ(machine.gpus().size(), 4U);
  EXPECT_EQ(way(machine, "host0", "gpu1"),
            "host0->cpu0 cpu0->pci0 pci0->gpu1");  // the first in the file
  EXPECT_EQ(way(machine, "host0", "gpu0"), "host0->cpu0 cpu0->pci0 pci0->gpu0");
  EXPECT_EQ(way(machine, "host1", "gpu3"), "host1->cpu1 cpu1->pci1 pci1->gpu3");
}

TEST(NcclSpeeds, SpellingsThatTheKernelAndCloudsHave) {
  for (const char* speed : {"32.0 GT/s PCIe", "32 GT/s PCIe", "32 GT/s", "32.0 GT/s"})
    EXPECT_NEAR(
        pair(imported_from(replaced(hidden_gpus(), "8 GT/s", speed)), "host0", "gpu0")
            .value,
        54.82e9, 0.01e9);
  for (const char* unknown : {"Unknown", "Unknown speed", "", "255"}) {
    const Topology machine = imported_from(replaced(hidden_gpus(), "8 GT/s", unknown));
    EXPECT_EQ(pair(machine, "host0", "gpu0"), ImportRates{}.pcie) << unknown;
    EXPECT_EQ(source_kind(machine, "cpu0->gpu0"), Source::Kind::assumed);
  }
}

// The same as in NCCL.
TEST(NcclSpeeds, AnUnknownWidthIsSixteenLanes) {
  for (const char* width : {"", "0", "63", "255"}) {
    const Topology machine = imported_from(replaced(
        hidden_gpus(), "link_width=\"16\"", fmt::format("link_width=\"{}\"", width)));
    EXPECT_NEAR(pair(machine, "host0", "gpu0").value, 13.7e9, 0.01e9) << width;
    EXPECT_EQ(source_kind(machine, "cpu0->gpu0"), Source::Kind::assumed);
  }
}

TEST(NcclPciLinks, PartsOfOneChipAreJoined) {
  const Topology machine = imported_from(joined_switches());
  EXPECT_EQ(way(machine, "gpu0", "gpu1"), "gpu0->pci0 pci0->pci1 pci1->gpu1");
  EXPECT_NEAR(pair(machine, "gpu0", "gpu1").value, 54.82e9,
              0.01e9);  // not 27.4, the rate of the uplinks
  EXPECT_NEAR(pair(machine, "host0", "gpu1").value, 27.41e9, 0.01e9);
  const std::string link = "<pcilink target=\"0000:11:00.0\"/>";
  refused(replaced(joined_switches(), link, "<pcilink target=\"0000:01:00.0\"/>"),
          {"n.xml:5: pcilink: target", "itself"});
  refused(replaced(joined_switches(), link, "<pcilink target=\"0000:12:00.0\"/>"),
          {"n.xml:5: pcilink: target", "a GPU"});
  refused(replaced(joined_switches(), link, "<pcilink/>"),
          {"n.xml:5: pcilink: target: '' is not an address"});
  const Topology outside = imported_from(
      replaced(joined_switches(), link, "<pcilink target=\"0000:77:00.0\"/>"));
  EXPECT_NE(
      source_text(outside).find("1 x pcilink to a switch that no GPU is below (line 5)"),
      std::string::npos);
}

TEST(NcclDomains, HostsHaveTheNumbersOfTheFile) {
  const Topology machine = imported_from(dgx());
  EXPECT_EQ(machine.hosts().size(), 4U);
  EXPECT_EQ(way(machine, "host7", "gpu6"), "host7->cpu7 cpu7->pci3 pci3->gpu6");
  EXPECT_EQ(way(machine, "gpu0", "gpu7"), "gpu0->nvsw nvsw->gpu7");
  const Topology none = imported_from(replaced(cloud(), "numaid=\"0\"", "numaid=\"-1\""));
  EXPECT_TRUE(none.find_memory("host0"));
  refused(replaced(cloud(), "numaid=\"0\"", "numaid=\"01\""),
          {"n.xml:12: cpu: numaid: '1' is another cpu's"});
}

TEST(NcclLinks, SeveralC2cAddUp) {
  const std::string one = "<c2c bw=\"44712\" count=\"10\"/>";
  const Topology machine = imported_from(
      replaced(grace(), one,
               "<c2c bw=\"44712\" count=\"5\"/><c2c bw=\"44712\" count=\"5\"/>"),
      {.host_memory = Rate{1e12}});
  EXPECT_NEAR(pair(machine, "host0", "gpu0").value, 447.12e9 * assumptions::reached, 1);
}

TEST(NcclLinks, TargetsAreGpusSwitchesOrProcessors) {
  const auto with_class = [](const std::string& tclass) {
    return replaced(replaced(hidden_gpus(), "tclass=\"0x030200\"", tclass),
                    "0000:07:00.0", "fffffff:ffff:ff");
  };
  for (const char* nvswitch :
       {"tclass=\"0x068000\"", "tclass=\"0x0680\"", "tclass=\"\"", ""})
    EXPECT_NE(source_text(imported_from(with_class(nvswitch)), "NVLink of sm 70"), "")
        << nvswitch;
  for (const char* processor : {"tclass=\"0x068001\"", "tclass=\"0x0b4000\""})
    EXPECT_EQ(pair(imported_from(with_class(processor)), "host0", "gpu0"),
              assumptions::nvlink)
        << processor;
  for (const char* none :
       {"tclass=\"0x020700\"", "tclass=\"nvswitch\"", "tclass=\"0x060400\""})
    refused(with_class(none), {"n.xml:5: nvlink: tclass", "is unknown; expected 0x03"});
  refused(replaced(hidden_gpus(), "0000:07:00.0", "0000:06:00.0"),
          {"n.xml:5: nvlink: target: '0000:06:00.0' is the GPU itself"});
}

TEST(NcclElements, UnknownElementsAreNamedWithTheirLine) {
  const Topology machine = imported_from(replaced(xgmi(), "</gpu>", "<ualink/></gpu>"));
  EXPECT_NE(source_text(machine).find("1 x element 'ualink' (line 9)"), std::string::npos)
      << source_text(machine);
  refused(replaced(cloud(), "version=\"1\"", "version=\"3\""),
          {"n.xml:4: system: version: '3' is unknown; expected 1,"});
  EXPECT_EQ(imported_from(replaced(cloud(), " version=\"1\"", "")).gpus().size(), 4U);
}

TEST(NcclElements, TextThatIsNotXmlIsRefused) {
  refused(cloud() + cloud(), {"next to the outermost element"});
  refused(cloud() + "garbage", {"next to the outermost element"});
  refused("garbage" + cloud(), {"n.xml:1: not XML: text"});
  refused(cloud() + std::string{'\0', '<'}, {"a zero byte"});
  refused(replaced(hidden_gpus(), "<gpu dev=\"0\"", "<gpu dev=\"0\" dev=\"5\""),
          {"n.xml:4: gpu: attribute: is given twice; expected it once"});
}

TEST(NcclElements, InvalidAddressesAndParentsOfDevicesAreRefused) {
  refused(replaced(cloud(), "ffff:ff:02.0", "ffff:FF:01.0"),
          {"n.xml:13: pci: busid: 'ffff:FF:01.0' is another device's"});
  refused(replaced(cloud(), "ffff:ff:02.0", "0001:00:00.0"),
          {"n.xml:13: pci: busid: '0001:00:00.0' is another device's"});
  refused(replaced(cloud(), " busid=\"ffff:ff:02.0\"", ""),
          {"n.xml:13: pci: busid: '' is not an address of PCI"});
  refused(replaced(cloud(), "0004:00:00.0", "four"),
          {"n.xml:15: pci: busid: 'four' is not an address of PCI"});
}

TEST(NcclElements, ProcessorsWithoutGpusAreLeftOutAndNamed) {
  const Topology machine = imported_from(
      replaced(cloud(), "</system>", "<cpu numaid=\"2\"><nic/></cpu></system>"));
  EXPECT_EQ(machine.hosts().size(), 2U);
  EXPECT_NE(source_text(machine).find("1 x cpu without GPUs (line 18)"),
            std::string::npos);
}

size_t at_random(const std::string& text, const std::string& words,
                 std::mt19937& random) {
  const size_t at = text.find(words, random() % text.size());
  return at == std::string::npos ? text.find(words) : at;
}

/// The text with a random mutation: a line or an attribute is removed, duplicated, or
/// changed.
std::string mutated(std::string text, std::mt19937& random) {
  static const char* const values[] = {
      "", "-1", "0", "99999999999999999999", "0x", "0x03", "gpu", "0000:06:00.0", "1e9"};
  if (random() % 4 == 0) {  // an element without children
    const size_t end = at_random(text, "/>", random), begin = text.rfind('<', end);
    if (end == std::string::npos) return text;
    const std::string element = text.substr(begin, end + 2 - begin);
    return text.replace(begin, element.size(),
                        random() % 2 == 0 ? "" : element + element);
  }
  const size_t equals = at_random(text, "=\"", random);
  const size_t begin = text.rfind(' ', equals), end = text.find('"', equals + 2) + 1;
  const std::string attribute = text.substr(begin, end - begin);
  const std::string value = fmt::format("{}=\"{}\"", text.substr(begin, equals - begin),
                                        values[random() % std::size(values)]);
  const unsigned what = random() % 8;
  return text.replace(begin, attribute.size(),
                      what < 4   ? ""
                      : what < 7 ? value
                                 : attribute + attribute);
}

TEST(NcclMutations, GiveAMachineOrAnErrorWithItsPlace) {
  std::mt19937 random{1};
  int machines = 0, errors = 0;
  for (const auto& [name, text] : all())
    for (int i = 0; i < 100; ++i) {
      std::string changed = text;
      for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
        changed = mutated(changed, random);
      try {
        imported_from(changed);
        ++machines;
      } catch (const InputError& error) {
        EXPECT_TRUE(std::string{error.what()}.starts_with("n.xml:"))
            << error.what() << "\n"
            << changed;
        ++errors;
      }
    }
  EXPECT_GT(machines, 100);
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace tilerail
