// What of a machine can be better, which parts are alike, and the machines with better parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "model/base/topology_limits.hpp"
#include "study/whatif/alike.hpp"
#include "study/whatif/part.hpp"
#include "study/whatif/trial.hpp"
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

std::vector<Part> parts(const Topology& machine, const PartSelection& selection = {},
                        const GemmProblem& problem = tilerail::testing::cube(1024)) {
  return parts_of(machine, problem, machine.gpus(), selection);
}

TEST(WhatIfParts, EqualGpusAreAlike) {
  EXPECT_THAT(names(parts(test::shipped("two-gpu"))),
              ::testing::IsSupersetOf({"link:host->pcie0", "link:pcie0->host", "link:pcie0->gpu[0-1]",
                                       "link:gpu[0-1]->pcie0", "latency of all links", "all links and groups"}));
}

TEST(WhatIfParts, WhereAMatrixIsTellsGpusApart) {
  GemmProblem p = tilerail::testing::cube(1024);
  p.place_a = test::shipped("two-gpu").gpus()[0];
  EXPECT_THAT(names(parts(test::shipped("two-gpu"), {}, p)),
              ::testing::IsSupersetOf({"link:pcie0->gpu0", "link:pcie0->gpu1"}));
}

TEST(WhatIfParts, GpusThatMayNotBeUsedAreApart) {
  const Topology machine = test::shipped("two-gpu");
  const auto found = parts_of(machine, tilerail::testing::cube(64), std::span{machine.gpus()}.first(1), {});
  EXPECT_THAT(names(found), ::testing::Contains("link:pcie0->gpu1"));
}

TEST(WhatIfParts, RailsThatTakeUnequalSharesAreNotAlike) {
  using namespace small_machine;
  auto d = memories_and_switches(1, 2);
  for (const std::string rail : {"s0", "s1"}) add_links(d, "h", rail, 12), add_links(d, rail, "g0", 12);
  for (const int rail : {0, 4}) d.routes.push_back({MemoryId{0}, MemoryId{1}, {LinkId{rail}, LinkId{rail + 2}}, "s"});
  EXPECT_THAT(names(parts(Topology{d})), ::testing::Contains("link:h->s[0-1]"));
  d.routes[0].share = 2;
  EXPECT_THAT(names(parts(Topology{d})), ::testing::IsSupersetOf({"link:h->s0", "link:h->s1"}));
}

TEST(WhatIfParts, EveryKnobOfEveryMachineIsInOneClass) {
  for (const std::string& name : test::shipped_names()) {
    const Topology machine = test::shipped(name);
    std::multiset<Knob> seen;
    for (const auto& alike : classes_of_alike(machine, tilerail::testing::cube(64), machine.gpus()))
      seen.insert(alike.begin(), alike.end());
    const std::vector<Knob> all = knobs_of(machine);
    EXPECT_EQ(seen, (std::multiset<Knob>{all.begin(), all.end()})) << name;
  }
}

TEST(WhatIfParts, NoTwoPartsHaveOneName) {
  for (const std::string& name : test::shipped_names()) {
    std::set<std::string> seen;
    for (const std::string& part : names(parts(test::shipped(name))))
      EXPECT_TRUE(seen.insert(part).second) << name << ": " << part;
  }
}

TEST(WhatIfParts, EachAloneAndOnlySome) {
  const Topology machine = test::shipped("two-gpu");
  EXPECT_THAT(names(parts(machine, {.each = true, .only = {"link:pcie0->gpu*"}, .together = {}})),
              UnorderedElementsAre("link:pcie0->gpu0", "link:pcie0->gpu1"));
  EXPECT_THAT(names(parts(machine, {.only = {"link:host->*"}, .together = {"link:host->* & link:*->host"}})),
              UnorderedElementsAre("link:host->pcie0", "link:host->* & link:*->host"));
  expect_input_error([&] { parts(machine, {.only = {"link:hist->*"}, .together = {}}); },
                     {"only: 'link:hist->*' is not a part of two-gpu", "'link:host->pcie0'"});
  expect_input_error([&] { parts(machine, {.only = {}, .together = {"link:host->* &"}}); },
                     {"together: '' is not a part of two-gpu"});
}

TEST(WhatIfParts, TheSamePartsTogetherTwiceAreRefused) {
  expect_input_error(
      [] {
        parts(test::shipped("two-gpu"), {.only = {}, .together = {"link:*", "link:*"}});
      },
      {"together: 'link:*' is given twice"});
}

TEST(WhatIfParts, NamesMayHoldWhatPatternsAreWrittenWith) {
  Topology::Description d = test::shipped("two-gpu").description();
  d.kernels.front().name = "a&b[1]";
  const Topology machine{std::move(d)};
  EXPECT_THAT(names(parts(machine, {.only = {"kernels:a&b[1]"}, .together = {"kernels:a&b[1] & link:host->*"}})),
              UnorderedElementsAre("kernels:a&b[1]", "kernels:a&b[1] & link:host->*"));
}

TEST(WhatIfParts, IssuingCostsWhereOnlyKernelsDo) {
  Topology::Description d = test::shipped("two-gpu").description();
  d.issue = {};
  EXPECT_THAT(names(parts(Topology{d})), ::testing::Not(::testing::Contains("issue")));
  d.issue.per_kernel = Seconds{2e-6};
  const Topology machine{d};
  EXPECT_THAT(names(parts(machine)), ::testing::Contains("issue"));
  const Knob issue{Knob::Kind::issue};
  EXPECT_EQ(value_of(issue, machine, tilerail::testing::cube(64)), "2 us");
}

TEST(WhatIfParts, OneNameForMany) {
  const auto name = [](std::vector<std::string> all) { return common_name(all); };
  EXPECT_EQ(name({"host->gpu0"}), "host->gpu0");
  EXPECT_EQ(name({"host->gpu0", "host->gpu1", "host->gpu2"}), "host->gpu[0-2]");
  EXPECT_EQ(name({"gpu10->plx1", "gpu0->plx1", "gpu1->plx1", "gpu7->plx1"}), "gpu[0-1,7,10]->plx1");
  EXPECT_EQ(name({"a", "b"}), "a, b");
  EXPECT_EQ(name({"a", "b", "c", "d"}), "a, b and 2 more");
}

TEST(WhatIfParts, EveryPartOfEveryMachineCanChangeAndIsStillAMachine) {
  for (const std::string& name : test::shipped_names()) {
    const Topology machine = test::shipped(name);
    for (const Part& part : parts(machine))
      for (const double factor : {1.0 / 64, 0.5, 2.0, 4096.0, without_limit})
        EXPECT_EQ(improved(machine, part.knobs, factor).name(), machine.name()) << part.name << " x" << factor;
  }
}

TEST(WhatIfParts, FiguresAreSoManyTimesAsGood) {
  const Topology machine = test::shipped("clx-ai");
  const auto& before = machine.description();
  for (const Knob& knob : knobs_of(machine)) {
    const Topology changed = improved(machine, std::span{&knob, 1}, 2);
    const auto& after = changed.description();
    const size_t i = knob.index;
    if (knob.kind == Knob::Kind::link) {
      EXPECT_EQ(after.links[i].bandwidth, 2 * before.links[i].bandwidth);
      EXPECT_EQ(after.links[i].latency, before.links[i].latency);
    }
    if (knob.kind == Knob::Kind::latency) {
      EXPECT_EQ(after.links[i].latency, before.links[i].latency / 2);
    }
    if (knob.kind == Knob::Kind::kernels) {
      EXPECT_NEAR(before.kernels[i].gemm_time(999, 4000, 512, DType::f64, Trans::no, Trans::no) /
                      after.kernels[i].gemm_time(999, 4000, 512, DType::f64, Trans::no, Trans::no),
                  2, 1e-6);
    }
  }
}

TEST(WhatIfParts, WithoutLimitThereIsNone) {
  const Topology machine = test::shipped("karolina-hgx-a100");
  for (const Knob& knob : knobs_of(machine)) {
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

TEST(WhatIfParts, OneEngineCannotBeHalved) {
  const Topology machine = test::shipped("two-gpu");
  for (const Part& part : parts(machine))
    if (part.name == "engine:gpu[0-1].h2d") {
      EXPECT_FALSE(can_change(part, machine, 0.5));
      EXPECT_TRUE(can_change(part, machine, 2));
      return;
    }
  FAIL() << "no engines";
}

TEST(LeastFactor, IsFoundToASixteenthOfAnOctave) {
  const double step = std::exp2(1.0 / 16);
  for (const double wanted : {0.2, 0.6, 1.1, 1.9, 3.0, 100.0}) {
    const double below = wanted < 0.5 ? 0 : wanted < 1 ? 0.5 : wanted < 2 ? 1 : 2;
    const double above = wanted < 0.5 ? 0.5 : wanted < 1 ? 1 : wanted < 2 ? 2 : without_limit;
    const double found = least_factor(below, above, [&](double factor) { return factor >= wanted; });
    EXPECT_GE(found, wanted);
    EXPECT_LE(found, wanted * step);
  }
}

TEST(LeastFactor, MayBeNoneOrAny) {
  EXPECT_EQ(least_factor(2, without_limit, [](double) { return false; }), without_limit);
  EXPECT_EQ(least_factor(0, 0.5, [](double) { return true; }), 0);
}

}  // namespace
}  // namespace tilerail::study
