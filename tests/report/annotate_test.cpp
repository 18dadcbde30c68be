#include "report/timeline/annotate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/error.hpp"
#include "plan/validate.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::sample_machine;
using test::sample_timeline;
using test::SamplePlan;

TEST(Annotate, TheSamplePlanIsValid) {
  EXPECT_NO_THROW(validate(SamplePlan{}.plan(), sample_machine()));
}

TEST(Annotate, NamesQueuesDevicesAndRoutes) {
  const AnnotatedTimeline timeline = sample_timeline();
  // Queues by first operation: ops 0, 2, 3, 5, 6, 7, 8, 9, 10.
  const std::vector<AnnotatedQueue> expected = {
      {"host->gpu0", "gpu0", "host", "gpu0", "host->pcie;pcie->gpu0"},
      {"gpu0->gpu1", "gpu1", "gpu0", "gpu1", "gpu0->gpu1"},
      {"gpu0 compute 0", "gpu0", "gpu0", "gpu0", ""},
      {"gpu0 compute 1", "gpu0", "gpu0", "gpu0", ""},
      {"gpu0->host", "gpu0", "gpu0", "host", "gpu0->pcie;pcie->host"},
      {"host->gpu1", "gpu1", "host", "gpu1", "host->pcie;pcie->gpu1"},
      {"host->gpu1 #2", "gpu1", "host", "gpu1", "host->pcie;pcie->gpu1"},
      {"gpu1 compute 0", "gpu1", "gpu1", "gpu1", ""},
      {"gpu1->host", "gpu1", "gpu1", "host", "gpu1->pcie;pcie->host"}};
  EXPECT_EQ(timeline.queues, expected);
  EXPECT_EQ(timeline.queue_of(timeline.ops[8]).name, "host->gpu1 #2");
}

TEST(Annotate, FollowsTilesToTheRegionsOfTheMatrices) {
  const AnnotatedTimeline timeline = sample_timeline();
  // Op 2 forwards the tile fetched by op 1; op 3 writes a tile that never contained C.
  const std::vector<std::string> expected = {
      "A[0:100,0:100]",   "B[0:100,0:100]",   "B[0:100,0:100]",   "C[0:100,0:100]",
      "C[0:100,0:100]",   "C[0:100,0:100]",   "C[0:100,0:100]",   "A[100:200,0:100]",
      "C[100:200,0:100]", "C[100:200,0:100]", "C[100:200,0:100]", ""};
  std::vector<std::string> labels;
  for (const AnnotatedOp& op : timeline.ops) labels.push_back(timeline.label_of(op));
  EXPECT_THAT(labels, ::testing::ElementsAreArray(expected));
}

TEST(Annotate, CountsBytesOfCopiesAndFlopsOfKernels) {
  const AnnotatedTimeline timeline = sample_timeline();
  EXPECT_EQ(timeline.ops[0].bytes, 100 * 100 * 8);
  EXPECT_EQ(timeline.ops[0].flops, 0);
  EXPECT_EQ(timeline.ops[3].bytes, 0);
  EXPECT_EQ(timeline.ops[3].flops, 2.0 * 100 * 100 * 100);
  EXPECT_EQ(timeline.ops[5].flops, 2.0 * 100 * 100);  // a sum of two tiles
}

TEST(Annotate, AnOperationIsReadyWhenItsQueueAndItsDependenciesHaveEnded) {
  const AnnotatedTimeline timeline = sample_timeline();
  EXPECT_DOUBLE_EQ(timeline.ops[0].ready, 0);      // first of its queue, no dependencies
  EXPECT_DOUBLE_EQ(timeline.ops[1].ready, 10e-3);  // op 0 in its queue
  EXPECT_DOUBLE_EQ(timeline.ops[2].ready, 20e-3);  // op 1; op 2 started 2 ms later
  EXPECT_DOUBLE_EQ(timeline.ops[5].ready, 50e-3);  // the later of ops 3 and 4
  EXPECT_DOUBLE_EQ(timeline.ops[11].ready,
                   90e-3);  // op 10; op 9 in its queue ended at 70
  EXPECT_DOUBLE_EQ(timeline.makespan(), 90e-3);
}

TEST(Annotate, MetadataDescribesTheRun) {
  const TimelineMetadata metadata = sample_timeline().metadata;
  EXPECT_EQ(metadata.plan_hash, content_hash(SamplePlan{}.plan()));
  EXPECT_EQ(metadata.machine, "sample");
  EXPECT_EQ(metadata.policy, "gemmex+tile=100");
  EXPECT_EQ(
      metadata.problem,
      "gemm m=200 n=100 k=100 dtype=f64 trans=NN alpha=1 beta=2 place=host:host:host");
  EXPECT_EQ(metadata.tile, 100);
  EXPECT_EQ(metadata.backend, "sim");
  EXPECT_EQ(metadata.devices, (std::vector<std::string>{"gpu0", "gpu1"}));
  EXPECT_EQ(metadata.hosts, std::vector<std::string>{"host"});
  EXPECT_FALSE(metadata.version.empty());
}

TEST(Annotate, ASumThatStartsFromXIsPartOfY) {
  const Topology machine = sample_machine();
  GemmProblem p = axpy_problem(1000);
  p.beta = 0, p.place_a = p.place_c = machine.hosts()[0];
  Policy policy = any_preset("gemmex");
  policy.choices.tile = 600;
  const Plan plan = plan_gemm(p, machine, {machine.gpus().data(), 1},
                              policy);  // for each of two tiles: x, kernel, y
  const AnnotatedTimeline timeline =
      annotate(plan, machine,
               Timeline{"sim", content_hash(plan), std::vector<OpTime>(plan.ops.size())});
  ASSERT_EQ(timeline.ops.size(), 6u);
  EXPECT_EQ(timeline.label_of(timeline.ops[3]), "A[600:1000,0:1]");
  EXPECT_EQ(timeline.label_of(timeline.ops[4]), "C[600:1000,0:1]");
  EXPECT_EQ(timeline.label_of(timeline.ops[5]), "C[600:1000,0:1]");
  EXPECT_TRUE(timeline.metadata.problem.starts_with("axpy m=1000 n=1 k=1 dtype=f64 "))
      << timeline.metadata.problem;
}

TEST(Annotate, ChunksOfATileKeepTheirOwnRows) {
  SamplePlan sample;
  Plan plan = sample.plan();
  // The last two columns of tile 4, a copy of B[0:100,0:100], are copied to tile 5.
  operand(plan, 2, 0) = {BufferId{4}, 0, 98, 100, 2};
  operand(plan, 2) = {BufferId{5}, 0, 98, 100, 2};
  const AnnotatedTimeline timeline =
      annotate(plan, sample_machine(), SamplePlan::timeline(plan));
  EXPECT_EQ(timeline.label_of(timeline.ops[2]), "B[0:100,98:100]");
}

}  // namespace
}  // namespace tilerail
