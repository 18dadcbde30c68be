#include "plan/stream_waits.hpp"

#include "plan/shared_streams.hpp"

namespace tilerail {

StreamWaits::StreamWaits(const Plan& plan, const Topology& topology)
    : plan_{plan}, stream_of_{shared_streams(plan, topology)} {}

OpId& StreamWaits::last_waited(OpId id, OpId dep) {
  const std::uint64_t stream = stream_of(plan_.op(id).queue).index(), other = stream_of(plan_.op(dep).queue).index();
  return waited_.try_emplace(stream << 32 | other, OpId{-1}).first->second;
}

const std::vector<OpId>& StreamWaits::before(OpId id) {
  waits_.clear();
  for (const OpId dep : plan_.deps_of(id)) {
    if (stream_of(plan_.op(dep).queue) == stream_of(plan_.op(id).queue)) continue;
    OpId& last = last_waited(id, dep);
    if (dep <= last) continue;
    last = dep;
    waits_.push_back(dep);
  }
  std::erase_if(waits_, [&](OpId dep) { return last_waited(id, dep) != dep; });  // a later one of the same stream
  return waits_;
}

}  // namespace tilerail
