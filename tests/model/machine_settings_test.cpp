// "KEY=VALUE" settings of a machine: changed, unchanged and rejected parts.
#include "model/machine/settings/machine_settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/topology_limits.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

using test::shipped;

Topology set(const Topology& machine, std::vector<std::string> settings) {
  return with_settings(machine, settings);
}

const Link& link_of(const Topology& machine, const std::string& name) {
  return *std::ranges::find(machine.links(), name, &Link::name);
}

const CapacityGroup& group_of(const Topology& machine, const std::string& name) {
  return *std::ranges::find(machine.groups(), name, &CapacityGroup::name);
}

TEST(MachineSettings, AValueWithItsUnitReplacesOneLink) {
  const Topology before = shipped("pcie-tree-8");
  const std::string name = before.links()[0].name, other = before.links()[1].name;
  const Topology after = set(before, {"link:" + name + ".bandwidth=31 GB/s",
                                      "link:" + name + ".latency = 7 us"});
  EXPECT_EQ(link_of(after, name).bandwidth, Rate{31e9});
  EXPECT_EQ(link_of(after, name).latency, Seconds{7e-6});
  EXPECT_EQ(link_of(after, other).bandwidth, link_of(before, other).bandwidth);
}

TEST(MachineSettings, FactorsMultiplyAllThatFitAndOneAnother) {
  const Topology before = shipped("hgx-h200-4");
  const Topology after =
      set(before, {"link:host->gpu[0-1].bandwidth=x2", "link:host->*.bandwidth=x3"});
  for (const Link& link : before.links()) {
    const double factor = link.name == "host->gpu0" || link.name == "host->gpu1" ? 6
                          : link.name.starts_with("host->")                      ? 3
                                                                                 : 1;
    EXPECT_EQ(link_of(after, link.name).bandwidth,
              link.bandwidth * (factor == 6 ? 2 : 1) * (factor > 1 ? 3 : 1));
  }
}

TEST(MachineSettings, ADoubleArrowIsBothDirections) {
  const Topology after =
      set(shipped("hgx-h200-4"), {"link:host<->gpu2.bandwidth=1 GB/s"});
  EXPECT_EQ(std::ranges::count(after.links(), Rate{1e9}, &Link::bandwidth), 2);
  EXPECT_EQ(link_of(after, "gpu2->host").bandwidth, Rate{1e9});
}

TEST(MachineSettings, AGroupWithoutBoundsIsGone) {
  const Topology before = shipped("hgx-h200-4");
  ASSERT_FALSE(before.groups().empty());
  EXPECT_TRUE(set(before, {"group:*.bounds=inf"}).groups().empty());
  EXPECT_EQ(
      set(before, {"group:host memory, both directions.bounds=inf"}).groups().size(),
      before.groups().size() - 1);
}

TEST(MachineSettings, CurvesAreMultipliedPointByPointAndReplacedInTheSyntaxOfFiles) {
  const Topology before = shipped("hgx-h200-4");
  const std::string name = "GPUs to host";
  const auto& curve = group_of(before, name).capacity;
  const Topology twice = set(before, {"group:" + name + ".capacity=x2"});
  ASSERT_EQ(group_of(twice, name).capacity->points.size(), curve->points.size());
  EXPECT_EQ(group_of(twice, name).capacity->points[1].rate, curve->points[1].rate * 2);
  const Topology other =
      set(before, {"group:" + name + R"(.capacity=[[1, "5 GB/s"], [2, "6 GB/s"]])"});
  EXPECT_EQ(group_of(other, name).capacity->at(2), Rate{6e9});
}

TEST(MachineSettings, KernelsTwiceAsFastTakeHalfTheTime) {
  const Topology before = shipped("karolina-hgx-a100");
  const Topology after = set(before, {"kernels:*.f64.rate=x2"});
  const auto time = [](const Topology& machine, DType dtype) {
    return machine.kernels_of(machine.gpus()[0])
        .gemm_time(8192, 8192, 8192, dtype, Trans::no, Trans::no);
  };
  EXPECT_NEAR(time(before, DType::f64) / time(after, DType::f64), 2, 1e-6);
  const Topology absolute = set(before, {"kernels:*.f64.rate=40 TFLOP/s"});
  EXPECT_NEAR(absolute.kernels_of(absolute.gpus()[0])
                  .peak(DType::f64, Trans::no, Trans::no)
                  .value,
              40e12, 1e3);
}

/// Large products of a rule are limited by its peak alone.
TEST(MachineSettings, RulesOfTilesSpeedUpWithTheirMeasuredShapes) {
  const Topology before = shipped("hgx-h200-4");
  const Topology after = set(before, {"kernels:*.rate=x2"});
  const auto time = [](const Topology& machine) {
    return machine.kernels_of(machine.gpus()[0])
        .gemm_time(16384, 16384, 16384, DType::f64, Trans::no, Trans::no);
  };
  EXPECT_NEAR(time(before) / time(after), 2, 0.02);
}

TEST(MachineSettings, FewerGpusLeaveAMachineOfTheFirst) {
  const Topology before = shipped("karolina-hgx-a100");
  EXPECT_EQ(set(before, {"gpus=x0.5"}).gpus().size(), before.gpus().size() / 2);
  const Topology after = set(before, {"gpus=3"});
  ASSERT_EQ(after.gpus().size(), 3U);
  EXPECT_EQ(after.memory(after.gpus()[2]).name, "gpu2");
  EXPECT_EQ(after.pair_rate(after.gpus()[0], after.gpus()[2]),
            before.pair_rate(before.gpus()[0], before.gpus()[2]));
  for (const Link& link : after.links())
    EXPECT_FALSE(link.name.find("gpu3") != std::string::npos) << link.name;
}

TEST(MachineSettings, ARemovedLinkIsGoneWithItsRoutesAndInItsGroups) {
  const Topology before = shipped("clx-ai");
  const MemoryId gpu0 = *before.find_gpu(0), gpu3 = *before.find_gpu(3);
  ASSERT_EQ(before.route(gpu0, gpu3).size(), 1U);  // an NVLink
  const Topology after = set(before, {"link:gpu0<->gpu3=none"});
  EXPECT_EQ(after.links().size(), before.links().size() - 2);
  EXPECT_GT(after.route(gpu0, gpu3).size(), 1U);
  EXPECT_LT(after.pair_rate(gpu0, gpu3), before.pair_rate(gpu0, gpu3));
  const Topology one_way = set(before, {"link:gpu0->gpu3=none"});
  EXPECT_EQ(one_way.links().size(), before.links().size() - 1);
  EXPECT_EQ(one_way.pair_rate(gpu3, gpu0), before.pair_rate(gpu3, gpu0));
}

TEST(MachineSettings, GroupsLoseTheLinksThatAreRemoved) {
  const Topology before = shipped("hgx-h200-2");
  const auto has = [](const Topology& machine, const std::string& name) {
    return std::ranges::find(machine.groups(), name, &CapacityGroup::name) !=
           machine.groups().end();
  };
  const std::string both = "gpu0, in from the host and out to GPUs",
                    one = "gpu1, out to the host and to GPUs";
  ASSERT_TRUE(has(before, both) && has(before, one));
  const Topology after = set(before, {"link:gpu[0-1]->gpu[0-1]=none"});
  EXPECT_FALSE(has(after, both));  // limits both directions, one of which is removed
  EXPECT_FALSE(has(after, one));
  EXPECT_EQ(group_of(after, "GPUs to host").forward.size(), 2U);
  for (const CapacityGroup& group : after.groups())
    EXPECT_FALSE(group.forward.empty()) << group.name;
}

TEST(MachineSettings, PatternsRemoveAllThatFit) {
  const Topology before = shipped("hgx-h200");
  const Topology after = set(before, {"link:gpu[0-3]<->nvswitch=none"});
  EXPECT_EQ(after.links().size(), before.links().size() - 8);
  EXPECT_FALSE(after.has_route(*after.find_gpu(0), *after.find_gpu(7)));
  EXPECT_EQ(after.pair_rate(*after.find_gpu(4), *after.find_gpu(7)),
            before.pair_rate(*before.find_gpu(4), *before.find_gpu(7)));
}

TEST(MachineSettings, ARemovedGpuLeavesTheNumbersOfTheOthers) {
  const Topology after = set(shipped("karolina-hgx-a100"), {"memory:gpu[1,3]=none"});
  EXPECT_EQ(after.gpus().size(), 6U);
  EXPECT_FALSE(after.find_gpu(3));
  EXPECT_EQ(after.memory(*after.find_gpu(4)).name, "gpu4");
  for (const Link& link : after.links())
    EXPECT_EQ(link.name.find("gpu3"), std::string::npos) << link.name;
}

TEST(MachineSettings, RemainingLinksAreUnchanged) {
  const Topology before = shipped("clx-ai");
  const Topology after = set(before, {"link:gpu0<->gpu3=x1", "name=clx-ai"});
  EXPECT_EQ(to_toml(after.description()), to_toml(before.description()));
}

TEST(MachineSettings, RemovedPartsAreInTheNameAndASource) {
  const Topology after = set(shipped("clx-ai"), {"link:gpu0<->gpu3=none"});
  EXPECT_EQ(after.name(), "clx-ai+link:gpu0<->gpu3=none");
  EXPECT_TRUE(std::ranges::any_of(after.description().sources, [](const Source& source) {
    return source.kind == Source::Kind::assumed &&
           source.text == "set: link:gpu0<->gpu3=none";
  }));
}

TEST(MachineSettings, TheLastLinkOfAGpuCannotBeRemoved) {
  expect_input_error(
      [] { set(shipped("hgx-h200-2"), {"link:host<->gpu0=none"}); },
      {"link:host<->gpu0=none", "memory 'gpu0'", "expected a path from a host"});
  expect_input_error(
      [] { set(shipped("hgx-h200-2"), {"link:gpu1->host=none"}); },
      {"link:gpu1->host=none", "memory 'gpu1'", "no path from it to a host"});
}

TEST(MachineSettings, OnlySetFiguresAreMarkedAsAssumed) {
  const Topology before = shipped("hgx-h200-4");
  const Topology after = set(before, {"link:host->gpu0.bandwidth=400 GB/s"});
  EXPECT_EQ(after.name(), "hgx-h200-4+link:host->gpu0.bandwidth=400 GB/s");
  const std::string key = link_of(after, "host->gpu0").source;
  const auto source = std::ranges::find(after.description().sources, key, &Source::key);
  ASSERT_NE(source, after.description().sources.end());
  EXPECT_EQ(source->kind, Source::Kind::assumed);
  EXPECT_NE(source->text.find("set: link:host->gpu0.bandwidth=400 GB/s"),
            std::string::npos)
      << source->text;
  EXPECT_EQ(link_of(after, "host->gpu1").source, link_of(before, "host->gpu1").source);
}

TEST(MachineSettings, AMachineThatWasSetIsWrittenReadAndSetAgain) {
  const Topology once =
      set(shipped("hgx-h200-4"), {"memory:gpu*.capacity=inf", "issue.per_op=x2"});
  const Topology twice =
      set(once, {"memory:gpu0.capacity=1 GB", "memory:gpu*.engines.h2d=none"});
  const Topology read = read_topology(to_toml(twice.description()), "again.toml");
  EXPECT_EQ(to_toml(read.description()), to_toml(twice.description()));
  EXPECT_EQ(read.memories()[1].capacity, Bytes{1e9});
  EXPECT_FALSE(read.memories()[2].capacity);
  EXPECT_FALSE(read.memories()[1].engines().h2d);
}

TEST(MachineSettings, ALongNameIsShortenedAndUnique) {
  const std::vector<std::string> settings(20, "link:host->*.bandwidth=x2"),
      others(20, "link:host->*.bandwidth=x3");
  const std::string name = name_with("machine", settings);
  EXPECT_LE(name.size(), TopologyLimits::name_length);
  EXPECT_TRUE(name.starts_with("machine+20 settings ")) << name;
  EXPECT_NE(name, name_with("machine", others));
  EXPECT_EQ(set(shipped("hgx-h200-4"), {"gpus=2", "name=small"}).name(), "small");
}

TEST(MachineSettings, AnExactNameComesBeforeAPattern) {
  Topology::Description d = shipped("hgx-h200-4").description();
  ASSERT_GE(d.groups.size(), 2u);
  d.groups[0].name = "a & c[1]", d.groups[1].name = "a & c1";
  const Topology machine{std::move(d)};
  const Topology after = set(machine, {"group:a & c[1].capacity=1 GB/s"});
  EXPECT_EQ(group_of(after, "a & c[1]").capacity->saturated(), Rate{1e9});
  EXPECT_EQ(group_of(after, "a & c1").capacity.has_value(),
            group_of(machine, "a & c1").capacity.has_value());
}

TEST(MachineSettings, CostsOfGraphsAndEventLatencyCanBeSet) {
  Topology::Description d = shipped("two-gpu").description();
  d.issue.graph = GraphCost{.per_copy = Seconds{2e-6}};
  const Topology machine{std::move(d)};
  const Topology after = set(machine, {"issue.graph.per_copy=x2", "issue.hand_on=3 us"});
  EXPECT_DOUBLE_EQ(after.description().issue.graph->per_copy.value, 4e-6);
  EXPECT_DOUBLE_EQ(after.description().issue.hand_on.value, 3e-6);
}

TEST(MachineSettings, AKeyEndsBeforeTheFirstEqualsSign) {
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(split_setting("link:a->c.bandwidth = 5 GB/s"),
            (Parts{"link:a->c.bandwidth", "5 GB/s"}));
  EXPECT_EQ(split_setting("link:a->c=none"), (Parts{"link:a->c", "none"}));
  EXPECT_EQ(split_setting("name=a=b"), (Parts{"name", "a=b"}));
  EXPECT_EQ(split_setting("colour=a=b"), (Parts{"colour", "a=b"}));
}

TEST(MachineSettings, LengthsOfNamesCountLettersAndNotBytes) {
  const auto named = [](size_t letters) {
    std::string name = "name=";
    for (size_t i = 0; i < letters; ++i) name += "\xc3\xa9";
    return set(shipped("two-gpu"), {name}).name().size();
  };
  EXPECT_EQ(named(128), 256u);
  expect_input_error([&] { named(129); }, {"is not a name", "1 to 128 characters"});
}

TEST(MachineSettings, NoSettingsChangeNothing) {
  const Topology machine = shipped("summit-node");
  EXPECT_EQ(to_toml(set(machine, {}).description()), to_toml(machine.description()));
}

TEST(MachineSettings, AnAbsentFigureOfAGroupIsRefusedWithTheExistingOnes) {
  Topology::Description d = shipped("hgx-h200-4").description();
  d.groups[0].name = "busy";
  ASSERT_FALSE(d.groups[0].capacity);
  d.groups[0].forward_share.reset();
  const Topology machine{std::move(d)};
  expect_input_error(
      [&] { set(machine, {"group:busy.capacity=x2"}); },
      {"group 'busy' has no figure 'capacity'; expected one of: both_busy, bounds"});
}

struct Refused {
  std::string setting;
  std::vector<std::string> words;
};

class BadSetting : public ::testing::TestWithParam<Refused> {};

TEST_P(BadSetting, IsRefusedByName) {
  std::vector<std::string> words = GetParam().words;
  words.push_back(GetParam().setting);
  expect_input_error([&] { set(shipped("hgx-h200-4"), {GetParam().setting}); }, words);
}

INSTANTIATE_TEST_SUITE_P(
    , BadSetting,
    ::testing::Values(
        Refused{"foo", {"expected KEY=VALUE"}}, Refused{"=3", {"expected KEY=VALUE"}},
        Refused{"foo=3", {"'foo' is unknown", "link:FROM->TO.bandwidth"}},
        Refused{"link:host->gpu9.bandwidth=1 GB/s",
                {"link: 'host->gpu9' does not exist", "known: ", "'host->gpu0'"}},
        Refused{"link:gpu0->gpu9=none", {"link: 'gpu0->gpu9' does not exist"}},
        Refused{"link:host->gpu0=5 GB/s",
                {"has no figure ''; expected one of: bandwidth, latency"}},
        Refused{"memory:host=none", {"'host' is host memory; expected GPUs"}},
        Refused{"memory:gpu[4-5].capacity=1 GB",
                {"memory: 'gpu[4-5]' does not exist", "'gpu3'"}},
        Refused{"memory:gpu[5-4].capacity=1 GB", {"'5-4'", "not a list of ranges"}},
        Refused{"link:host->gpu0.bandwith=1 GB/s",
                {"has no figure 'bandwith'; expected one of: bandwidth"}},
        Refused{"link:*.bandwidth=48 Gb", {"'48 Gb' has no known unit"}},
        Refused{"link:*.bandwidth=48", {"'48' has no known unit"}},
        Refused{"link:*.bandwidth=x0", {"gives 0 B/s", "1 MB/s to 1 PB/s"}},
        Refused{"link:*.bandwidth=x-2", {"'x-2' is not a factor"}},
        Refused{"link:*.bandwidth=none",
                {": 'link:*.bandwidth' cannot be absent; expected a value"}},
        Refused{"issue.per_op=none", {": 'issue.per_op' cannot be absent"}},
        Refused{"link:*.latency=inf", {"'inf' is invalid here", "0 s to 10 s"}},
        Refused{"link:*.latency=-1 s", {"'-1 s' is out of range"}},
        Refused{"gpus=5", {"'5' is out of range; expected 1 to 4"}},
        Refused{"gpus=0", {"1 to 4"}},
        Refused{"gpus=x0.4", {"gives 1.6; expected an integer, 1 to 4"}},
        Refused{"gpus=2.5", {"'2.5' is not an integer"}},
        Refused{"kernels:*.rate=5 TFLOP/s", {"one rate for all types", "NAME.f64.rate"}},
        Refused{"kernels:*.memory_bandwidth=inf",
                {"a tiled gemm needs the memory bandwidth"}},
        Refused{"kernels:nvidia-h200.f99.rate=x2",
                {"kernels 'nvidia-h200' has no figure 'f99.rate'; expected one of: ",
                 ", f64.rate"}},
        Refused{"memory:gpu*.watts=5 W",
                {"memory 'gpu*' has no figure 'watts'", "watts.idle, watts.busy"}},
        Refused{"memory:host.engines.h2d=x2",
                {"memory 'host' has no figure 'engines.h2d'"}},
        Refused{"memory:gpu0.engines.h2d=1.5", {"'1.5' is not an integer"}},
        Refused{"memory:gpu0.engines.h2d=x1.5", {"gives 1.5; expected an integer"}},
        Refused{"memory:gpu0.watts.idle=800 W",
                {"busy watts: '700 W' is below the idle watts"}},
        Refused{"group:*.capacity=[[1, \"3 GB/s\"], [1, \"4 GB/s\"]]",
                {"does not ascend"}},
        Refused{"issue.per_opp=1 us", {"per_op, per_kernel"}},
        Refused{"issue.graph.per_tile=1 us", {"graph.per_call, graph.per_copy"}},
        Refused{"issue.graph.per_copy=1 us", {"the machine has no issue.graph.per_copy"}},
        Refused{"name=", {"is not a name"}}));

}  // namespace
}  // namespace tilerail
