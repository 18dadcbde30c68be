#include "plan/stream_waits.hpp"

#include <algorithm>
#include <optional>

#include "model/base/indices.hpp"

namespace tilerail {

MemoryId stream_owner(const Queue& queue, const Topology& topology) {
  return topology.is_host(queue.src) ? queue.dst : queue.src;
}

std::vector<QueueId> shared_streams(const Plan& plan, const Topology& topology) {
  struct Sender {
    std::optional<OpId> last;
    QueueId first_queue;
    bool in_order = true;
  };
  std::vector<Sender> senders(plan.memories.size());
  const auto sender_of = [&](const Queue& queue) -> Sender* {
    const bool sends = queue.src != queue.dst && !topology.is_host(queue.src) &&
                       !topology.is_host(queue.dst);
    return sends ? &senders[queue.src.index()] : nullptr;
  };
  for (const auto i : indices(plan.ops)) {
    const QueueId queue = plan.ops[i].queue;
    Sender* const sender = sender_of(plan.queue(queue));
    if (!sender) continue;
    if (!sender->last) {
      sender->first_queue = queue;
    } else if (plan.op(*sender->last).queue != queue) {
      const auto deps = plan.deps_of(OpId{i});
      if (std::ranges::find(deps, *sender->last) == deps.end()) sender->in_order = false;
    }
    sender->last = OpId{i};
  }
  std::vector<QueueId> stream_of;
  for (const auto q : indices(plan.queues)) {
    const Sender* const sender = sender_of(plan.queues[q]);
    const bool shares = sender && sender->in_order && sender->last;
    stream_of.push_back(shares ? sender->first_queue : QueueId{q});
  }
  return stream_of;
}

StreamWaits::StreamWaits(const Plan& plan, const Topology& topology)
    : plan_{plan},
      stream_of_{shared_streams(plan, topology)},
      waited_(plan.queues.size()) {
  for (const Op& op : plan.ops) streams_.push_back(stream_of(op.queue));
}

OpId& StreamWaits::last_waited(QueueId stream, QueueId other) {
  auto& waited = waited_[stream.index()];
  const auto known = std::ranges::find(waited, other, &LastWait::stream);
  return known != waited.end() ? known->last
                               : waited.emplace_back(LastWait{other, OpId{-1}}).last;
}

const std::vector<OpId>& StreamWaits::before(OpId id) {
  waits_.clear();
  const QueueId stream = streams_[id.index()];
  for (const OpId dep : plan_.deps_of(id)) {
    const QueueId other = streams_[dep.index()];
    if (other == stream) continue;
    OpId& last = last_waited(stream, other);
    if (dep <= last) continue;
    last = dep;
    waits_.push_back(dep);
  }
  // Drop waits for an operation if a later one of the same stream follows.
  std::erase_if(waits_, [&](OpId dep) {
    return last_waited(stream, streams_[dep.index()]) != dep;
  });
  return waits_;
}

}  // namespace tilerail
