// Parts of the critical path, and the busiest resource.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/summary/summary.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::sample_machine;
using test::sample_timeline;
using test::SamplePlan;
using ::testing::AllOf, ::testing::ElementsAre, ::testing::Field;

auto part(TimeUse kind, const char* name, double seconds) {
  return AllOf(Field(&Summary::PathPart::kind, kind),
               Field(&Summary::PathPart::name, name),
               Field(&Summary::PathPart::seconds, ::testing::DoubleNear(seconds, 1e-12)));
}

TEST(Bottleneck, TheCriticalPathDividesTheMakespan) {
  // From the end: copy 10 (20 ms), kernel 9 (25 ms), copy 8 (10 ms), which starts after
  // 35 ms. Copy 7 occupies the engine for copies into gpu1 during the last 5 ms of these.
  // The uplink has a higher utilisation than any link: 560 kB at 8 GB/s, against 400 kB
  // at 10 GB/s on host->pcie.
  const Summary summary =
      summarize(SamplePlan{}.plan(), sample_machine(), sample_timeline(), {});
  EXPECT_THAT(summary.critical_path,
              ::testing::UnorderedElementsAre(part(TimeUse::group, "uplink", 30e-3),
                                              part(TimeUse::issue, "", 30e-3),
                                              part(TimeUse::kernels, "", 25e-3),
                                              part(TimeUse::waiting, "copies", 5e-3)));
  EXPECT_EQ(summary.critical_path.back().kind, TimeUse::waiting);
  const std::string text = summary_table(summary);
  EXPECT_THAT(text, ::testing::HasSubstr("27.8% kernels, 5.6% waiting for copies"));
}

TEST(Bottleneck, TheBusiestResourceIsNamed) {
  const Summary summary =
      summarize(SamplePlan{}.plan(), sample_machine(), sample_timeline(), {});
  EXPECT_EQ(summary.busiest->kind, TimeUse::compute);
  EXPECT_EQ(summary.busiest->name, "gpu0");
  EXPECT_NEAR(summary.busiest->share, 35.0 / 90, 1e-12);
  EXPECT_THAT(summary_table(summary),
              ::testing::HasSubstr("busiest     38.9% compute gpu0"));
  EXPECT_EQ(nlohmann::json::parse(to_json(summary))["busiest"]["name"], "gpu0");
}

TEST(Bottleneck, ResourcesFasterThanDescribedAreUsedAboveOneHundredPercent) {
  // A million times faster, with kernels of zero duration: links carry 400 kB at 10 GB/s
  // in 90 ns = 44400%, the group 560 kB at 8 GB/s = 77800%.
  AnnotatedTimeline fast = sample_timeline();
  for (AnnotatedOp& op : fast.ops) {
    op.start *= 1e-6;
    op.end = op.kind == OpKind::copy ? op.end * 1e-6 : op.start;
  }
  const Summary summary = summarize(SamplePlan{}.plan(), sample_machine(), fast, {});
  EXPECT_EQ(summary.busiest->kind, TimeUse::group);
  EXPECT_EQ(summary.busiest->name, "uplink");
  EXPECT_NEAR(summary.busiest->share, 560e3 / 8e9 / 90e-9, 1e-9);
}

/// Devices run two operations simultaneously, and every kernel fills a device.
Topology machine_with_workers() {
  auto d = sample_machine().description();
  d.kernels[0].multiprocessors = 1;
  for (Memory& memory : d.memories)
    if (memory.processor) memory.processor->engines.total = 2;
  return Topology{std::move(d)};
}

/// A run on gpu0 of this machine.
class Workers {
 public:
  Workers() { draft_.plan.devices = {gpu_}; }
  void kernel(double start, double end) {
    const View tile = draft_.tile(gpu_, 100, 100);
    const int stream = int(run_.ops.size());
    draft_.gemm(draft_.compute_queue(gpu_, stream), tile, tile, tile, {});
    run_.ops.push_back({start, end});
  }
  void copy_within(double start, double end) {
    draft_.copy(draft_.copy_queue(gpu_, gpu_), draft_.tile(gpu_, 100, 100),
                draft_.tile(gpu_, 100, 100));
    run_.ops.push_back({start, end});
  }
  Summary summary() {
    run_.plan_hash = content_hash(draft_.plan);
    return summarize(draft_.plan, machine_, annotate(draft_.plan, machine_, run_), {});
  }

 private:
  Topology machine_ = machine_with_workers();
  MemoryId gpu_ = machine_.gpus()[0];
  PlanDraft draft_{machine_};
  Timeline run_{"sim", "", {}};
};

TEST(Bottleneck, WaitingForRoomIsWaitingForKernels) {
  Workers run;
  run.kernel(0, 4), run.kernel(3, 5);  // they overlap, although the first leaves no room
  EXPECT_THAT(
      run.summary().critical_path,
      ElementsAre(part(TimeUse::waiting, "kernels", 3), part(TimeUse::kernels, "", 2)));
}

TEST(Bottleneck, SmallPartsAreNamedTogetherOnlyAboveOnePercent) {
  Workers run;
  run.kernel(0.005, 1);
  EXPECT_THAT(summary_table(run.summary()),
              ::testing::HasSubstr("critical path: 99.5% kernels\n"));
}

TEST(Bottleneck, ACopyWithinAMemoryMovesNothing) {
  Workers run;
  run.copy_within(0, 1);
  EXPECT_EQ(run.summary().bytes_moved, 0);
  EXPECT_THAT(run.summary().critical_path, ElementsAre(part(TimeUse::memory, "gpu0", 1)));
}

TEST(Bottleneck, ALinkThatIsUsedAsMuchAsItsGroupIsNotNamed) {
  auto d = sample_machine().description();
  d.groups[0].capacity = small_machine::capacity(10);
  const Topology machine{std::move(d)};
  const MemoryId host = machine.hosts()[0], gpu = machine.gpus()[0];
  PlanDraft draft{machine};
  draft.copy(draft.copy_queue(host, gpu), draft.tile(host, 100, 100),
             draft.tile(gpu, 100, 100));
  draft.plan.devices = {gpu};
  const Timeline run{"sim", content_hash(draft.plan), {{0, 1}}};
  const Summary summary =
      summarize(draft.plan, machine, annotate(draft.plan, machine, run), {});
  EXPECT_EQ(summary.groups[0].utilisation,
            summary.links[0].utilisation);  // of host->pcie
  EXPECT_THAT(summary.critical_path, ElementsAre(part(TimeUse::group, "uplink", 1)));
}

}  // namespace
}  // namespace tilerail
