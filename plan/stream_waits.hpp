#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// What operations wait for beyond the order of their own streams. Ask in plan order, once each.
class StreamWaits {
 public:
  StreamWaits(const Plan& plan, const Topology& topology);

  /// Of the dependencies in each other stream the last one, unless this stream already waited for it or a later one.
  /// Valid until the next call.
  const std::vector<OpId>& before(OpId id);

  /// The first queue of those that share the stream of this one (shared_streams).
  QueueId stream_of(QueueId queue) const { return stream_of_[queue.index()]; }

 private:
  OpId& last_waited(OpId id, OpId dep);

  const Plan& plan_;
  std::vector<QueueId> stream_of_;
  std::unordered_map<std::uint64_t, OpId> waited_;  // by stream and other stream: the last operation waited for
  std::vector<OpId> waits_;
};

}  // namespace tilerail
