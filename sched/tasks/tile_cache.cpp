#include "sched/tasks/tile_cache.hpp"

#include <algorithm>
#include <cassert>

#include "model/base/error.hpp"

namespace tilerail {

TileCache::TileCache(PlanContext& context, std::vector<Tile> tiles)
    : context_{context},
      tiles_{std::move(tiles)},
      devices_{context.devices.size()},
      copies_(tiles_.size() * devices_),
      victims_(devices_) {}

namespace {
/// A copy in one piece starts only when all of its source is there.
LinkClock::Arrival whole(LinkClock::Arrival available) {
  available.first = available.last;
  return available;
}
}  // namespace

bool TileCache::present(TileIndex tile, std::size_t device) const {
  return in_place(tile, device) || copy(tile, device).present;
}

View TileCache::view_on(TileIndex tile, std::size_t device) const {
  const View& home = tiles_[tile].home;
  if (in_place(tile, device)) return home;
  return {copy(tile, device).slot.buffer, 0, 0, home.rows, home.cols};
}

/// Pieces of a chained tile: never more than its columns, nor smaller than the policy's least size.
int TileCache::chunks_of(TileIndex tile) const {
  std::int64_t pieces = std::min<std::int64_t>(context_.policy.chunks, tiles_[tile].home.cols);
  if (context_.policy.min_chunk_bytes > 0)
    pieces = std::min(pieces, static_cast<std::int64_t>(size(tile)) / context_.policy.min_chunk_bytes);
  return static_cast<int>(std::max<std::int64_t>(1, pieces));
}

std::optional<std::size_t> TileCache::device_index(MemoryId memory) const {
  const auto found = std::find(context_.devices.begin(), context_.devices.end(), memory);
  if (found == context_.devices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - context_.devices.begin());
}

/// Every memory that a copy may start from: the home, then the devices that have or will have the tile, ascending.
template <class Function>
void TileCache::each_holder(TileIndex tile, Function&& f) const {
  f(Holder{tiles_[tile].home_memory, {}});
  if (context_.policy.routing == Routing::initial || !context_.policy.caching) return;
  for (const std::size_t user : tiles_[tile].users)
    if (const Copy& c = copy(tile, user); c.present) f(Holder{context_.devices[user], c.available});
}

/// initial: the home. bandwidth: of all holders, the fastest pair; link-map: the fastest route of the link map. eta: of
/// all holders, the earliest arrival.
/// Ties go to the holder listed first: the home, then the lowest device.
Holder TileCache::best_source(TileIndex tile, std::size_t device) const {
  const MemoryId dst = context_.devices[device];
  std::optional<Holder> best;
  double best_cost = std::numeric_limits<double>::infinity();
  each_holder(tile, [&](const Holder& holder) {
    const double cost = source_cost(tile, holder, dst);
    if (cost < best_cost) best = holder, best_cost = cost;
  });
  if (!best)
    throw InputError{"machine '" + context_.topology.name() + "' has no route from '" +
                     context_.topology.memory(tiles_[tile].home_memory).name + "' to '" +
                     context_.topology.memory(dst).name + "'"};
  return *best;
}

double TileCache::source_cost(TileIndex tile, const Holder& holder, MemoryId dst) const {
  if (context_.links)
    return context_.links->latency(holder.memory, dst) +
           size(tile) * context_.links->seconds_per_byte(holder.memory, dst);
  if (!context_.topology.has_route(holder.memory, dst)) return std::numeric_limits<double>::infinity();
  if (context_.policy.routing == Routing::bandwidth) return context_.clock.seconds_per_byte(holder.memory, dst);
  return context_.clock.estimate(holder.memory, dst, size(tile), 1, whole(holder.available)).last;
}

double TileCache::eta(TileIndex tile, std::size_t device) const {
  if (in_place(tile, device)) return 0;
  if (const Copy& c = copy(tile, device); c.present) return c.available.last;
  const Holder from = best_source(tile, device);
  return context_.clock.estimate(from.memory, context_.devices[device], size(tile), 1, whole(from.available)).last;
}

TileCache::Input TileCache::fetch(TileIndex tile, std::size_t device) {
  if (in_place(tile, device)) return {tiles_[tile].home, std::nullopt, 0};
  Copy& here = copy(tile, device);
  if (!here.present) {
    const bool chain = context_.policy.batch && context_.policy.caching && !context_.arenas[device].pooled();
    chain ? fetch_chain(tile, device) : fetch_alone(tile, device);
  }
  return {view_on(tile, device), here.last_piece, here.available.last};
}

/// Where the route of a tile goes over other devices, it stays there, too.
void TileCache::fetch_alone(TileIndex tile, std::size_t device) {
  Holder from = best_source(tile, device);
  std::vector<std::size_t> stops = context_.hops(from.memory, context_.devices[device]);
  for (const std::size_t hop : stops) {
    auto& users = tiles_[tile].users;
    const auto place = std::lower_bound(users.begin(), users.end(), hop);
    if (place == users.end() || *place != hop) users.insert(place, hop);
  }
  stops.push_back(device);
  for (const std::size_t stop : stops) {
    if (!present(tile, stop)) {
      from.available = whole(from.available);
      const MemoryId dst = context_.devices[stop];
      send(tile, from, stop, 1, context_.clock.estimate(from.memory, dst, size(tile), 1, from.available), device);
    }
    from = {context_.devices[stop], copy(tile, stop).available};
  }
}

/// One chain of hops to every device that will use the tile and does not have it yet; where there are no routes for
/// one, each device fetches for itself.
void TileCache::fetch_chain(TileIndex tile, std::size_t device) {
  std::vector<MemoryId> destinations;
  for (const std::size_t user : tiles_[tile].users)
    if (!present(tile, user)) destinations.push_back(context_.devices[user]);
  if (destinations.size() == 1) return fetch_alone(tile, device);
  const int pieces = chunks_of(tile);
  std::vector<Holder> sources;
  each_holder(tile, [&](const Holder& holder) { sources.push_back(holder); });
  const auto chain = find_chain(context_.clock, context_.topology, sources, destinations, size(tile), pieces);
  if (!chain) return fetch_alone(tile, device);
  Holder from{chain->source, {}};
  if (const auto source = device_index(chain->source); source && copy(tile, *source).present)
    from.available = copy(tile, *source).available;
  for (std::size_t hop = 0; hop < chain->hops.size(); ++hop) {
    send(tile, from, *device_index(chain->hops[hop]), pieces, chain->arrivals[hop], device);
    from = {chain->hops[hop], chain->arrivals[hop]};
  }
}

/// The copies of one hop. Piece j waits for piece j of the hop before, when that came in as many pieces.
void TileCache::send(TileIndex tile, const Holder& from, std::size_t to, int pieces, LinkClock::Arrival arrival,
                     std::size_t on_behalf) {
  const MemoryId dst = context_.devices[to];
  const View& home = tiles_[tile].home;
  Copy& target = copy(tile, to);
  const auto source_device = device_index(from.memory);
  const Copy* source = source_device && !in_place(tile, *source_device) ? &copy(tile, *source_device) : nullptr;
  if (source) pin(tile, *source_device, true);
  target.slot = context_.arenas[to].take(home.rows, home.cols, element_size(context_.problem.dtype),
                                         [this, to] { evict_one(to); });
  const View whole = source ? view_on(tile, *source_device) : home;
  const bool piecewise = source && source->last_piece.value - source->first_piece.value + 1 == pieces;
  Op op;
  op.queue = context_.builder.copy_queue(from.memory, dst);
  for (int j = 0; j < pieces; ++j) {
    const std::int64_t begin = home.cols * j / pieces, end = home.cols * (j + 1) / pieces;
    op.a = {whole.buffer, whole.row, whole.col + begin, home.rows, end - begin};
    op.y = {target.slot.buffer, 0, begin, home.rows, end - begin};
    Deps deps;
    deps.after(target.slot.former);
    if (source) deps.after(piecewise ? OpId{source->first_piece.value + j} : source->last_piece);
    const OpId id = context_.emit(on_behalf, op, deps);
    if (j == 0) target.first_piece = id;
    target.last_piece = id;
  }
  context_.clock.commit(from.memory, dst, size(tile), arrival);
  target.present = true;
  target.available = arrival;
  target.readers.clear();
  if (source) {
    pin(tile, *source_device, false);
    used(tile, *source_device, target.last_piece);
  }
  if (context_.arenas[to].pooled() && context_.policy.caching) {
    target.last_touch = ++touches_;
    victims_[to].insert(victim_key(tile, to));
  }
}

void TileCache::used(TileIndex tile, std::size_t device, OpId reader) {
  if (in_place(tile, device)) return;
  Copy& here = copy(tile, device);
  const Arena& arena = context_.arenas[device];
  if (!arena.pooled()) return;  // memory that is never taken again needs no record of its readers
  here.readers.add(context_.builder.queue_of(reader), reader);
  if (!context_.policy.caching) return drop(tile, device);
  const bool listed = !here.pinned;
  if (listed) victims_[device].erase(victim_key(tile, device));
  here.last_touch = ++touches_;
  if (listed) victims_[device].insert(victim_key(tile, device));
}

TileCache::Victim TileCache::victim_key(TileIndex tile, std::size_t device) const {
  const Copy& here = copy(tile, device);
  return {-here.next_use, here.last_touch, tile};
}

void TileCache::set_next_use(TileIndex tile, std::size_t device, std::int64_t position) {
  Copy& here = copy(tile, device);
  const bool listed = here.present && !here.pinned && victims_[device].erase(victim_key(tile, device)) > 0;
  here.next_use = position;
  if (listed) victims_[device].insert(victim_key(tile, device));
}

void TileCache::pin(TileIndex tile, std::size_t device, bool pinned) {
  Copy& here = copy(tile, device);
  if (!here.present || !context_.arenas[device].pooled() || !context_.policy.caching || here.pinned == pinned) return;
  if (pinned)
    victims_[device].erase(victim_key(tile, device));
  else
    victims_[device].insert(victim_key(tile, device));
  here.pinned = pinned;
}

void TileCache::evict_one(std::size_t device) {
  if (victims_[device].empty()) return;  // the arena reports what is missing
  drop(std::get<TileIndex>(*victims_[device].begin()), device);
}

void TileCache::drop(TileIndex tile, std::size_t device) {
  Copy& here = copy(tile, device);
  assert(here.present && !here.pinned);
  victims_[device].erase(victim_key(tile, device));
  LastUses uses = here.readers;
  uses.add(context_.builder.queue_of(here.last_piece), here.last_piece);
  context_.arenas[device].give_back(here.slot, uses);
  here.present = false;
}

}  // namespace tilerail
