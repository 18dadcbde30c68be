#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// The GPU whose thread submits the operations of a queue and owns their stream: the GPU
/// of kernels, the source of a copy, or the destination if the source is a host.
MemoryId stream_owner(const Queue& queue, const Topology& topology);

/// By queue: the first queue that can share its stream without delay. Copy queues from
/// one GPU to others share a stream if the plan orders all these copies.
std::vector<QueueId> shared_streams(const Plan& plan, const Topology& topology);

/// Waits of operations beyond the order of their own streams. Query in plan order, once
/// per operation.
class StreamWaits {
 public:
  StreamWaits(const Plan& plan, const Topology& topology);

  /// The last dependency in each other stream, unless this stream already waited for it
  /// or for a later one. Valid until the next call.
  const std::vector<OpId>& before(OpId id);

  /// The first queue that shares the stream of this queue (shared_streams).
  QueueId stream_of(QueueId queue) const { return stream_of_[queue.index()]; }

 private:
  /// The last operation of another stream for which this stream waited.
  struct LastWait {
    QueueId stream;
    OpId last;
  };
  OpId& last_waited(QueueId stream, QueueId other);

  const Plan& plan_;
  std::vector<QueueId> stream_of_;
  std::vector<QueueId>
      streams_;  // by operation: compact, because plan_.ops is rarely still in a cache
  std::vector<std::vector<LastWait>> waited_;  // by stream; mostly few entries
  std::vector<OpId> waits_;
};

}  // namespace tilerail
