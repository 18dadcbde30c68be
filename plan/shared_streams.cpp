#include "plan/shared_streams.hpp"

#include <algorithm>
#include <optional>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

bool sends(const Queue& queue, const Topology& topology) {
  return queue.src != queue.dst && !topology.is_host(queue.src) && !topology.is_host(queue.dst);
}

}  // namespace

MemoryId stream_owner(const Queue& queue, const Topology& topology) {
  return topology.is_host(queue.src) ? queue.dst : queue.src;
}

std::vector<QueueId> shared_streams(const Plan& plan, const Topology& topology) {
  struct Sender {
    std::optional<OpId> last;
    std::optional<QueueId> first_queue;
    bool in_order = true;
  };
  std::vector<Sender> senders(plan.memories.size());
  for (const auto i : indices(plan.ops)) {
    const OpId id{i};
    const QueueId queue = plan.op(id).queue;
    if (!sends(plan.queue(queue), topology)) continue;
    Sender& sender = senders[plan.queue(queue).src.index()];
    const auto deps = plan.deps_of(id);
    const bool follows =
        !sender.last || plan.op(*sender.last).queue == queue || std::ranges::find(deps, *sender.last) != deps.end();
    sender.in_order = sender.in_order && follows;
    sender.last = id;
    if (!sender.first_queue) sender.first_queue = queue;
  }
  std::vector<QueueId> stream_of;
  for (const auto q : indices(plan.queues)) {
    const Queue& queue = plan.queues[q];
    const bool shares =
        sends(queue, topology) && senders[queue.src.index()].in_order && senders[queue.src.index()].first_queue;
    stream_of.push_back(shares ? *senders[queue.src.index()].first_queue : QueueId{q});
  }
  return stream_of;
}

}  // namespace tilerail
