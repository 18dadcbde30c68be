#include "report/compare/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/base/error.hpp"
#include "report/timeline/timeline_csv.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::delayed;
using test::sample_timeline;
using ::testing::ElementsAre, ::testing::Field;
using OpDifference = Comparison::OpDifference;

auto is_op(uint32_t number) { return Field(&OpDifference::op, number); }

/// Measured: op 3, the product on gpu0, takes 40 ms instead of 30, and ops 5, 6, 10 and
/// 11 start 10 ms later.
Comparison sample_comparison() {
  const AnnotatedTimeline predicted = sample_timeline();
  return compare(predicted, delayed(predicted, 3, 10e-3));
}

TEST(Figures, ErrorIsSignedAndRelativeToTheMeasuredValue) {
  EXPECT_DOUBLE_EQ((Figures{90, 100}.error().value()), -0.1);
  EXPECT_DOUBLE_EQ((Figures{3, 2}.error().value()), 0.5);
  EXPECT_EQ((Figures{0, 0}.error()), 0.0);
  EXPECT_EQ((Figures{1, 0}.error()), std::nullopt);
}

TEST(Compare, ATimelineAgreesWithItself) {
  const Comparison same = compare(sample_timeline(), sample_timeline());
  EXPECT_EQ(same.makespan.error(), 0.0);
  EXPECT_EQ(same.kernels.error(), 0.0);
  EXPECT_EQ(same.waiting.error(), 0.0);
  EXPECT_TRUE(same.worst_durations.empty());
}

TEST(Compare, TwoSimulationsAreNamedAfterMachinesOrFiles) {
  const AnnotatedTimeline here = sample_timeline();
  AnnotatedTimeline there = here;
  there.metadata.machine = "faster";
  const Comparison machines = compare(here, there);
  EXPECT_THAT(machines.sides, ElementsAre("sample", "faster"));
  const std::string table = comparison_table(machines);
  EXPECT_THAT(table, ::testing::ContainsRegex("total +sample +faster +difference"));
  EXPECT_THAT(table, ::testing::Not(::testing::HasSubstr("predicted")));
  EXPECT_THAT(compare(here, here, {"a.csv", "b.csv"}).sides,
              ElementsAre("a.csv", "b.csv"));
}

TEST(Compare, TheSidesAreNamedPredictedAndMeasured) {
  EXPECT_THAT(sample_comparison().sides, ElementsAre("predicted", "measured"));
}

TEST(Compare, TwoRunsAreNamedFirstAndSecond) {
  AnnotatedTimeline on_host = sample_timeline(), on_gpus = on_host;
  on_host.metadata.backend = "host", on_gpus.metadata.backend = "cuda";
  const Comparison runs = compare(on_host, on_gpus);
  EXPECT_THAT(runs.sides, ElementsAre("first", "second"));
  EXPECT_THAT(comparison_table(runs), ::testing::HasSubstr("difference"));
}

TEST(Compare, TotalsByKind) {
  const Comparison comparison = sample_comparison();
  EXPECT_NEAR(comparison.makespan.error().value(), (90.0 - 100) / 100, 1e-12);
  // Kernels 3, 5, 9: 30 + 5 + 25 ms and 10 ms more.
  EXPECT_NEAR(comparison.kernels.predicted, 60e-3, 1e-12);
  EXPECT_NEAR(comparison.kernels.measured, 70e-3, 1e-12);
  // Copies: 10 + 10 + 4 + 10 + 20 + 10 + 10 + 20 ms in both timelines.
  EXPECT_NEAR(comparison.copies.predicted, 94e-3, 1e-12);
  EXPECT_NEAR(comparison.copies.measured, 94e-3, 1e-12);
}

TEST(Compare, WaitingIsFromReadyToStartAndIdleIsTheRestOfTheQueues) {
  const Comparison comparison = sample_comparison();
  // Op 2 waits from 20 to 22 ms, op 6 from 55 to 60, op 7 from 0 to 30, op 8 from 0 to
  // 35; later operations are shifted without change.
  EXPECT_NEAR(comparison.waiting.predicted, 72e-3, 1e-12);
  EXPECT_NEAR(comparison.waiting.measured, 72e-3, 1e-12);
  // Nine queues, with 60 + 94 ms of operations in total.
  EXPECT_NEAR(comparison.idle.predicted, (9 * 90 - 154) * 1e-3, 1e-12);
  EXPECT_NEAR(comparison.idle.measured, (9 * 100 - 164) * 1e-3, 1e-12);
}

// Op 3 takes 10 ms longer: 25 W more for the kernel on gpu0, and 100 W for each GPU.
TEST(Compare, EnergyIsModelledFromBothTimelines) {
  const Topology machine = test::powered_machine();
  const AnnotatedTimeline predicted = sample_timeline(machine);
  Timeline late = test::SamplePlan::timeline(test::SamplePlan{}.plan());
  late.ops[3].end += 10e-3;
  for (const size_t after : {5, 6, 9, 10, 11})
    late.ops[after].start += 10e-3, late.ops[after].end += 10e-3;
  const AnnotatedTimeline measured = annotate(test::SamplePlan{}.plan(), machine, late);
  const Comparison comparison = compare(predicted, measured);
  const double joules = test::sample_joules[0] + test::sample_joules[1];
  ASSERT_TRUE(comparison.energy);
  EXPECT_NEAR(comparison.energy->predicted, joules, 1e-12);
  EXPECT_NEAR(comparison.energy->measured, joules + 0.25 + 2, 1e-12);
  EXPECT_FALSE(comparison.counted_energy);
  const auto json = nlohmann::json::parse(to_json(comparison));
  EXPECT_NEAR(json["energy"]["measured_j"].get<double>(), joules + 2.25, 1e-12);
  EXPECT_THAT(comparison_table(comparison), ::testing::HasSubstr("energy, modelled"));
}

TEST(Compare, CountedEnergyIsComparedWithThePrediction) {
  AnnotatedTimeline measured = sample_timeline();  // of a machine without watts
  measured.metadata.counted_energy_j = {10, 15};
  EXPECT_FALSE(compare(sample_timeline(), measured).counted_energy);
  const Comparison comparison =
      compare(sample_timeline(test::powered_machine()), measured);
  ASSERT_TRUE(comparison.counted_energy);
  EXPECT_FALSE(comparison.energy);
  EXPECT_NEAR(comparison.counted_energy->error().value(), 19.5 / 25 - 1, 1e-12);
  EXPECT_EQ(nlohmann::json::parse(to_json(comparison))["counted_energy"]["measured_j"],
            25);
  EXPECT_THAT(comparison_table(comparison),
              ::testing::HasSubstr("energy, counted by the GPUs"));
}

TEST(Compare, WaitingAndIdleTimeAreNeverNegative) {
  // Op 3 starts before it is ready, and ops 0 and 1 of one queue run simultaneously
  // during the whole makespan.
  AnnotatedTimeline measured = sample_timeline();
  measured.ops[3].ready = 25e-3;
  const double makespan = measured.makespan();
  for (const size_t op : {0, 1})
    measured.ops[op].start = 0, measured.ops[op].end = makespan;
  const Comparison comparison = compare(sample_timeline(), measured);
  EXPECT_NEAR(comparison.waiting.measured, comparison.waiting.predicted, 1e-12);
  // host->gpu0 was idle for 60 ms.
  EXPECT_NEAR(comparison.idle.measured, comparison.idle.predicted - 60e-3, 1e-12);
}

TEST(Compare, TheWorstOperationsComeFirst) {
  const Comparison comparison = sample_comparison();
  ASSERT_EQ(comparison.worst_durations.size(), 1u);
  EXPECT_EQ(comparison.worst_durations[0].op, 3u);
  EXPECT_NEAR(comparison.worst_durations[0].duration.difference(), -10e-3, 1e-12);
  EXPECT_EQ(comparison.worst_durations[0].queue, "gpu0 compute 0");
  EXPECT_EQ(comparison.worst_durations[0].label, "C[0:100,0:100]");
}

TEST(Compare, OnlyTheTenWorstAreKept) {
  const AnnotatedTimeline predicted = sample_timeline();
  AnnotatedTimeline measured = predicted;
  for (size_t i = 0; i < measured.ops.size(); ++i)
    measured.ops[i].end += 1e-3 * double(i);
  EXPECT_THAT(compare(predicted, measured).worst_durations,
              ElementsAre(is_op(11), is_op(10), is_op(9), is_op(8), is_op(7), is_op(6),
                          is_op(5), is_op(4), is_op(3),
                          is_op(2)));  // op 11 takes 11 ms longer
}

TEST(Compare, RoundingIsNotADifference) {
  AnnotatedTimeline measured = sample_timeline();
  measured.ops[3].end += 1e-13;
  EXPECT_TRUE(compare(sample_timeline(), measured).worst_durations.empty());
}

TEST(Compare, WorksFromCsvAlone) {
  const AnnotatedTimeline predicted = sample_timeline(),
                          measured = delayed(predicted, 3, 10e-3);
  const AnnotatedTimeline p = timeline_from_csv(to_csv(predicted), "p.csv"),
                          m = timeline_from_csv(to_csv(measured), "m.csv");
  EXPECT_EQ(to_json(compare(p, m)), to_json(compare(predicted, measured)));
}

std::string refusal(const AnnotatedTimeline& predicted,
                    const AnnotatedTimeline& measured) {
  try {
    compare(predicted, measured);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Compare, RefusesTimelinesOfDifferentPlans) {
  const AnnotatedTimeline predicted = sample_timeline();
  AnnotatedTimeline other = predicted;
  other.metadata.plan_hash = "ffff";
  EXPECT_EQ(refusal(predicted, other),
            "plan_hash: predicted '" + predicted.metadata.plan_hash +
                "', measured 'ffff'; expected timelines of one plan");
  AnnotatedTimeline shorter = predicted;
  shorter.ops.pop_back();
  EXPECT_EQ(refusal(predicted, shorter),
            "ops: predicted 12, measured 11; expected timelines of one plan");
  AnnotatedTimeline changed = predicted;
  changed.ops[5].kind = OpKind::gemm;
  EXPECT_EQ(refusal(predicted, changed),
            "op: '5' is predicted as axpby on 'gpu0 compute 1', and measured as gemm on "
            "'gpu0 compute 1'; expected "
            "timelines of one plan");
}

TEST(Compare, RefusesASimulationAsTheMeasurementOfSomethingElse) {
  AnnotatedTimeline simulated = sample_timeline(), run = sample_timeline();
  simulated.metadata.backend = "sim", run.metadata.backend = "cuda";
  EXPECT_NO_THROW(compare(simulated, run));
  EXPECT_NO_THROW(compare(simulated, simulated));
  EXPECT_NO_THROW(compare(run, run));
  EXPECT_THROW(compare(run, simulated), InputError);
}

TEST(Compare, JsonAndTableHoldTheFigures) {
  const auto json = nlohmann::json::parse(to_json(sample_comparison()));
  EXPECT_NEAR(json["makespan"]["error"].get<double>(), -0.1, 1e-12);
  EXPECT_EQ(json["predicted"]["backend"], "sim");
  EXPECT_EQ(json["measured"]["backend"], "host");
  EXPECT_EQ(json["worst_durations"][0]["op"], 3);
  const std::string table = comparison_table(sample_comparison());
  EXPECT_THAT(table, ::testing::HasSubstr(
                         "makespan                   90.00 ms  100.0 ms  -10.0%"));
  EXPECT_THAT(table, ::testing::HasSubstr("gpu0 compute 0"));
}

TEST(Compare, EmptyTimelinesAgree) {
  AnnotatedTimeline empty;
  empty.metadata = sample_timeline().metadata;
  const Comparison comparison = compare(empty, empty);
  EXPECT_EQ(comparison.makespan.error(), 0.0);
  EXPECT_TRUE(comparison.worst_durations.empty());
  EXPECT_EQ(nlohmann::json::parse(to_json(comparison))["ops"], 0);
  EXPECT_FALSE(comparison_table(comparison).empty());
}

}  // namespace
}  // namespace tilerail
