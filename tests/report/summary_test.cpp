#include "report/summary/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/base/text.hpp"
#include "report/summary/group_use.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::sample_machine;
using test::sample_timeline;
using test::SamplePlan;

Summary sample_summary() {
  return summarize(SamplePlan{}.plan(), sample_machine(), sample_timeline(),
                   {0.001, 0.25});
}

template <class Items>
auto named(const Items& items, const std::string& name) {
  for (const auto& item : items) {
    if (item.name == name) return item;
  }
  throw std::out_of_range{name};
}

// Times are from the table in sample.hpp; the makespan is 90 ms.
TEST(Summary, RateIsTheProblemOverTheMakespan) {
  const Summary summary = sample_summary();
  EXPECT_DOUBLE_EQ(summary.makespan_s, 90e-3);
  EXPECT_NEAR(summary.tflops, 2.0 * 200 * 100 * 100 / 90e-3 / 1e12, 1e-12);
  EXPECT_EQ(summary.ops, 12);
  EXPECT_EQ(summary.plan_s, 0.001);
  EXPECT_EQ(summary.execute_s, 0.25);
}

/// One kernel of one second, for a problem of 1000 x 1000 x 1000.
Summary summary_of(Scalar alpha, Scalar beta) {
  const Topology machine = test::powered_machine();
  const MemoryId host = machine.hosts()[0], gpu = machine.gpus()[0];
  GemmProblem problem{1000, 1000, 1000, DType::f64, Trans::no, Trans::no, 0,
                      2,    host, host, host,       0,         0,         0};
  PlanDraft draft{machine, problem};
  const View tile = draft.tile(gpu, 1000, 1000);
  draft.axpby(draft.compute_queue(gpu), tile, tile, {alpha, beta});
  draft.plan.devices = {gpu};
  const Timeline run{"sim", content_hash(draft.plan), {{0, 1}}};
  return summarize(draft.plan, machine, annotate(draft.plan, machine, run), {});
}

TEST(Summary, ProblemsWithoutMultiplicationsHaveTheRateOfAdditions) {
  const Summary scaled =
      summary_of(Scalar::zero, Scalar::beta);  // C = beta C: one operation per element
  EXPECT_DOUBLE_EQ(scaled.tflops, 1e6 / 1e12);
  EXPECT_DOUBLE_EQ(scaled.energy.value().metric_values[0], 1e6);
  EXPECT_DOUBLE_EQ(summary_of(Scalar::one, Scalar::beta).tflops, 2e6 / 1e12);
}

TEST(Summary, ProblemsWithoutArithmeticHaveNoRate) {
  const Summary cleared = summary_of(Scalar::zero, Scalar::zero);
  EXPECT_EQ(cleared.tflops, 0);
  EXPECT_THAT(summary_table(cleared), ::testing::ContainsRegex("makespan +1.000 s\n"));
  EXPECT_THAT(summary_table(cleared), ::testing::Not(::testing::HasSubstr("FLOP/s")));
}

TEST(Summary, BytesOfCopiesAreCountedByDirection) {
  const Summary summary = sample_summary();
  EXPECT_EQ(summary.bytes_in, 5 * 80'000);   // ops 0, 1, 4, 7, 8
  EXPECT_EQ(summary.bytes_out, 2 * 80'000);  // ops 6, 10
  EXPECT_EQ(summary.bytes_peer, 80'000);     // op 2
  EXPECT_EQ(summary.bytes_moved, 8 * 80'000);
}

TEST(Summary, AQueueIsBusyForTheSumOfItsOperations) {
  const auto queue = named(sample_summary().queues, "host->gpu0");
  EXPECT_NEAR(queue.busy_s, 30e-3, 1e-15);
  EXPECT_EQ(queue.bytes, 3 * 80'000);
  EXPECT_EQ(queue.ops, 3);
  EXPECT_EQ(sample_summary().queues.size(), 9u);
}

TEST(Summary, UseOfALinkIsRelativeToTheRateOfItsQueues) {
  const Summary summary = sample_summary();
  // 400 kB of the 900 MB possible at 10 GB/s.
  const auto uplink = named(summary.links, "host->pcie");
  EXPECT_EQ(uplink.bytes, 400'000);
  EXPECT_NEAR(uplink.utilisation.value(), 4e5 / 9e8, 1e-12);
  // One queue crosses this link, so per_flow = 4 GB/s bounds it.
  EXPECT_NEAR(named(summary.links, "gpu0->gpu1").utilisation.value(), 8e4 / (4e9 * 90e-3),
              1e-12);
  EXPECT_EQ(named(summary.links, "gpu1->gpu0").bytes, 0);
}

TEST(Summary, UseOfALinkIsRelativeToItsBandwidthIfItsQueuesAreFaster) {
  // Three queues cross host->pcie, each with at most 4 GB/s: 12 GB/s in total, above the
  // 10 GB/s of the link.
  auto d = sample_machine().description();
  d.links[0].per_flow = Rate{4e9};
  const Topology machine{std::move(d)};
  const Summary summary =
      summarize(SamplePlan{}.plan(), machine, sample_timeline(machine), {});
  EXPECT_NEAR(named(summary.links, "host->pcie").utilisation.value(), 4e5 / 9e8, 1e-12);
}

TEST(Summary, AGroupIsMeasuredAgainstTheBoundThatApplied) {
  // 5 copies in, until 45 ms, and 2 copies out, from 60 ms on: never simultaneously, so 8
  // GB/s.
  const auto uplink = named(sample_summary().groups, "uplink");
  EXPECT_EQ(uplink.bytes, 7 * 80'000);
  EXPECT_NEAR(uplink.utilisation.value(), 5.6e5 / (8e9 * 90e-3), 1e-12);
}

TEST(Summary, AGroupIsMeasuredAgainstItsBoundAtEachMoment) {
  // 20 B forward in [0, 4), 5 B/s, and 22 B backward in [2, 4), 11 B/s; the makespan is 8
  // s.
  const std::vector<GroupCopy> copies{
      {0, 4, 20, true, false}, {2, 4, 22, false, true}, {3, 3, 0, true, false}};
  const auto curve = [](double one, double two) {
    return CapacityCurve{{{1, Rate{one}}, {2, Rate{two}}}};
  };
  CapacityGroup group;
  group.capacity = curve(10, 10), group.both_busy = curve(16, 16);
  EXPECT_DOUBLE_EQ(group_utilisation(group, copies, 8).value(),
                   (2 * 5 / 10.0 + 2 * 16 / 16.0) / 8);
  group.capacity = curve(10, 20),
  group.both_busy = std::nullopt;  // bounded by the number of copies
  EXPECT_DOUBLE_EQ(group_utilisation(group, copies, 8).value(),
                   (2 * 5 / 10.0 + 2 * 16 / 20.0) / 8);
  group.capacity = std::nullopt,
  group.both_busy = curve(16, 16);  // no bound for a single direction
  EXPECT_DOUBLE_EQ(group_utilisation(group, copies, 8).value(), 2 * 16 / 16.0 / 8);
  EXPECT_FALSE(group_utilisation(group, {copies[0]}, 8));
}

TEST(Summary, ADeviceIsBusyWhileAnyKernelRunsOnIt) {
  const Summary summary = sample_summary();
  EXPECT_NEAR(named(summary.devices, "gpu0").busy_s, 35e-3,
              1e-15);  // 20 to 50 and 50 to 55
  EXPECT_NEAR(named(summary.devices, "gpu1").busy_s, 25e-3,
              1e-15);  // 45 to 70; a join does no work
  EXPECT_EQ(named(summary.memories, "gpu0").peak_bytes, 4 * 80'000);
}

TEST(Summary, ARunThatTakesNoTimeHasNoRatesAndNoBottleneck) {
  AnnotatedTimeline still = sample_timeline();
  for (AnnotatedOp& op : still.ops) op.ready = op.start = op.end = 0;
  const Summary summary = summarize(SamplePlan{}.plan(), sample_machine(), still, {});
  EXPECT_EQ(summary.tflops, 0);
  EXPECT_TRUE(summary.critical_path.empty());
  EXPECT_FALSE(summary.busiest);
  EXPECT_EQ(nlohmann::json::parse(to_json(summary))["makespan_s"], 0);
  EXPECT_FALSE(summary_table(summary).empty());
}

TEST(Summary, JsonHasTheFieldsForScripts) {
  const auto json = nlohmann::json::parse(to_json(sample_summary()));
  EXPECT_EQ(json["makespan_s"], sample_summary().makespan_s);
  EXPECT_EQ(json["ops"], 12);
  EXPECT_EQ(json["plan_hash"], content_hash(SamplePlan{}.plan()));
  EXPECT_EQ(json["policy"], "gemmex+tile=100");
  EXPECT_EQ(json["tile"], 100);
  EXPECT_EQ(json["devices"], (std::vector<std::string>{"gpu0", "gpu1"}));
  EXPECT_EQ(json["problem"]["m"], 200);
  EXPECT_EQ(json["problem"]["transa"], "N");
  EXPECT_EQ(json["problem"]["place"], (std::vector<std::string>{"host", "host", "host"}));
  EXPECT_EQ(json["machine"], "sample");
  EXPECT_EQ(json["backend"], "sim");
  EXPECT_EQ(json["peak_bytes"]["gpu1"], 240'000);
  EXPECT_EQ(json["queues"].size(), 9u);
  EXPECT_EQ(json["queues"][0]["name"], "host->gpu0");
  EXPECT_EQ(json["links"].size(), 8u);
  EXPECT_EQ(json["critical_path"][3]["kind"], "waiting");
  EXPECT_EQ(json["busiest"]["name"], "gpu0");
  for (const char* key : {"tflops", "plan_s", "execute_s", "bytes_moved"})
    EXPECT_TRUE(json[key].is_number()) << key;
}

TEST(Summary, EnergyCountsParticipatingDevices) {
  const Topology machine = test::powered_machine();
  const Summary summary =
      summarize(SamplePlan{}.plan(), machine, sample_timeline(machine), {});
  const double joules = test::sample_joules[0] + test::sample_joules[1],
               flops = 2.0 * 200 * 100 * 100;
  ASSERT_TRUE(summary.energy);
  EXPECT_NEAR(named(summary.devices, "gpu0").energy_j.value(), test::sample_joules[0],
              1e-12);
  EXPECT_NEAR(named(summary.devices, "gpu1").energy_j.value(), test::sample_joules[1],
              1e-12);
  EXPECT_NEAR(summary.energy->joules, joules, 1e-12);
  EXPECT_NEAR(summary.energy->watts, joules / 90e-3, 1e-9);
  EXPECT_NEAR(summary.energy->edp, joules * 90e-3, 1e-12);
  const auto json = nlohmann::json::parse(to_json(summary));
  EXPECT_EQ(json["energy_j"], summary.energy->joules);
  EXPECT_EQ(json["watts"], summary.energy->watts);
  EXPECT_EQ(json["edp_js"], summary.energy->edp);
  EXPECT_EQ(json["compute"][1]["energy_j"], summary.devices[1].energy_j.value());
  EXPECT_NEAR(json["metrics"]["perf"].get<double>(), flops / 90e-3, 1e-6);
  EXPECT_NEAR(json["metrics"]["pdp"].get<double>(), flops / joules, 1e-6);
  EXPECT_NEAR(json["metrics"]["edp"].get<double>() / (flops * flops / 90e-3 / joules), 1,
              1e-12);
  // 18 J and 1.5 J in 90 ms; 4 Mflop.
  const std::string text = summary_table(summary);
  EXPECT_THAT(text,
              ::testing::HasSubstr(
                  "19.50 J, 216.7 W on average, 0.0002051 GFLOP/s/W, EDP 1.755 J s"));
}

TEST(Summary, OtherGpusOfTheMachineAreNotInTheEnergy) {
  auto d = test::powered_machine().description();
  Memory more = d.memories[2];
  more.name = "gpu2", more.processor->device = 2,
  more.vertex = VertexId{d.vertices.size()}, more.processor->idle_watts = Watts{30};
  d.vertices.push_back({"gpu2", VertexKind::gpu, "s"});
  d.memories.push_back(more);
  d.links.push_back(d.links[0]), d.links.push_back(d.links[1]);
  d.links[8].to = d.links[9].from = more.vertex;
  const Topology machine{std::move(d)};
  Plan plan = SamplePlan{}.plan();
  plan.memories.push_back("gpu2"), plan.peak_bytes.push_back(0);
  const auto timeline = annotate(plan, machine, SamplePlan::timeline(plan));
  const Summary summary = summarize(plan, machine, timeline, {});
  EXPECT_NEAR(summary.energy->joules, test::sample_joules[0] + test::sample_joules[1],
              1e-12);
}

TEST(Summary, WithoutWattsThereIsNoEnergy) {
  const auto json = nlohmann::json::parse(to_json(sample_summary()));
  for (const char* key : {"energy_j", "watts", "edp_js", "metrics"})
    EXPECT_FALSE(json.contains(key)) << key;
  EXPECT_FALSE(json["compute"][0].contains("energy_j"));
  EXPECT_THAT(summary_table(sample_summary()),
              ::testing::Not(::testing::HasSubstr("energy")));
}

TEST(Summary, TableColumnsAreAligned) {
  std::istringstream table{summary_table(sample_summary())};
  std::string line;
  size_t links = 0, width = 0;
  for (bool inside = false; std::getline(table, line);) {
    inside = line.starts_with("link") || (inside && !line.empty());
    if (!inside) continue;
    if (line.starts_with("link")) width = line.size();
    EXPECT_EQ(line.size(), width) << line;  // the last column is right-aligned
    ++links;
  }
  EXPECT_EQ(links,
            8u);  // the header and the 7 links that carried bytes: all but gpu1->gpu0
}

TEST(Text, QuantitiesHaveFourDigitsAndAUnit) {
  EXPECT_EQ(seconds_text(0.0123456), "12.35 ms");
  EXPECT_EQ(seconds_text(2.5e-6), "2.500 us");
  EXPECT_EQ(seconds_text(3.2e-9), "3.200 ns");
  EXPECT_EQ(seconds_text(1234), "1234 s");
  EXPECT_EQ(seconds_text(-0.5), "-500.0 ms");
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(bytes_text(8589934592.0), "8.590 GB");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(joules_text(0.0123456), "12.35 mJ");
  EXPECT_EQ(joules_text(12345), "12.35 kJ");
  EXPECT_EQ(watts_text(700), "700.0 W");
  EXPECT_EQ(share_text(0.931), "93.1%");
  EXPECT_EQ(error_text(-0.042), "-4.2%");
  EXPECT_EQ(error_text(std::nullopt), "-");
}

TEST(Text, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(aligned({{"a", "long", "x"}, {"bcd", "1", "22"}}, "lr"),
            "a    long   x\nbcd     1  22\n");
  EXPECT_EQ(aligned({{"a", "b"}, {"cc", ""}}, "l", 2), "  a   b\n  cc\n");
}

}  // namespace
}  // namespace tilerail
