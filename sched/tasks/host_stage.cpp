#include "sched/tasks/host_stage.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sched/tasks/pieces.hpp"

namespace tilerail {
namespace {

/// Tiles of each device that may be in a host at once: one enters while the one before leaves.
constexpr std::size_t rooms_a_device = 2;

/// Copies of one device never wait for those of another, whose buffers may be in use for long.
int queue_to_host(std::size_t device) { return 2 + static_cast<int>(device); }

/// The first one with routes from and to both: on shipped machines all GPUs of a node reach the same hosts. `src` where
/// there is none.
MemoryId host_between(const Topology& topology, MemoryId src, MemoryId dst) {
  const auto reached = [&](MemoryId host) { return topology.has_route(src, host) && topology.has_route(host, dst); };
  const auto found = std::ranges::find_if(topology.hosts(), reached);
  return found == topology.hosts().end() ? src : *found;
}

}  // namespace

bool goes_over_host(const Topology& topology, PeerCopies which, MemoryId src, MemoryId dst, bool of_home) {
  if (which == PeerCopies::direct || (which == PeerCopies::staged_home && !of_home)) return false;
  return src != dst && !topology.is_host(src) && !topology.is_host(dst) && host_between(topology, src, dst) != src;
}

bool faster_over_host(const Topology& topology, MemoryId src, MemoryId dst) {
  if (!goes_over_host(topology, PeerCopies::staged, src, dst, true)) return false;
  const MemoryId host = host_between(topology, src, dst);
  const Rate over_host = std::min(topology.pair_rate(src, host), topology.pair_rate(host, dst));
  return !topology.has_route(src, dst) || topology.pair_rate(src, dst) < over_host;
}

HostStage::Room HostStage::take(MemoryId host, std::size_t device, std::int64_t bytes) {
  std::deque<Room>& rooms = rooms_[{host, device}];
  Room room;
  if (rooms.size() == rooms_a_device) room = rooms.front(), rooms.pop_front();
  if (room.bytes >= bytes) return room;
  std::int64_t& used = used_[host];
  room = {used, bytes, {}};
  used += bytes;
  return room;
}

/// `chunks`, but no more than there are columns.
int HostStage::pieces(const PlanContext& context, const View& tile) {
  return static_cast<int>(std::clamp<std::int64_t>(tile.cols, 1, context.decisions.chunks));
}

SecondsPerByte HostStage::per_byte(const Clock& clock, MemoryId src, MemoryId dst) const {
  const MemoryId host = host_between(topology_, src, dst);
  return std::max(clock.hop(src, host).way->per_byte, clock.hop(host, dst).way->per_byte);
}

Clock::Arrival HostStage::arrival(const PlanContext& context, MemoryId src, MemoryId dst, const View& tile,
                                  const Clock::Arrival& available) const {
  const MemoryId host = host_between(topology_, src, dst);
  const Bytes bytes = context.bytes(tile);
  const int count = pieces(context, tile);
  const auto there = context.clock.estimate(context.clock.hop(src, host), bytes, count, available);
  return context.clock.estimate(context.clock.hop(host, dst), bytes, count, there);
}

HostStage::Copied HostStage::copy(PlanContext& context, std::size_t device, const View& from, const View& to,
                                  When when) {
  const MemoryId src = context.memory(from), dst = context.memory(to), host = host_between(topology_, src, dst);
  const DType dtype = context.dtype(from);
  Room room = take(host, device, Arena::bytes(to.rows, to.cols, dtype));
  const std::int64_t ld = Arena::leading(to.rows, element_size(dtype));
  const BufferId buffer = builder_.add_buffer({Buffer::Kind::tile, host, to.rows, to.cols, ld, room.offset, dtype});
  const int count = pieces(context, to);
  const auto moved = [&](MemoryId at, MemoryId next, const Clock::Arrival& available) {
    const Clock::Hop hop = context.clock.hop(at, next);
    const Clock::Arrival arrival = context.clock.estimate(hop, context.bytes(to), count, available);
    context.clock.commit(hop, context.bytes(to), arrival);
    return arrival;
  };
  Copied copied;
  copied.arrival = moved(host, dst, moved(src, host, when.available));
  when.leave.after(room.former);
  for (int j = 0; j < count; ++j) {
    const View staged = piece({buffer, 0, 0, to.rows, to.cols}, j, count);
    Op in, out;
    in.queue = builder_.copy_queue(src, host, queue_to_host(device));
    in.a = piece(from, j, count), in.y = staged;
    copied.left = context.emit(device, in, when.leave);
    out.queue = builder_.copy_queue(host, dst, when.queue);
    out.a = staged, out.y = piece(to, j, count);
    copied.last = context.emit(device, out, when.enter.after(copied.left));
    if (j == 0) copied.first = copied.last;
    when.leave = {}, when.enter = {};
  }
  room.former.clear();
  room.former.add(builder_.queue_of(copied.last), copied.last);
  rooms_[{host, device}].push_back(room);
  return copied;
}

void HostStage::note_peaks(Plan& plan) const {
  for (const auto& [host, bytes] : used_) {
    std::int64_t& peak = plan.peak_bytes[host.index()];
    peak = std::max(peak, bytes);
  }
}

}  // namespace tilerail
