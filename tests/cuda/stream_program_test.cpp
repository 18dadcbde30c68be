#include "backends/cuda/run/stream_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::cuda {
namespace {

Topology machine() { return test::shipped("hgx-h200"); }

Plan planned(const Topology& topology, int gpus, bool single_issuer = false) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = 4096;
  Policy policy = any_preset("tilerail");
  policy.choices.tile = 1024;
  policy.choices.single_issuer = single_issuer;
  return plan_gemm(checked(problem), topology, {topology.gpus().data(), size_t(gpus)},
                   policy);
}

/// The operations that must have ended before each operation, by streams and events
/// alone: bit sets, transitively closed.
std::vector<std::vector<bool>> order_of(const StreamProgram& program, size_t ops) {
  std::vector<StreamProgram::Step> steps(ops);
  for (const auto& issuer : program.steps)
    for (const auto& step : issuer) steps[step.op.index()] = step;
  std::vector<std::vector<bool>> before(ops, std::vector<bool>(ops, false));
  std::vector<int64_t> last(program.streams.size(), -1);
  for (size_t i = 0; i < ops; ++i) {
    const auto add = [&](size_t earlier) {
      before[i][earlier] = true;
      for (size_t j = 0; j < earlier; ++j)
        if (before[earlier][j]) before[i][j] = true;
    };
    if (last[steps[i].stream] >= 0) add(size_t(last[steps[i].stream]));
    for (uint32_t w = steps[i].wait_begin; w < steps[i].wait_end; ++w)
      add(program.waits[w].op.index());
    last[steps[i].stream] = int64_t(i);
  }
  return before;
}

TEST(StreamProgram, StreamsAndEventsKeepEveryDependency) {
  const Topology topology = machine();
  for (const int gpus : {1, 3, 8}) {
    const Plan plan = planned(topology, gpus);
    const StreamProgram program = stream_program(plan, topology);
    const auto before = order_of(program, plan.ops.size());
    std::vector<int64_t> last(plan.queues.size(), -1);
    for (size_t i = 0; i < plan.ops.size(); ++i) {
      for (const OpId dep : plan.deps_of(OpId{i}))
        EXPECT_TRUE(before[i][dep.index()]) << i << " after " << dep.value;
      int64_t& queue = last[plan.ops[i].queue.index()];
      if (queue >= 0) {
        EXPECT_TRUE(before[i][size_t(queue)]);
      }
      queue = int64_t(i);
    }
  }
}

TEST(StreamProgram, EveryWaitIsForAnEventThatItsIssuerRecordsAfterThatOperation) {
  const Topology topology = machine();
  const Plan plan = planned(topology, 4);
  const StreamProgram program = stream_program(plan, topology);
  std::vector<int> recorded(program.event_streams.size(), 0);
  for (size_t issuer = 0; issuer < program.steps.size(); ++issuer) {
    for (const auto& step : program.steps[issuer]) {
      if (step.event < 0) continue;
      ++recorded[size_t(step.event)];
      EXPECT_EQ(program.event_streams[size_t(step.event)], step.stream);
      for (const auto& wait : program.waits)
        if (wait.event == step.event) {
          EXPECT_EQ(wait.op, step.op);
          EXPECT_EQ(wait.issuer, issuer);
        }
    }
  }
  EXPECT_THAT(recorded, ::testing::Each(1));
}

TEST(StreamProgram, WaitsAreFewerThanDependenciesBetweenStreams) {
  const Topology topology = machine();
  const Plan plan = planned(topology, 4);
  const StreamProgram program = stream_program(plan, topology);
  size_t across = 0;
  for (size_t i = 0; i < plan.ops.size(); ++i)
    for (const OpId dep : plan.deps_of(OpId{i}))
      across += plan.op(dep).queue != plan.op(OpId{i}).queue;
  EXPECT_LT(program.waits.size(), across);
}

TEST(StreamProgram, ACopyBelongsToItsSourceUnlessTheSourceIsAHost) {
  const Topology topology = machine();
  const Plan plan = planned(topology, 4);
  const StreamProgram program = stream_program(plan, topology);
  for (const auto& issuer : program.steps) {
    for (const auto& step : issuer) {
      const Queue& queue = plan.queue(plan.op(step.op).queue);
      const MemoryId expected = topology.is_host(queue.src) ? queue.dst : queue.src;
      EXPECT_EQ(program.streams[step.stream].device, expected);
      EXPECT_EQ(program.streams[step.stream].compute, queue.kind == Queue::Kind::compute);
    }
  }
}

TEST(StreamProgram, EachDeviceHasAnIssuerOrAllShareOne) {
  const Topology topology = machine();
  EXPECT_EQ(stream_program(planned(topology, 3), topology).issuers.size(), 3u);
  EXPECT_EQ(stream_program(planned(topology, 3, true), topology).issuers.size(), 1u);
}

TEST(StreamProgram, HostsCopyAndComputeInStreamsOfTheFirstGpu) {
  const Topology topology = machine();
  Plan plan = planned(topology, 2);
  EXPECT_FALSE(stream_program(plan, topology).has_lanes());
  Queue& queue = plan.queues[plan.op(OpId{0}).queue.index()];
  queue.src = queue.dst = topology.hosts()[0];
  const StreamProgram program = stream_program(plan, topology);
  EXPECT_TRUE(program.has_lanes());
  using Stream = StreamProgram::Stream;
  const auto lane = std::ranges::find(program.streams, true, &Stream::on_host);
  EXPECT_EQ(lane->device, topology.gpus()[0]);
  EXPECT_FALSE(lane->compute);
  EXPECT_EQ(std::ranges::count(program.issuers, topology.hosts()[0]), 1);
  for (const Stream& stream : program.streams) {  // no stream serves both
    const auto same = [&](const Stream& other) {
      return other.device == stream.device && other.compute == stream.compute &&
             other.slot == stream.slot;
    };
    EXPECT_EQ(std::ranges::count_if(program.streams, same), 1);
  }
}

TEST(StreamProgram, OnlyOrderedPeerCopiesOfAGpuShareAStream) {
  const Topology topology = machine();
  for (const bool ordered : {true, false}) {
    GemmProblem problem;
    problem.m = problem.n = problem.k = 4096;
    Policy policy = any_preset("tilerail");
    policy.choices.tile = 1024;
    policy.choices.sends = ordered ? Sends::in_order : Sends::free;
    const Plan plan =
        plan_gemm(checked(problem), topology, {topology.gpus().data(), 4}, policy);
    const StreamProgram program = stream_program(plan, topology);
    std::map<MemoryId, std::set<uint32_t>> streams;    // used by peer copies of a GPU
    std::map<MemoryId, std::set<size_t>> peer_queues;  // queues of these copies
    for (const auto& issuer : program.steps)
      for (const auto& step : issuer) {
        const QueueId id = plan.op(step.op).queue;
        const Queue& queue = plan.queue(id);
        if (queue.src == queue.dst || topology.is_host(queue.src) ||
            topology.is_host(queue.dst))
          continue;
        streams[queue.src].insert(step.stream), peer_queues[queue.src].insert(id.index());
      }
    ASSERT_FALSE(streams.empty());
    bool several = false;
    for (const auto& [gpu, used] : streams) {
      EXPECT_EQ(used.size(), ordered ? 1 : peer_queues[gpu].size());
      several = several || peer_queues[gpu].size() > 1;
    }
    EXPECT_TRUE(several);
  }
}

}  // namespace
}  // namespace tilerail::cuda
