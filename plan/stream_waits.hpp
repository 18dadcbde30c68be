#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// The GPU whose thread hands over the operations of a queue and whose stream they use:
/// where kernels run, where a copy starts, or where it goes when it starts on a host.
MemoryId stream_owner(const Queue& queue, const Topology& topology);

/// By queue: the first queue that can share a stream with it without delaying anything.
/// Queues of copies from one GPU to others share one where the plan makes each of these
/// copies wait for the one before it.
std::vector<QueueId> shared_streams(const Plan& plan, const Topology& topology);

/// What operations wait for beyond the order of their own streams. Ask in plan order,
/// once each.
class StreamWaits {
 public:
  StreamWaits(const Plan& plan, const Topology& topology);

  /// Of the dependencies in each other stream the last one, unless this stream already
  /// waited for it or a later one. Valid until the next call.
  const std::vector<OpId>& before(OpId id);

  /// The first queue of those that share the stream of this one (shared_streams).
  QueueId stream_of(QueueId queue) const { return stream_of_[queue.index()]; }

 private:
  /// The last operation of another stream that this one waited for.
  struct Waited {
    QueueId stream;
    OpId last;
  };
  OpId& last_waited(QueueId stream, QueueId other);

  const Plan& plan_;
  std::vector<QueueId> stream_of_;
  std::vector<QueueId>
      streams_;  // by operation: those looked back at are seldom still in a cache
  std::vector<std::vector<Waited>> waited_;  // by stream; of mostly few others
  std::vector<OpId> waits_;
};

}  // namespace tilerail
