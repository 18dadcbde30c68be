// Knobs of a machine, equivalent knobs, and machines with improved parts.
#include "study/whatif/whatif.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/base/topology_limits.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::study {
namespace {

using ::testing::UnorderedElementsAre;

std::vector<std::string> names(const std::vector<Part>& parts) {
  std::vector<std::string> found;
  for (const Part& part : parts) found.push_back(part.name);
  return found;
}

std::vector<Part> parts(const Topology& machine, const PartSelection& selection = {}) {
  return parts_of(machine, tilerail::testing::cube(1024), selection);
}

std::vector<Knob> knobs(const Topology& machine) {
  return knobs_of(machine, tilerail::testing::cube(64));
}

TEST(WhatIfParts, EqualGpusAreEquivalent) {
  EXPECT_THAT(
      names(parts(test::shipped("two-gpu"))),
      ::testing::IsSupersetOf({"link:host->pcie0", "link:pcie0->host", "link:pcie*->gpu*",
                               "link:gpu*->pcie*", "engine:gpu*.h2d", "latency", "issue",
                               "all links and groups"}));
}

TEST(WhatIfParts, UnequalFiguresAreSeparateParts) {
  Topology::Description d = test::shipped("two-gpu").description();
  const std::string name = "pcie0->gpu1";
  const auto link = std::ranges::find(d.links, name, &Link::name);
  ASSERT_NE(link, d.links.end());
  link->bandwidth = Rate{5e9};
  EXPECT_THAT(names(parts(Topology{d})),
              ::testing::IsSupersetOf({"link:pcie0->gpu0", "link:pcie0->gpu1"}));
}

TEST(WhatIfParts, EveryKnobOfEveryMachineIsInOnePart) {
  for (const std::string& name : test::shipped_names()) {
    const Topology machine = test::shipped(name);
    std::multiset<std::string> seen, all;
    for (const Part& part : parts(machine))
      if (part.name != "all links and groups")
        for (const Knob& knob : part.knobs) seen.insert(knob.name);
    for (const Knob& knob : knobs(machine)) all.insert(knob.name);
    EXPECT_EQ(seen, all) << name;
  }
}

TEST(WhatIfParts, NoTwoPartsHaveOneName) {
  for (const std::string& name : test::shipped_names()) {
    std::set<std::string> seen;
    for (const std::string& part : names(parts(test::shipped(name))))
      EXPECT_TRUE(seen.insert(part).second) << name << ": " << part;
  }
}

TEST(WhatIfParts, OptionsSelectSingleParts) {
  const Topology machine = test::shipped("two-gpu");
  EXPECT_THAT(names(parts(machine, {.each = true, .only = {"link:pcie0->gpu*"}})),
              UnorderedElementsAre("link:pcie0->gpu0", "link:pcie0->gpu1"));
  EXPECT_THAT(names(parts(machine, {.only = {"link:host->*", "issue"}})),
              UnorderedElementsAre("link:host->pcie0", "issue"));
  expect_input_error(
      [&] { parts(machine, {.only = {"link:hist->*"}}); },
      {"only: 'link:hist->*' is not a part of two-gpu", "'link:host->pcie0'"});
}

TEST(WhatIfParts, NamesCanContainCharactersOfPatterns) {
  Topology::Description d = test::shipped("two-gpu").description();
  d.kernels.front().name = "a&b[1]";
  EXPECT_THAT(names(parts(Topology{d}, {.only = {"kernels:a&b[1]"}})),
              UnorderedElementsAre("kernels:a&b[1]"));
}

TEST(WhatIfParts, EveryChangeOfAPartGivesAValidMachine) {
  for (const std::string& name : test::shipped_names()) {
    const Topology machine = test::shipped(name);
    for (const Part& part : parts(machine))
      for (const double factor : {1.0 / 64, 0.5, 2.0, 4096.0, without_limit})
        EXPECT_EQ(improved(machine, part.knobs, factor).name(), machine.name())
            << part.name << " x" << factor;
  }
}

TEST(WhatIfParts, FiguresImproveByTheFactor) {
  const Topology machine = test::shipped("clx-ai");
  const auto& before = machine.description();
  for (const Knob& knob : knobs(machine)) {
    const Topology changed = improved(machine, std::span{&knob, 1}, 2);
    const auto& after = changed.description();
    const size_t i = knob.index;
    if (knob.kind == Knob::Kind::link) {
      EXPECT_EQ(after.links[i].bandwidth, 2 * before.links[i].bandwidth);
      EXPECT_EQ(after.links[i].latency, before.links[i].latency);
    }
    if (knob.kind == Knob::Kind::latency) {
      for (size_t link = 0; link < before.links.size(); ++link)
        EXPECT_EQ(after.links[link].latency, before.links[link].latency / 2);
    }
    if (knob.kind == Knob::Kind::kernels) {
      EXPECT_NEAR(
          before.kernels[i].gemm_time(999, 4000, 512, DType::f64, Trans::no, Trans::no) /
              after.kernels[i].gemm_time(999, 4000, 512, DType::f64, Trans::no,
                                         Trans::no),
          2, 1e-6);
    }
  }
}

TEST(WhatIfParts, UnlimitedPartsHaveNoLimit) {
  const Topology machine = test::shipped("karolina-hgx-a100");
  for (const Knob& knob : knobs(machine)) {
    const Topology changed = improved(machine, std::span{&knob, 1}, without_limit);
    const auto& after = changed.description();
    if (knob.kind == Knob::Kind::link) {
      EXPECT_EQ(after.links[knob.index].bandwidth, TopologyLimits::rate.most);
    }
    if (knob.kind == Knob::Kind::group) {
      EXPECT_EQ(after.groups.size() + 1, machine.groups().size());
    }
    if (knob.kind == Knob::Kind::issue) {
      EXPECT_EQ(after.issue.per_op, Seconds{0});
    }
  }
}

TEST(WhatIfParts, AMachineWithoutLinksHasPartsOfItsCores) {
  auto alone = small_machine::unlinked("h", "g", 0, {});
  alone.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 1}})};
  alone.memories[0].processor.emplace();
  JobText job;
  job.problem.gemm = "256";
  const WhatIf what = what_if(Topology{alone}, job, {}, {});
  ASSERT_FALSE(what.rows.empty());
  for (const Part& part : what.parts) EXPECT_FALSE(part.knobs.empty()) << part.name;
}

WhatIf asked(const std::vector<std::string>& only) {
  JobText job;
  job.problem.gemm = "256";
  job.machine.topology = TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml";
  job.policy.name = "gemmex";
  return what_if(job.machine.load(), job, {.only = only}, {});
}

TEST(WhatIf, OneEngineCannotBeHalved) {
  const WhatIf what = asked({"engine:gpu*.h2d"});
  std::multiset<double> factors;
  for (const WhatIfRow& row : what.rows) factors.insert(row.factor);
  EXPECT_EQ(factors, (std::multiset<double>{2, without_limit}));
}

TEST(WhatIf, TheUnchangedMachineHasTheBestOfAllPlans) {
  const WhatIf what = asked({"link:*"});
  for (const WhatIfRow& row : what.rows) {
    ASSERT_TRUE(row.trial);
    EXPECT_LE(what.now.makespan, row.trial->taken_back);
  }
}

TEST(WhatIf, PartsAreIdleIfEveryChangeIsNegligible) {
  const auto row = [](size_t part, double factor, double seconds) {
    Trial trial;
    trial.planned.makespan = trial.kept.makespan = seconds;
    return WhatIfRow{part, factor, trial};
  };
  WhatIf what;
  what.parts.resize(3);
  what.now.makespan = 1;
  what.rows = {row(0, 2, 0.9),
               row(0, 0.5, 1),
               row(1, 2, 0.9999),
               row(1, 0.5, 1.0001),
               {2, 2, {}, "failed"}};
  EXPECT_EQ(what.idle_parts(), std::vector<size_t>{1});
}

}  // namespace
}  // namespace tilerail::study
