#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// A plan of this problem on this machine, still without operations.
Plan empty_plan(const GemmProblem& problem, const Topology& topology);

/// The buffer of a matrix of the problem as a whole, in its place.
Buffer matrix_buffer(const GemmProblem& problem, Buffer::Kind matrix);
/// The buffers of its blocks, one for each memory that it is in
/// (model/matrix_blocks.hpp); of copies, those of these devices.
std::vector<Buffer> matrix_buffers(const GemmProblem& problem, Buffer::Kind matrix,
                                   const Topology& topology,
                                   std::span<const MemoryId> devices);

/// Readers and writers of some memory, at most one operation a queue: the last, since a
/// FIFO queue orders the others. They may be added in any order.
class LastUses {
 public:
  void add(QueueId queue, OpId op);
  void clear() { uses_.clear(); }
  const std::vector<std::pair<QueueId, OpId>>& all() const { return uses_; }

 private:
  std::vector<std::pair<QueueId, OpId>> uses_;
};

/// Dependencies of one operation while it is put together.
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

/// Appends queues, buffers and operations to a plan, keeping dependencies minimal: one a
/// queue, none on the operation's own queue, since FIFO order implies the rest.
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
  /// Adds the blocks of a matrix, or the copies of the plan's devices. What it returns
  /// stands for the whole matrix in views that `in_block` is asked about.
  BufferId add_matrix(const GemmProblem& problem, Buffer::Kind matrix,
                      const Topology& topology);
  /// The same region as a view of the block that it is in; what is in no block as a whole
  /// is a fault of the caller's.
  View in_block(const View& region) const;
  OpId add(const Op& op, Deps& deps);
  /// Makes room for about so many operations: without, a long plan is copied again and
  /// again while it grows.
  void expect(size_t ops);

  /// From now on, copies from one of these memories to others of them run one after
  /// another, in the order of adding.
  void send_in_order(std::span<const MemoryId> gpus);

  /// A join after everything so far: whatever is added later starts after it.
  void barrier(QueueId queue);

  const Plan& plan() const { return plan_; }
  QueueId queue_of(OpId op) const { return queue_of_[op.index()]; }

 private:
  /// What the copies of this queue wait for, where they are to run in order.
  std::optional<OpId>* last_sent_by(const Queue& queue);

  QueueId queue(Queue::Kind kind, MemoryId src, MemoryId dst, int index);

  Plan& plan_;
  std::map<std::tuple<Queue::Kind, MemoryId, MemoryId, int>, QueueId> queues_;
  std::vector<std::optional<OpId>> last_in_queue_;  // by QueueId
  std::vector<QueueId> queue_of_;  // by OpId: operations that are looked back at are
                                   // seldom still in a cache
  std::optional<OpId> barrier_;
  std::map<MemoryId, std::optional<OpId>> last_sent_;  // by memory that sends in order
};

}  // namespace tilerail
