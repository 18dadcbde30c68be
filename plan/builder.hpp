#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// A plan of this problem on this machine, without operations.
Plan empty_plan(const Problem& problem, const Topology& topology);

/// The buffers of the blocks of a tensor, replica by replica; of the whole replicas,
/// those on the plan's devices only.
std::vector<Buffer> tensor_buffers(const Plan& plan, TensorId tensor);

/// A buffer for the elements of a view, without a place in memory.
Buffer block_of(const Plan& plan, const View& view);

/// Operands of an operation under construction.
inline constexpr size_t most_operands = 4;
using Operands = boost::container::static_vector<View, most_operands>;

/// Readers and writers of a region of memory: only the last operation of each queue,
/// since a FIFO queue orders the others. They may be added in any order.
class LastUses {
 public:
  void add(QueueId queue, OpId op);
  void clear() { uses_.clear(); }
  const std::vector<std::pair<QueueId, OpId>>& all() const { return uses_; }

 private:
  std::vector<std::pair<QueueId, OpId>> uses_;
};

/// Dependencies of an operation under construction.
class Deps {  // NOLINT(bugprone-exception-escape): numbers are moved without exceptions
 public:
  Deps& after(OpId op) { return ops_.push_back(op), *this; }
  Deps& after(std::optional<OpId> op) { return op ? after(*op) : *this; }
  Deps& after(const LastUses& uses) {
    for (const auto& [queue, op] : uses.all()) after(op);
    return *this;
  }
  Deps& after(const Deps& others) {
    for (const OpId op : others.ops_) after(op);
    return *this;
  }
  auto& ops() { return ops_; }

 private:
  boost::container::small_vector<OpId, 8> ops_;
};

/// Appends queues, buffers and operations to a plan. Keeps dependencies minimal: at most
/// one per queue, and none on the operation's own queue, since FIFO order implies the
/// rest.
class PlanBuilder {
 public:
  explicit PlanBuilder(Plan& plan) : plan_{plan} { plan_.dep_begin.assign(1, 0); }

  QueueId compute_queue(MemoryId gpu, int index) {
    return queue(Queue::Kind::compute, gpu, gpu, index);
  }
  QueueId copy_queue(MemoryId src, MemoryId dst, int index = 0) {
    return queue(Queue::Kind::copy, src, dst, index);
  }
  BufferId add_buffer(const Buffer& buffer);
  /// Adds the blocks of a tensor. Views passed to `in_block` use the result as the buffer
  /// of the whole tensor.
  BufferId add_tensor(TensorId tensor);
  /// The same region as a view of its block. A region that crosses blocks is a caller's
  /// error.
  View in_block(const View& region) const;
  Buffer block(const View& view) const { return block_of(plan_, view); }
  OpId add(Op op, const Operands& operands, Deps& deps);
  /// Reserves space for about this many operations, so that a long plan is not
  /// reallocated repeatedly.
  void expect(size_t ops);

  /// Subsequent copies from one of these memories to another run one after another, in
  /// the order of adding.
  void send_in_order(std::span<const MemoryId> gpus);

  const Plan& plan() const { return plan_; }
  QueueId queue_of(OpId op) const { return queue_of_[op.index()]; }

 private:
  /// The last copy of the memory that sends in order; null if copies of this queue are
  /// unordered.
  std::optional<OpId>* last_sent_by(const Queue& queue);

  QueueId queue(Queue::Kind kind, MemoryId src, MemoryId dst, int index);
  uint32_t index_of(const View& view);

  static constexpr uint32_t no_view = ~uint32_t{0};
  Plan& plan_;
  std::vector<uint32_t> last_view_;  // by buffer; no_view, or an index of Plan::views
  std::map<std::tuple<Queue::Kind, MemoryId, MemoryId, int>, QueueId> queues_;
  std::vector<std::optional<OpId>> last_in_queue_;  // by QueueId
  std::vector<QueueId> queue_of_;  // by OpId; compact: plan_.ops is rarely in a cache
  std::map<MemoryId, std::optional<OpId>> last_sent_;  // by memory that sends in order
};

}  // namespace tilerail
