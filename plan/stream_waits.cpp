#include "plan/stream_waits.hpp"

#include <algorithm>

#include "model/base/indices.hpp"
#include "plan/shared_streams.hpp"

namespace tilerail {

StreamWaits::StreamWaits(const Plan& plan, const Topology& topology)
    : plan_{plan}, stream_of_{shared_streams(plan, topology)}, streams_(plan.ops.size()), waited_(plan.queues.size()) {
  for (const auto i : indices(streams_)) streams_[i] = stream_of(plan.ops[i].queue);
}

OpId& StreamWaits::last_waited(QueueId stream, QueueId other) {
  auto& waited = waited_[stream.index()];
  const auto known = std::ranges::find(waited, other, &Waited::stream);
  return known != waited.end() ? known->last : waited.emplace_back(Waited{other, OpId{-1}}).last;
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
  // A later one of the same stream.
  std::erase_if(waits_, [&](OpId dep) { return last_waited(stream, streams_[dep.index()]) != dep; });
  return waits_;
}

}  // namespace tilerail
