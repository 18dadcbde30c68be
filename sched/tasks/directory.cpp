#include "sched/tasks/directory.hpp"

#include <algorithm>
#include <cassert>

#include "model/base/indices.hpp"

namespace tilerail {

TileDirectory::TileDirectory(PlanContext& context, std::vector<Tile> tiles, Writes writes)
    : context_{context},
      tiles_{std::move(tiles)},
      count_{tiles_.size()},
      copies_(count_),
      victims_(context.devices.size()) {
  for (size_t t = 0; t < count_; ++t) {
    copies_[t].resize(tiles_[t].users.size());
    tiles_[t].home = context.builder.in_block(tiles_[t].home);
    tiles_[t].home_memory = context.builder.plan().buffer(tiles_[t].home.buffer).memory;
    find_replicas(tiles_[t].home.buffer);
  }
  if (writes == Writes::some) homes_.resize(count_);
  // Choosers query every tile in their window at every step: one memory access each
  // instead of four.
  constexpr size_t most = size_t{1} << 24;
  if (count_ * context.devices.size() > most) return;
  here_.resize(count_ * context.devices.size());
  for (size_t t = 0; t < count_; ++t) note_home(TileId{t});
}

void TileDirectory::find_replicas(BufferId home) {
  const Plan& plan = context_.builder.plan();
  const auto known = [home](const ReplicatedMatrix& copied) {
    return copied.home == home;
  };
  if (!plan.tensor(plan.buffer(home).tensor).layout.is_replicated() ||
      std::ranges::any_of(replicated_, known))
    return;
  ReplicatedMatrix copied{home, {}};
  for (const MemoryId device : context_.devices) {  // the buffers follow each other
    BufferId replica = home;
    while (plan.buffer(replica).memory != device) ++replica.value;
    copied.of_device.push_back(replica);
  }
  replicated_.push_back(std::move(copied));
}

TileDirectory::NewestCopy TileDirectory::looked_up(TileId id, size_t device) const {
  if (const ReplicatedMatrix* copied = replicas_of(id))
    return {Seconds{0}, copied->of_device[device], nobody};
  if (in_place(id, device))
    return {home_available(id).last, tile(id).home.buffer,
            last_written_at_home(id).value_or(nobody)};
  const Copy* copy = find(id, device);
  return copy && copy->valid
             ? NewestCopy{copy->available.last, copy->slot.buffer, copy->last_piece}
             : NewestCopy{};
}

/// Updates the entry of `here_`.
void TileDirectory::note(TileId id, size_t device) {
  if (!here_.empty()) here_[place_of(id, device)] = looked_up(id, device);
}

void TileDirectory::note_home(TileId id) {
  if (replicas_of(id)) {
    for (const auto device : indices(context_.devices)) note(id, device);
  } else if (const auto device = device_at(tile(id).home_memory))
    note(id, *device);
}

/// Index of the device among the users, or the insertion point. There are mostly few.
size_t TileDirectory::slot_of(TileId id, size_t device) const {
  const auto& users = tiles_[id.index()].users;
  constexpr size_t few = 16;
  if (users.size() > few)
    return size_t(std::ranges::lower_bound(users, device) - users.begin());
  size_t at = 0;
  while (at < users.size() && users[at] < device) ++at;
  return at;
}

const TileDirectory::Copy* TileDirectory::find(TileId id, size_t device) const {
  const auto& users = tiles_[id.index()].users;
  const size_t at = slot_of(id, device);
  return at < users.size() && users[at] == device ? &copies_[id.index()][at] : nullptr;
}

void TileDirectory::add_user(TileId id, size_t device) {
  if (find(id, device)) return;
  const auto at = ptrdiff_t(slot_of(id, device));
  auto& users = tiles_[id.index()].users;
  users.insert(users.begin() + at, device);
  copies_[id.index()].insert(copies_[id.index()].begin() + at, Copy{});
}

std::optional<size_t> TileDirectory::device_at(MemoryId memory) const {
  const auto found = std::ranges::find(context_.devices, memory);
  if (found == context_.devices.end()) return std::nullopt;
  return size_t(found - context_.devices.begin());
}

View TileDirectory::view_on(TileId id, size_t device) const {
  const View& home = tile(id).home;
  const BufferId buffer = here(id, device).buffer;
  if (in_place(id, device)) return {buffer, home.row, home.col, home.rows, home.cols};
  return {buffer, 0, 0, home.rows, home.cols};
}

std::optional<OpId> TileDirectory::arrival(TileId id, size_t device) const {
  const OpId arrival = here(id, device).arrival;
  return arrival == nobody ? std::nullopt : std::optional{arrival};
}

Clock::Arrival TileDirectory::home_available(TileId id) const {
  if (homes_.empty()) return {};
  const Seconds at = homes_[id.index()].available;
  return {at, at, at, 0};
}

std::optional<OpId> TileDirectory::last_written_at_home(TileId id) const {
  return homes_.empty() ? std::nullopt : homes_[id.index()].writer;
}

void TileDirectory::arrived(TileId id, size_t device, OpId first_piece, OpId last_piece,
                            const Clock::Arrival& at) {
  Copy& here = copy(id, device);
  here.valid = here.has_slot = true;
  here.first_piece = first_piece, here.last_piece = last_piece;
  here.available = at;
  here.readers.clear();
  note(id, device);
  if (!evictable(device)) return;
  here.last_touch = ++touches_;
  victims_[device].insert(victim_key(id, here));
}

std::vector<TileDirectory::WarmTile> TileDirectory::warm_tiles() const {
  std::vector<WarmTile> warm;
  for (size_t t = 0; t < count_; ++t)
    for (const auto u : indices(tiles_[t].users))
      if (copies_[t][u].valid) warm.push_back({TileId{t}, tiles_[t].users[u]});
  return warm;
}

void TileDirectory::warm_up(std::span<const WarmTile> tiles) {
  for (const auto& [id, device] : tiles) {
    const View& home = tile(id).home;
    add_user(id, device);
    copy(id, device).slot = context_.arenas[device].take(context_.block(home), [] {});
    arrived(id, device, nobody, nobody, {});
  }
}

void TileDirectory::used(TileId id, size_t device, OpId reader) {
  if (in_place(id, device)) return used_at_home(id, reader);
  const bool pooled = context_.arenas[device].pooled();
  if (!pooled && homes_.empty())
    return;  // memory that is never written again needs no record of its readers
  Copy& here = copy(id, device);
  here.readers.add(context_.builder.queue_of(reader), reader);
  if (!pooled) return;
  if (!context_.decisions.choices.caching) return drop(id, device);
  const bool listed = !here.pinned;
  if (listed) victims_[device].erase(victim_key(id, here));
  here.last_touch = ++touches_;
  if (listed) victims_[device].insert(victim_key(id, here));
}

void TileDirectory::used_at_home(TileId id, OpId reader) {
  if (!homes_.empty())
    homes_[id.index()].readers.add(context_.builder.queue_of(reader), reader);
}

void TileDirectory::written(TileId id, size_t device, OpId kernel, Seconds end) {
  const auto& users = tile(id).users;
  for (const auto u : indices(users))
    if (users[u] != device && copies_[id.index()][u].valid) make_stale(id, users[u]);
  Home& home = homes_[id.index()];
  const Clock::Arrival at{end, end, end, 0};
  if (in_place(id, device)) {
    home.writer = kernel, home.available = end;
    home.readers.clear();
    return note(id, device);
  }
  home.stale = true;
  note_home(id);
  Copy& here = copy(id, device);
  here.valid = here.has_slot = true;
  here.first_piece = here.last_piece = kernel;
  here.available = at;
  here.readers.clear();
  note(id, device);
}

void TileDirectory::came_home(TileId id, OpId copy, Seconds end) {
  Home& home = homes_[id.index()];
  home.stale = false, home.writer = copy, home.available = end;
  home.readers.clear();
  note_home(id);
}

void TileDirectory::wait_to_write(TileId id, size_t device, Deps& deps) const {
  if (in_place(id, device)) return wait_to_write_home(id, deps);
  const Copy& here = copy(id, device);
  if (here.valid) deps.after(here.last_piece).after(here.readers);
}

void TileDirectory::wait_to_write_home(TileId id, Deps& deps) const {
  if (!homes_.empty())
    deps.after(homes_[id.index()].writer).after(homes_[id.index()].readers);
}

void TileDirectory::set_next_use(TileId id, size_t device, int64_t position) {
  if (!find(id, device)) return;  // used in place
  Copy& here = copy(id, device);
  const bool listed =
      here.valid && !here.pinned && victims_[device].erase(victim_key(id, here)) > 0;
  here.next_use = position;
  if (listed) victims_[device].insert(victim_key(id, here));
}

void TileDirectory::pin(TileId id, size_t device, bool pinned) {
  if (!evictable(device) || in_place(id, device)) return;
  Copy& here = copy(id, device);
  if (!here.valid || here.pinned == pinned) return;
  if (pinned)
    victims_[device].erase(victim_key(id, here));
  else
    victims_[device].insert(victim_key(id, here));
  here.pinned = pinned;
}

void TileDirectory::evict_one(size_t device) {
  if (victims_[device].empty()) return;  // the arena reports the shortage
  drop(std::get<TileId>(*victims_[device].begin()), device);
}

bool TileDirectory::has_room(TileId id, size_t device) const {
  const Arena& arena = context_.arenas[device];
  if (!arena.pooled()) return true;
  const int64_t next_use = copy(id, device).next_use;
  if (next_use == never || !arena.full()) return next_use != never;
  const std::set<Victim>& victims = victims_[device];
  return !victims.empty() && -std::get<0>(*victims.begin()) > next_use;
}

LastUses TileDirectory::uses_of(const Copy& copy) const {
  LastUses uses = copy.readers;
  if (copy.last_piece != nobody)
    uses.add(context_.builder.queue_of(copy.last_piece), copy.last_piece);
  return uses;
}

void TileDirectory::drop(TileId id, size_t device) {
  Copy& here = copy(id, device);
  assert(here.valid && !here.pinned);
  victims_[device].erase(victim_key(id, here));
  context_.arena_for(tile(id).home, device).give_back(here.slot, uses_of(here));
  here.valid = here.has_slot = false;
  note(id, device);
}

/// The copy keeps its memory if memory is ample.
void TileDirectory::make_stale(TileId id, size_t device) {
  if (context_.arenas[device].pooled()) return drop(id, device);
  Copy& here = copy(id, device);
  here.slot.former = uses_of(here);
  here.valid = false;
  note(id, device);
}

}  // namespace tilerail
