#include "plan/stream_waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machines.hpp"
#include "tests/support/plan_draft.hpp"

namespace tilerail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
constexpr MemoryId host{0}, gpu0{1}, gpu1{2};

struct Draft {
  Topology machine = testing::shipped("two-gpu");
  PlanDraft draft{machine, DType::f64};
  QueueId in = draft.copy_queue(host, gpu0), more = draft.copy_queue(host, gpu0, 1);
  QueueId kernels = draft.compute_queue(gpu0), others = draft.compute_queue(gpu0, 1);

  OpId copy(QueueId queue, const PlanDraft::Deps& after = {}) {
    const Queue& q = draft.plan.queue(queue);
    return draft.copy(queue, draft.tile(q.src, 8, 1), draft.tile(q.dst, 8, 1), after);
  }
  OpId join(QueueId queue, const PlanDraft::Deps& after) {
    return draft.join(queue, after);
  }
  /// The waits of each operation, in plan order.
  std::vector<std::vector<OpId>> waits() const {
    StreamWaits all{draft.plan, machine};
    std::vector<std::vector<OpId>> found;
    for (size_t i = 0; i < draft.plan.ops.size(); ++i)
      found.push_back(all.before(OpId{i}));
    return found;
  }
};

TEST(StreamWaits, TheOrderOfAStreamNeedsNoWait) {
  Draft d;
  const OpId first = d.copy(d.in);
  d.copy(d.in, {first});
  EXPECT_THAT(d.waits(), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(StreamWaits, SeveralDependenciesOnAStreamNeedOneWait) {
  Draft d;
  const OpId first = d.copy(d.in), second = d.copy(d.in), other = d.copy(d.more);
  d.join(d.kernels, {first, second, other});
  EXPECT_THAT(d.waits().back(), ElementsAre(second, other));
}

TEST(StreamWaits, AWaitForALaterOperationCoversEarlierOperations) {
  Draft d;
  const OpId first = d.copy(d.in), second = d.copy(d.in);
  d.join(d.kernels, {second});
  d.join(d.kernels, {first});
  d.join(d.others, {first});
  EXPECT_THAT(d.waits(), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(second), IsEmpty(),
                                     ElementsAre(first)));
}

TEST(StreamWaits, ALaterOperationNeedsAnotherWait) {
  Draft d;
  const OpId first = d.copy(d.in);
  d.join(d.kernels, {first});
  const OpId second = d.copy(d.in);
  d.join(d.kernels, {second});
  EXPECT_THAT(d.waits(),
              ElementsAre(IsEmpty(), ElementsAre(first), IsEmpty(), ElementsAre(second)));
}

// Queues of copies from gpu0 to gpu1 share a stream if each copy waits for the previous
// one: no waits remain.
TEST(StreamWaits, QueuesThatShareAStreamDoNotWaitForEachOther) {
  Draft d;
  const QueueId to = d.draft.copy_queue(gpu0, gpu1),
                again = d.draft.copy_queue(gpu0, gpu1, 1);
  const OpId first = d.copy(to);
  d.copy(again, {first});
  EXPECT_THAT(d.waits(), ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_EQ((StreamWaits{d.draft.plan, d.machine}.stream_of(again)), to);
  d.copy(again);
  d.copy(to);  // without a wait for the last copy: separate streams
  EXPECT_THAT(d.waits()[1], ElementsAre(first));
}

}  // namespace
}  // namespace tilerail
