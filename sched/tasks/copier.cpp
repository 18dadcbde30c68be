#include "sched/tasks/copier.hpp"

#include <algorithm>
#include <utility>

namespace tilerail {
namespace {

/// Tiles of each device in a host's buffers simultaneously: one enters while the previous
/// one leaves.
constexpr size_t rooms_a_device = 2;

/// Copies of one device never wait for copies of another, whose buffers may be in use for
/// long.
int queue_to_host(size_t device) { return 2 + int(device); }

}  // namespace

int pieces_of(const PlanContext& context, const View& tile) {
  int64_t pieces = std::min<int64_t>(context.decisions.choices.batch_chunks, tile.cols);
  const int64_t least = context.decisions.choices.batch_min_bytes;
  if (least > 0) pieces = std::min(pieces, int64_t(context.bytes(tile).value) / least);
  return int(std::max<int64_t>(1, pieces));
}

int pieces_over(const PlanContext& context, const View& tile, size_t devices) {
  const Choices& choices = context.decisions.choices;
  if (devices == 0 || choices.hop_rule != HopRule::bottleneck) return 1;
  return int(std::clamp<int64_t>(tile.cols, 1, choices.route_chunks));
}

/// The policy's number, but at most the number of columns.
int Copier::pieces_through_host(const View& tile) const {
  return int(std::clamp<int64_t>(tile.cols, 1, context_.decisions.choices.stage_chunks));
}

Clock::Arrival Copier::arrival_through_host(const Leg& leg, const View& tile,
                                            const Clock::Arrival& available) const {
  const Clock& clock = context_.clock;
  const Bytes bytes = context_.bytes(tile);
  const int count = pieces_through_host(tile);
  return clock.estimate(
      clock.hop(*leg.host, leg.dst), bytes, count,
      clock.estimate(clock.hop(leg.src, *leg.host), bytes, count, available));
}

Copier::Result Copier::copy(const Leg& leg, Job job) {
  return leg.host ? copy_through_host(leg, job) : copy_direct(leg, job);
}

Copier::Result Copier::copy_direct(const Leg& leg, Job& job) {
  const Clock::Arrival there =
      job.arrival ? *job.arrival : arrival(leg, job.to, job.pieces, job.available);
  context_.clock.commit(context_.clock.hop(leg.src, leg.dst), context_.bytes(job.to),
                        there);
  job.enter.after(job.leave);
  Pieces copies{};
  const Op op{.queue = context_.builder.copy_queue(leg.src, leg.dst, job.queue)};
  for (int j = 0; j < job.pieces; ++j) {
    Deps deps = j + 1 < job.pieces ? job.enter : std::move(job.enter);
    if (job.before) deps.after(job.before->of(j, job.pieces));
    copies.last = context_.emit(
        job.device, op, {piece(job.from, j, job.pieces), piece(job.to, j, job.pieces)},
        deps);
    if (j == 0) copies.first = copies.last;
  }
  return {copies, copies.last, there};
}

Copier::Result Copier::copy_through_host(const Leg& leg, Job& job) {
  PlanBuilder& builder = context_.builder;
  const MemoryId host = *leg.host;
  const DType dtype = context_.dtype(job.from);
  const auto [rows, cols] = std::pair{job.to.rows, job.to.cols};
  Room room = take(host, job.device, Arena::bytes(rows, cols, dtype));
  Buffer bounce = context_.block(job.from);
  bounce.memory = host;
  bounce.ld = Arena::leading(rows, bounce.element());
  bounce.offset = room.offset;
  const BufferId buffer = builder.add_buffer(bounce);
  staged_.push_back(buffer);
  const int count = pieces_through_host(job.to);
  const auto moved = [&](MemoryId at, MemoryId next, const Clock::Arrival& available) {
    const Clock::Hop hop = context_.clock.hop(at, next);
    const Clock::Arrival there =
        context_.clock.estimate(hop, context_.bytes(job.to), count, available);
    context_.clock.commit(hop, context_.bytes(job.to), there);
    return there;
  };
  if (job.pieces == 1) job.available.first = job.available.last;
  Result copied{};
  copied.arrival = moved(host, leg.dst, moved(leg.src, host, job.available));
  if (job.before) job.leave.after(job.before->last);
  job.leave.after(room.former);
  for (int j = 0; j < count; ++j) {
    const View staged = piece({buffer, 0, 0, rows, cols}, j, count);
    const Op in{.queue = builder.copy_queue(leg.src, host, queue_to_host(job.device))};
    copied.left =
        context_.emit(job.device, in, {piece(job.from, j, count), staged}, job.leave);
    const Op out{.queue = builder.copy_queue(host, leg.dst, job.queue)};
    copied.pieces.last = context_.emit(job.device, out, {staged, piece(job.to, j, count)},
                                       job.enter.after(copied.left));
    if (j == 0) copied.pieces.first = copied.pieces.last;
    job.leave = {}, job.enter = {};
  }
  room.former.clear();
  room.former.add(builder.queue_of(copied.pieces.last), copied.pieces.last);
  rooms_[{host, job.device}].push_back(room);
  return copied;
}

Copier::Room Copier::take(MemoryId host, size_t device, int64_t bytes) {
  std::deque<Room>& rooms = rooms_[{host, device}];
  Room room;
  if (rooms.size() == rooms_a_device) room = rooms.front(), rooms.pop_front();
  if (room.bytes >= bytes) return room;
  int64_t& used = used_[host];
  room = {used, bytes, {}};
  used += bytes;
  return room;
}

void Copier::note_peaks(Plan& plan, std::span<const int64_t> tiles) const {
  for (const BufferId id : staged_) {
    Buffer& buffer = plan.buffers[id.index()];
    buffer.offset += tiles[buffer.memory.index()];
  }
  for (const auto& [host, bytes] : used_) {
    int64_t& peak = plan.peak_bytes[host.index()];
    peak = std::max(peak, tiles[host.index()] + bytes);
  }
}

}  // namespace tilerail
