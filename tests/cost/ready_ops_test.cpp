#include "cost/ready_ops.hpp"

#include <gtest/gtest.h>

#include "tests/support/machines.hpp"
#include "tests/support/plan_draft.hpp"

namespace tilerail {
namespace {

constexpr MemoryId host{0}, gpu0{1};

/// Copies of one column, by default each with its own queue.
struct Copies {
  Topology machine = testing::shipped("two-gpu");
  PlanDraft draft{machine, DType::f64};
  int queues = 0;

  OpId copy(const PlanDraft::Deps& after = {}) {
    return copy_in(draft.copy_queue(host, gpu0, queues++), after);
  }
  OpId copy_in(QueueId queue, const PlanDraft::Deps& after = {}) {
    return draft.copy(queue, draft.tile(host, 8, 1), draft.tile(gpu0, 8, 1), after);
  }
  std::vector<Seconds> at(std::initializer_list<double> times) const {
    std::vector<Seconds> issued;
    for (const double time : times) issued.emplace_back(time);
    return issued;
  }
};

void expect_next(ReadyOps& ready, OpId op, double at) {
  const auto next = ready.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->op, op);
  EXPECT_EQ(next->at.value, at);
}

TEST(ReadyOps, TheEarliestIssuedOperationComesFirstAndTiesTakeTheLowest) {
  Copies c;
  const OpId a = c.copy(), b = c.copy(), d = c.copy();
  ReadyOps ready{c.draft.plan, c.at({2, 1, 1})};
  expect_next(ready, b, 1), expect_next(ready, d, 1), expect_next(ready, a, 2);
  EXPECT_FALSE(ready.next());
}

TEST(ReadyOps, AnOperationStartsAfterTheLastOfItsDependencies) {
  Copies c;
  const OpId a = c.copy(), b = c.copy(), both = c.copy({a, b});
  ReadyOps ready{c.draft.plan, c.at({0, 0, 0})};
  expect_next(ready, a, 0), expect_next(ready, b, 0);
  ready.ended(b, Seconds{5});
  EXPECT_FALSE(ready.next()) << "one of two has not ended";
  ready.ended(a, Seconds{3});
  expect_next(ready, both, 5);
}

TEST(ReadyOps, AnOperationStartsNoEarlierThanItIsIssued) {
  Copies c;
  const OpId a = c.copy(), b = c.copy({a});
  ReadyOps ready{c.draft.plan, c.at({0, 9})};
  expect_next(ready, a, 0);
  ready.ended(a, Seconds{4});
  expect_next(ready, b, 9);
}

TEST(ReadyOps, AQueueIsServedInItsOrder) {
  Copies c;
  const QueueId queue = c.draft.copy_queue(host, gpu0);
  const OpId first = c.copy_in(queue), second = c.copy_in(queue);
  ReadyOps ready{c.draft.plan, c.at({7, 0})};
  expect_next(ready, first, 7);
  EXPECT_FALSE(ready.next());
  ready.ended(first, Seconds{8});
  expect_next(ready, second, 8);
}

TEST(ReadyOps, APostponedOperationLetsOthersPass) {
  Copies c;
  const OpId a = c.copy(), b = c.copy();
  ReadyOps ready{c.draft.plan, c.at({0, 1})};
  const auto next = ready.next();
  ASSERT_EQ(next->op, a);
  ready.postpone(*next, Seconds{2});
  expect_next(ready, b, 1), expect_next(ready, a, 2);
}

}  // namespace
}  // namespace tilerail
