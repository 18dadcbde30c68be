// Measures a known machine like a calibration; the fit must recover its figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "calibration/fit_topology.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/calibration/made_machine.hpp"

namespace tilerail {
namespace {

using namespace made;
using ::testing::Each, ::testing::Field, ::testing::HasSubstr, ::testing::Ne,
    ::testing::Not;

struct Case {
  const char* name;
  Topology::Description (*machine)(int);
  int gpus;
};
void PrintTo(const Case& machine, std::ostream* out) { *out << machine.name; }

class FittedMachine : public ::testing::TestWithParam<Case> {
 protected:
  Topology truth() const { return Topology{GetParam().machine(GetParam().gpus)}; }
};

const CapacityGroup* find_group(const Topology& t, const std::string& name) {
  for (const CapacityGroup& group : t.groups())
    if (group.name == name) return &group;
  return nullptr;
}

std::vector<std::string> names_of(const Topology& t, const std::vector<LinkId>& links) {
  std::vector<std::string> names;
  for (const LinkId id : links) names.push_back(t.link(id).name);
  return names;
}

std::vector<std::string> into_gpus(int from, int to) {
  std::vector<std::string> names;
  for (int g = from; g < to; ++g) names.push_back("host->gpu" + std::to_string(g));
  return names;
}

/// Names of groups over several links from the host.
std::vector<std::string> shared_inputs(const Topology& t) {
  std::vector<std::string> names;
  for (const CapacityGroup& group : t.groups())
    if (group.capacity && group.name.rfind("host to ", 0) == 0)
      names.push_back(group.name);
  return names;
}

/// All pairs that can copy have their true rate alone, within this share.
void expect_pair_rates(const Topology& fitted, const Topology& truth, double share) {
  for (const Memory& from : truth.description().memories)
    for (const Memory& to : truth.description().memories) {
      const MemoryId src = *truth.find_memory(from.name),
                     dst = *truth.find_memory(to.name);
      if (src == dst) continue;
      const MemoryId s = *fitted.find_memory(from.name), d = *fitted.find_memory(to.name);
      ASSERT_EQ(fitted.has_route(s, d), truth.has_route(src, dst))
          << from.name << " to " << to.name;
      if (!truth.has_route(src, dst)) continue;
      const double expected = truth.pair_rate(src, dst).value;
      EXPECT_NEAR(fitted.pair_rate(s, d).value, expected, share * expected)
          << from.name << " to " << to.name;
    }
}

struct Errors {
  double mean = 0, most = 0;
  std::string worst;
};
Errors errors_of(const std::vector<Residual>& residuals) {
  Errors errors;
  for (const Residual& r : residuals) {
    errors.mean += std::abs(r.error()) / double(residuals.size());
    if (std::abs(r.error()) > errors.most)
      errors.most = std::abs(r.error()), errors.worst = r.what;
  }
  return errors;
}

// Concurrent copies may hide their latency, but the residuals include the latency of
// each: at most 6 us for 16 MiB at 40 GB/s.
TEST_P(FittedMachine, ExplainsExactMeasurements) {
  const Topology machine = truth();
  const Measurements m = Meter{machine}.everything();
  const Topology fitted{fit_topology(m, HostPages::spread)};
  const auto errors = errors_of(transfer_residuals(m, HostPages::spread, fitted));
  EXPECT_LT(errors.mean, 0.01);
  EXPECT_LT(errors.most, 0.02) << errors.worst;
  expect_pair_rates(fitted, machine, 0.002);
}

TEST_P(FittedMachine, ExplainsNoisyMeasurements) {
  const Topology machine = truth();
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Measurements m = Meter{machine, 0.02, seed}.everything();
    const Topology fitted{fit_topology(m, HostPages::spread)};
    const auto errors = errors_of(transfer_residuals(m, HostPages::spread, fitted));
    EXPECT_LT(errors.mean, 0.02);
    EXPECT_LT(errors.most, 0.06)
        << errors.worst;  // noise of the run, of the links and of the group
    expect_pair_rates(fitted, machine, 0.05);
  }
}

TEST_P(FittedMachine, HasTheLatenciesThatSizesShow) {
  const Topology machine = truth();
  const Topology fitted{fit_topology(Meter{machine}.everything(), HostPages::spread)};
  for (const Memory& from : machine.description().memories)
    for (const Memory& to : machine.description().memories) {
      const MemoryId src = *machine.find_memory(from.name),
                     dst = *machine.find_memory(to.name);
      if (src == dst || !machine.has_route(src, dst)) continue;
      const double found =
          fitted.latency(*fitted.find_memory(from.name), *fitted.find_memory(to.name))
              .value;
      EXPECT_NEAR(found, machine.latency(src, dst).value, 1e-8)
          << from.name << " to " << to.name;
    }
}

TEST_P(FittedMachine, HasTheEnginesOfItsDevices) {
  const Topology machine = truth();
  const Topology fitted{fit_topology(Meter{machine}.everything(), HostPages::spread)};
  for (const MemoryId gpu : machine.gpus()) {
    const Engines expected = machine.memory(gpu).engines(),
                  found = fitted.memory(*fitted.find_memory(machine.memory(gpu).name))
                              .engines();
    EXPECT_EQ(found.h2d, expected.h2d);
    EXPECT_EQ(found.d2h, expected.d2h);
    if (GetParam().gpus > 1) {
      EXPECT_EQ(found.peer, expected.peer);
    }
  }
}

TEST_P(FittedMachine, CanBeWrittenAndReadAgain) {
  const auto d = fit_topology(Meter{truth(), 0.02}.everything(), HostPages::spread);
  const std::string text = to_toml(d);
  EXPECT_EQ(to_toml(read_topology(text, "fitted.toml").description()), text);
}

INSTANTIATE_TEST_SUITE_P(Calibration, FittedMachine,
                         ::testing::Values(Case{"Pcie1", pcie_machine, 1},
                                           Case{"Pcie2", pcie_machine, 2},
                                           Case{"Pcie4", pcie_machine, 4},
                                           Case{"Pcie8", pcie_machine, 8},
                                           Case{"Switch1", switch_machine, 1},
                                           Case{"Switch2", switch_machine, 2},
                                           Case{"Switch4", switch_machine, 4},
                                           Case{"Switch8", switch_machine, 8}),
                         [](const auto& param) { return param.param.name; });

Topology fitted(const Topology& machine, double noise = 0) {
  return Topology{fit_topology(Meter{machine, noise}.everything(), HostPages::spread)};
}

class FitTransfers : public ::testing::TestWithParam<double> {};  // noise

TEST_P(FitTransfers, SharedUplinksOfPairsAreFound) {
  const Topology t = fitted(Topology{pcie_machine(8)}, GetParam());
  EXPECT_EQ(shared_inputs(t),
            (std::vector<std::string>{"host to gpu0 to gpu1", "host to gpu2 to gpu3",
                                      "host to gpu4 to gpu5", "host to gpu6 to gpu7",
                                      "host to GPUs"}));
  for (int g = 0; g < 8; g += 2) {
    const auto* group = find_group(
        t, "host to gpu" + std::to_string(g) + " to gpu" + std::to_string(g + 1));
    ASSERT_TRUE(group);
    EXPECT_EQ(names_of(t, group->forward), into_gpus(g, g + 2));
    EXPECT_NEAR(group->capacity->at(2).value, 30 * giga, GetParam() * 30 * giga + 1e7);
  }
}

TEST_P(FitTransfers, OnlyTheHalfWithASharedLinkIsAGroup) {
  const Topology t = fitted(Topology{switch_machine(8)}, GetParam());
  EXPECT_EQ(shared_inputs(t),
            (std::vector<std::string>{"host to gpu0 to gpu3", "host to GPUs"}));
  const auto *half = find_group(t, "host to gpu0 to gpu3"),
             *all = find_group(t, "host to GPUs");
  EXPECT_EQ(names_of(t, half->forward), into_gpus(0, 4));
  EXPECT_EQ(names_of(t, all->forward), into_gpus(0, 8));
  for (const auto& [flows, rate] : {std::pair{2., 80.}, {3., 90.}, {4., 100.}})
    EXPECT_NEAR(half->capacity->at(flows).value, rate * giga,
                0.01 * rate * giga + GetParam() * rate * giga)
        << flows;
  // 150 + 70/5 per copy above three
  for (const auto& [flows, rate] : {std::pair{4., 164.}, {6., 192.}, {8., 220.}})
    EXPECT_NEAR(all->capacity->at(flows).value, rate * giga,
                0.01 * rate * giga + GetParam() * rate * giga)
        << flows;
}

TEST_P(FitTransfers, CopiesThatDoNotSlowEachOtherShareNothing) {
  const Topology t = fitted(Topology{switch_machine(8)}, GetParam());
  EXPECT_THAT(t.groups(),
              Each(Field("name", &CapacityGroup::name, Not(HasSubstr("to host")))));
}

TEST_P(FitTransfers, HostMemoryHasABoundAndAShareForBothDirections) {
  const Topology t = fitted(Topology{switch_machine(8)}, GetParam());
  const auto* group = find_group(t, "host memory, both directions");
  ASSERT_TRUE(group && group->both_busy && group->forward_share);
  EXPECT_NEAR(*group->forward_share, 0.4, GetParam() + 1e-3);
  for (const auto& [flows, rate] : {std::pair{4., 130.}, {10., 145.}, {16., 160.}})
    EXPECT_NEAR(group->both_busy->at(flows).value, rate * giga,
                0.01 * rate * giga + GetParam() * rate * giga)
        << flows;
}

TEST_P(FitTransfers, PortsAndThroughTrafficHaveBounds) {
  const Topology t = fitted(Topology{switch_machine(4)}, GetParam());
  for (int g = 0; g < 4; ++g) {
    const auto* port =
        find_group(t, "port of gpu" + std::to_string(g) + ", both directions");
    ASSERT_TRUE(port);
    // measured at 350 each way: copies of 16 MiB with an additional 1 us
    const double bytes = 1 << 24, each = bytes / (bytes / (350 * giga) - 1 * micro);
    EXPECT_NEAR(port->both_busy->at(2).value, 2 * each, (GetParam() + 1e-3) * 2 * each);
    const auto* through =
        find_group(t, "gpu" + std::to_string(g) + ", in from the host and out to GPUs");
    ASSERT_TRUE(through);
    EXPECT_NEAR(through->both_busy->at(2).value, 400 * giga,
                (2 * GetParam() + 0.03) * 400 * giga);
  }
}

INSTANTIATE_TEST_SUITE_P(Calibration, FitTransfers, ::testing::Values(0.0, 0.02),
                         [](const auto& param) {
                           return param.param > 0 ? "Noisy" : "Exact";
                         });

TEST(FitLinks, PlainPagesGiveASeparateMachine) {
  auto slower = switch_machine(2);
  for (Link& link : slower.links)
    if (link.from.index() == 0) link.bandwidth = Rate{30 * giga};
  const Topology spread{switch_machine(2)}, plain{slower};
  Measurements m = Meter{spread}.everything();
  Meter{plain}.host_flows(m, HostPages::plain);
  const Topology fitted_plain{fit_topology(m, HostPages::plain)};
  expect_pair_rates(fitted_plain, plain, 0.002);
  EXPECT_EQ(fitted_plain.name(), "made-plain");
  EXPECT_NE(fitted_plain.description().description,
            fitted(spread).description().description);
  expect_pair_rates(Topology{fit_topology(m, HostPages::spread)}, spread, 0.002);
}

TEST(FitLinks, PairsOfUnequalRatesHaveSeparateLinks) {
  auto d = pcie_machine(4);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (i != j)
        small_machine::add_link(d, "gpu" + std::to_string(i), "gpu" + std::to_string(j),
                                i % 2 == j % 2 ? 50 : 25, 2);
  const Topology machine{d}, found = fitted(machine);
  expect_pair_rates(found, machine, 0.002);
  EXPECT_THAT(found.description().vertices,
              Each(Field("kind", &Vertex::kind, Ne(VertexKind::network_switch))));
}

TEST(FitCosts, TheFitReproducesIssueCosts) {
  const Topology machine{switch_machine(4)}, t = fitted(machine);
  const IssueCost &found = t.description().issue, &expected = machine.description().issue;
  EXPECT_NEAR(found.per_op.value, expected.per_op.value, 1e-9);
  ASSERT_TRUE(found.per_kernel);
  EXPECT_NEAR(found.per_kernel->value, expected.per_kernel->value, 1e-9);
  EXPECT_NEAR(found.per_dependency.value, expected.per_dependency.value, 1e-9);
  EXPECT_NEAR(found.per_call.value, expected.per_call.value, 1e-9);
  EXPECT_NEAR(found.hand_on.value, expected.hand_on.value, 1e-9);
  ASSERT_TRUE(found.graph);
  EXPECT_NEAR(found.graph->per_call.value, expected.graph->per_call.value, 1e-9);
  EXPECT_NEAR(found.graph->per_copy.value, expected.graph->per_copy.value, 1e-9);
  EXPECT_NEAR(found.graph->per_kernel.value, expected.graph->per_kernel.value, 1e-9);
  EXPECT_NEAR(found.graph->per_dependency.value, expected.graph->per_dependency.value,
              1e-9);
  EXPECT_NEAR(found.graph->between_gpus.value, expected.graph->between_gpus.value, 1e-9);
}

TEST(FitCosts, GraphsWithoutRunsHaveNoCosts) {
  Measurements m = Meter{Topology{switch_machine(4)}}.everything();
  std::erase_if(m.issue, [](const IssueRun& run) {
    return run.what.starts_with("graph") || run.what == "hand on";
  });
  const IssueCost issue = fit_topology(m, HostPages::spread).issue;
  EXPECT_FALSE(issue.graph);
  EXPECT_EQ(issue.hand_on, Seconds{0});
}

TEST(FitLinks, CopiesThatEndTogetherShareNoEngine) {
  Measurements m = Meter{Topology{switch_machine(4)}}.everything();
  for (TransferRun& run : m.transfers)
    if (run.kind == "one each")
      for (auto& flow : run.flows)
        flow.rate.mean = run.total.mean / double(run.flows.size());
  const Topology t{fit_topology(m, HostPages::spread)};
  for (const MemoryId gpu : t.gpus()) {
    const Engines& engines = t.memory(gpu).engines();
    EXPECT_FALSE(engines.h2d || engines.d2h || engines.peer) << t.memory(gpu).name;
  }
}

TEST(FitCosts, CopiesBetweenMemoriesCanBeIssuedFasterThanCopiesWithinADevice) {
  Measurements m =
      Meter{Topology{switch_machine(4)}}.everything();  // 2 us within a device
  const auto per_op = [&] {
    return fit_topology(m, HostPages::spread).issue.per_op.value;
  };
  m.latencies = {{"host", "gpu0", {1.0e-6, 0.01, 3}, {6e-6, 0.01, 3}},
                 {"gpu0", "host", {1.4e-6, 0.01, 3}, {6e-6, 0.01, 3}}};
  EXPECT_NEAR(per_op(), 1.2e-6, 1e-9);
  m.latencies[0].issued.mean = 9e-6;  // copies that take longer themselves
  EXPECT_NEAR(per_op(), 2e-6, 1e-9);
}

TEST(FitTopology, DevicesComeFromTheDriver) {
  Measurements m = Meter{Topology{switch_machine(2)}}.everything();
  m.devices[1].idle_watts = 0;  // not measured
  const Topology t{fit_topology(m, HostPages::spread)};
  EXPECT_EQ(t.name(), "made");
  EXPECT_EQ(t.memory(t.hosts()[0]).capacity, Bytes{m.host_bytes});
  for (const MemoryId gpu : t.gpus()) EXPECT_EQ(t.memory(gpu).capacity, Bytes{80e9});
  EXPECT_EQ(t.processor(t.gpus()[0]).idle_watts, Watts{60});
  EXPECT_EQ(t.processor(t.gpus()[0]).busy_watts, Watts{400});
  EXPECT_FALSE(t.processor(t.gpus()[1]).idle_watts);
  EXPECT_EQ(t.kernels_of(t.gpus()[0]).name, "made-gpu");
  EXPECT_THAT(t.description().sources,
              Each(Field("kind", &Source::kind, Source::Kind::measured)));
}

}  // namespace
}  // namespace tilerail
