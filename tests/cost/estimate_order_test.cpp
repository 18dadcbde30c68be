// Order and dependencies of operations in the estimate: two-gpu, whose GPUs share 12 GB/s
// from the host.
#include <gtest/gtest.h>

#include "cost/estimate.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_draft.hpp"
#include "tests/support/two_hosts.hpp"

namespace tilerail {
namespace {

constexpr MemoryId host{0}, gpu0{1}, gpu1{2};
constexpr int64_t gigabyte = 125'000'000;  // in doubles

/// Copies of columns, each on its own queue. Without latency, a gigabyte takes 100 ms
/// from the host and 25 ms between GPUs, and copies to both GPUs from the host take 2 /
/// 12 s.
class Copies {
 public:
  explicit Copies(Seconds latency = Seconds{0})
      : machine_{with(latency)}, draft_{machine_, DType::f64} {}

  OpId copy(MemoryId from, MemoryId to, std::initializer_list<OpId> after = {},
            int64_t rows = gigabyte) {
    const QueueId own = draft_.copy_queue(from, to, queues_++);
    return draft_.copy(own, draft_.tile(from, rows, 1), draft_.tile(to, rows, 1), after);
  }
  double seconds() {
    return estimate_plan(draft_.plan, machine_, Resources{machine_}).makespan.value;
  }

 private:
  static Topology with(Seconds latency) {
    auto d = testing::shipped("two-gpu").description();
    for (Link& link : d.links) link.latency = latency;
    return Topology{std::move(d)};
  }

  Topology machine_;
  PlanDraft draft_;
  int queues_ = 0;
};

TEST(EstimateOrder, TheOperationWithTheEarliestStartIsServedFirst) {
  // The copy to gpu1 starts immediately, although the earlier copy to gpu0 waits 25 ms.
  Copies c;
  c.copy(host, gpu0, {c.copy(gpu1, gpu0)});
  c.copy(host, gpu1);
  EXPECT_NEAR(c.seconds(), 2.0 / 12, 1e-9);
}

TEST(EstimateOrder, SimultaneousOperationsAreServedInPlanOrder) {
  Copies first, second;
  first.copy(gpu0, gpu1, {first.copy(host, gpu0)});
  first.copy(host, gpu1);
  EXPECT_NEAR(first.seconds(), 2.0 / 12, 1e-9);
  second.copy(host, gpu1);
  second.copy(gpu0, gpu1, {second.copy(host, gpu0)});
  EXPECT_NEAR(second.seconds(), 2.0 / 12 + 0.025, 1e-9);
}

TEST(EstimateOrder, IdleTimeOfALinkIsLost) {
  Copies c;
  const OpId before = c.copy(gpu1, gpu0);
  c.copy(host, gpu0, {before});
  c.copy(host, gpu1, {before});
  EXPECT_NEAR(c.seconds(), 0.025 + 2.0 / 12, 1e-9);
}

TEST(EstimateOrder, AnEngineServesOneCopyAtATime) {
  // 8 bytes take the latency of two links, 10 us; the engines of two GPUs are
  // independent.
  Copies one{Seconds{5e-6}}, two{Seconds{5e-6}};
  for (int i = 0; i < 2; ++i) one.copy(host, gpu0, {}, 1);
  two.copy(host, gpu0, {}, 1);
  two.copy(host, gpu1, {}, 1);
  EXPECT_NEAR(one.seconds(), 20e-6, 1e-7);
  EXPECT_NEAR(two.seconds(), 10e-6, 1e-7);
}

TEST(EstimateOrder, HalfACopyOnAGroupCountsAsHalf) {
  // Two gigabytes are interleaved on two hosts, and half of each leaves h0: equivalent to
  // one copy, for which its group gives 5 GB/s.
  auto d = small_machine::two_hosts();
  CapacityGroup group;
  group.name = "h0", group.source = "s", group.forward = {LinkId{0}};
  group.capacity = CapacityCurve{{{1, Rate{5e9}}, {2, Rate{20e9}}}};
  d.groups = {group};
  const Topology machine{d};
  PlanDraft draft{machine, DType::f64};
  const MemoryId both = small_machine::memory(machine, "h*");
  for (const MemoryId to : machine.gpus())
    draft.copy(draft.copy_queue(both, to), draft.tile(both, gigabyte, 1),
               draft.tile(to, gigabyte, 1));
  EXPECT_NEAR(estimate_plan(draft.plan, machine, Resources{machine}).makespan.value, 0.2,
              1e-3);
}

}  // namespace
}  // namespace tilerail
