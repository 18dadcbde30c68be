#include "sched/route/fetcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"
#include "sched/route/broadcast.hpp"
#include "sched/tasks/pieces.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {

Fetcher::Trip Fetcher::trip_from(const Holder& holder, std::size_t device) const {
  Trip trip{holder, {}};
  if (!staged(holder, context_.devices[device])) trip.stops = context_.hops(holder.memory, context_.devices[device]);
  trip.stops.push_back(device);
  return trip;
}

/// How tiles come to a device over others: by how many copies, from each device, and to which it goes first.
const Fetcher::WaysTo& Fetcher::ways_to(std::size_t device) const {
  const std::size_t count = context_.devices.size();
  if (sources_of_.empty()) {
    sources_of_.resize(count), sinks_of_.resize(count), ways_to_.resize(count), all_devices_.resize(count);
    std::iota(all_devices_.begin(), all_devices_.end(), std::size_t{0});
    for (std::size_t to = 0; to < count; ++to)
      for (std::size_t from = 0; from < count; ++from)
        if (from != to && reaches({context_.devices[from], {}}, context_.devices[to]))
          sources_of_[to].push_back(from), sinks_of_[from].push_back(to);
  }
  WaysTo& ways = ways_to_[device];
  if (!ways.copies.empty()) return ways;
  ways.copies.assign(count, unreachable), ways.next.assign(count, device);
  ways.copies[device] = 0;
  std::vector<std::size_t> reaching{device};
  for (std::size_t i = 0; i < reaching.size(); ++i)
    for (const std::size_t from : sources_of_[reaching[i]])
      if (ways.copies[from] == unreachable) {
        ways.copies[from] = ways.copies[reaching[i]] + 1, ways.next[from] = reaching[i];
        reaching.push_back(from);
      }
  return ways;
}

/// To a device that no holder has a route to: by as few copies as can be, and of as few over the device to which the
/// first is best by what routing compares.
Fetcher::Trip Fetcher::detour(TileId tile, std::size_t device) const {
  const MemoryId home = directory_.tile(tile).home_memory;
  const WaysTo& ways = ways_to(device);
  const auto each_first = [&](const auto& consider) {
    directory_.each_holder(tile, [&](const Holder& holder) {
      if (context_.decisions.routing == Routing::initial && !holder.is_home) return;
      for (const std::size_t first : holder.is_home ? all_devices_ : sinks_of_[*directory_.device_at(holder.memory)])
        if (ways.copies[first] != unreachable && (!holder.is_home || reaches(holder, context_.devices[first])))
          consider(holder, first);
    });
  };
  std::size_t fewest = unreachable;
  each_first([&](const Holder&, std::size_t first) { fewest = std::min(fewest, ways.copies[first]); });
  std::optional<Trip> best;
  double least = std::numeric_limits<double>::infinity();
  each_first([&](const Holder& holder, std::size_t first) {
    if (ways.copies[first] > fewest) return;
    const double cost = source_cost(tile, holder, context_.devices[first]).value;
    if (!best || cost < least) best = Trip{holder, {first}}, least = cost;
  });
  if (!best || !context_.decisions.caching)  // without it no device keeps what others may fetch
    no_route(context_.topology, home, context_.devices[device]);
  while (best->stops.back() != device) best->stops.push_back(ways.next[best->stops.back()]);
  return *std::move(best);
}

Clock::Arrival Fetcher::arrival(TileId tile, const Holder& from, MemoryId dst, int pieces) const {
  const Bytes bytes = directory_.bytes(tile);
  return staged(from, dst)
             ? context_.stage->arrival(context_, from.memory, dst, directory_.tile(tile).home, from.available)
             : context_.clock.estimate(context_.clock.hop(from.memory, dst), bytes, pieces, from.available);
}

Seconds Fetcher::eta(TileId tile, std::size_t device) const {
  if (directory_.present(tile, device)) return directory_.there(tile, device);
  const auto source = best_source(tile, device);
  if (source && source->cost.arrival) return *source->cost.arrival;
  const bool direct = source && reaches(source->holder, context_.devices[device]);
  auto [at, stops] = direct   ? Trip{source->holder, {device}}
                     : source ? trip_from(source->holder, device)
                              : detour(tile, device);
  for (const std::size_t stop : stops) {
    at.available = whole(at.available);
    at = {context_.devices[stop], arrival(tile, at, context_.devices[stop], 1)};
  }
  return at.available.last;
}

Fetcher::Input Fetcher::fetch(TileId tile, std::size_t device) {
  if (!directory_.present(tile, device)) {
    const bool chain = context_.decisions.batch && context_.decisions.caching && !context_.arenas[device].pooled();
    chain ? fetch_chain(tile, device) : fetch_alone(tile, device);
  }
  return {directory_.view_on(tile, device), directory_.arrival(tile, device), directory_.there(tile, device)};
}

/// Where the route of a tile goes over other devices, it stays there, too. By the bottleneck rule it goes in pieces, so
/// that its copies overlap; else one copy follows the other.
void Fetcher::fetch_alone(TileId tile, std::size_t device) {
  const auto source = best_source(tile, device);
  auto [from, stops] = source ? trip_from(source->holder, device) : detour(tile, device);
  for (const std::size_t hop : stops)
    if (hop != device) directory_.add_user(tile, hop);
  const bool in_pieces = stops.size() > 1 && context_.decisions.hop_rule == HopRule::bottleneck;
  const int pieces = in_pieces ? pieces_of(context_, directory_.tile(tile).home) : 1;
  for (const std::size_t stop : stops) {
    if (!directory_.present(tile, stop)) {
      if (pieces == 1) from.available = whole(from.available);
      send(tile, from, stop, pieces, arrival(tile, from, context_.devices[stop], pieces), device);
    }
    if (directory_.in_place(tile, stop))
      from = {context_.devices[stop], directory_.home_available(tile), true};
    else
      from = {context_.devices[stop], directory_.copy(tile, stop).available};
  }
}

/// One chain of hops to every device that will use the tile and does not have it yet; where there are no routes for
/// one, or where copies are staged that would be in it, each device fetches for itself.
void Fetcher::fetch_chain(TileId tile, std::size_t device) {
  std::vector<MemoryId> destinations;
  for (const std::size_t user : directory_.tile(tile).users)
    if (!directory_.present(tile, user)) destinations.push_back(context_.devices[user]);
  if (destinations.size() == 1) return fetch_alone(tile, device);
  const auto over_a_host = [&](MemoryId from) {
    return std::ranges::any_of(destinations, [&](MemoryId to) { return staged({from, {}}, to); });
  };
  if (std::ranges::any_of(destinations, over_a_host)) return fetch_alone(tile, device);
  const int pieces = pieces_of(context_, directory_.tile(tile).home);
  std::vector<Holder> sources;
  directory_.each_holder(tile, [&](const Holder& holder) {
    if (context_.decisions.routing == Routing::initial && !holder.is_home) return;
    if (std::ranges::any_of(destinations, [&](MemoryId to) { return staged(holder, to); })) return;
    std::erase_if(sources, [&](const Holder& home) { return home.memory == holder.memory; });  // beside a copy there
    sources.push_back(holder);
  });
  if (sources.empty()) return fetch_alone(tile, device);
  const auto chain = find_chain(context_.clock, sources, destinations, directory_.bytes(tile), pieces);
  if (!chain) return fetch_alone(tile, device);
  Holder from = *std::find_if(sources.begin(), sources.end(),
                              [&](const Holder& holder) { return holder.memory == chain->source; });
  for (std::size_t hop = 0; hop < chain->hops.size(); ++hop) {
    send(tile, from, *directory_.device_at(chain->hops[hop]), pieces, chain->arrivals[hop], device);
    from = {chain->hops[hop], chain->arrivals[hop]};
  }
}

/// The copies of one hop.
void Fetcher::send(TileId tile, const Holder& from, std::size_t to, int pieces, const Clock::Arrival& arrival,
                   std::size_t on_behalf) {
  ++sent_[{from.memory, context_.devices[to]}];
  const View home = directory_.tile(tile).home;
  const bool from_copy = !from.is_home;
  const auto device = directory_.device_at(from.memory);
  if (from_copy) directory_.pin(tile, *device, true);
  TileDirectory::Copy& target = directory_.copy(tile, to);
  if (!target.has_slot)
    target.slot = context_.arena_for(home, to).take(home.rows, home.cols, context_.dtype(home),
                                                    [this, to] { directory_.evict_one(to); });
  const View there{target.slot.buffer, 0, 0, home.rows, home.cols};
  const View source = from_copy ? directory_.view_on(tile, *device) : home;
  const TileDirectory::Copy* copy = from_copy ? &directory_.copy(tile, *device) : nullptr;
  if (copy && copy->last_piece == TileDirectory::nobody) copy = nullptr;
  HostStage::When when{{}, {}, from.available};
  when.enter.after(target.slot.former);
  if (!copy) when.leave.after(directory_.last_written_at_home(tile));
  HostStage::Copied copied;
  if (staged(from, context_.devices[to])) {
    if (copy) when.leave.after(copy->last_piece);
    copied = context_.stage->copy(context_, on_behalf, source, there, when);
  } else {
    std::optional<PieceCopies> before;
    if (copy) before = {copy->first_piece, copy->last_piece};
    const PieceCopies copies =
        copy_in_pieces(context_, on_behalf, source, there, pieces, 0, when.enter.after(when.leave), before);
    copied = {.first = copies.first, .last = copies.last, .left = copies.last, .arrival = arrival};
    context_.clock.commit(context_.clock.hop(from.memory, context_.devices[to]), directory_.bytes(tile), arrival);
  }
  directory_.arrived(tile, to, copied.first, copied.last, copied.arrival);
  if (!from_copy) return directory_.used_at_home(tile, copied.left);
  directory_.pin(tile, *device, false);
  directory_.used(tile, *device, copied.left);
}

/// The source of a tile that one device fetches for itself; that of a chain is chosen with its hops (fetch_chain).
/// initial, or without caching: the home. bandwidth: of all holders, the fastest pair; link-map: the fastest route of
/// the link map. eta: of all holders, the earliest arrival. Ties go to the holder listed first: the home, then the
/// lowest device. Nothing where none of them has a route to the device.
std::optional<Fetcher::Source> Fetcher::best_source(TileId tile, std::size_t device) const {
  if (context_.decisions.routing == Routing::peer_rank || context_.decisions.routing == Routing::nearest_id)
    return source_by_rank(tile, device);
  if (context_.links && context_.decisions.hop_rule == HopRule::bottleneck) return widest_source(tile, device);
  const MemoryId dst = context_.devices[device];
  const bool from_home = context_.decisions.routing == Routing::initial || !context_.decisions.caching;
  std::optional<Holder> best;
  SourceCost least;
  directory_.each_holder(tile, [&](const Holder& holder) {
    if (from_home && directory_.home_is_valid(tile) && !holder.is_home) return;
    const SourceCost cost = source_cost(tile, holder, dst);
    if (cost.value < least.value) best = holder, least = cost;
  });
  if (!best) return std::nullopt;
  return Source{*best, least};
}

/// Of other GPUs that have the tile the nearest one, of equally near ones the lowest; else the home, however near it
/// is. A copy that is there now comes before any that is on its way. peer-rank: near is fast, and rates that lie within
/// a tenth of the fastest are equal. nearest-id: near are the numbers, and only what a GPU has shown counts.
std::optional<Fetcher::Source> Fetcher::source_by_rank(TileId tile, std::size_t device) const {
  constexpr double as_fast = 0.9;
  const MemoryId dst = context_.devices[device];
  const bool by_speed = context_.decisions.routing == Routing::peer_rank;
  struct Peer {
    Holder holder;
    double distance;
    bool is_coming;
  };
  boost::container::small_vector<Peer, 16> peers;
  std::optional<Holder> source;
  directory_.each_holder(tile, [&](const Holder& holder) {
    if (!reaches(holder, dst)) return;
    if (holder.is_home) return void(source = holder);
    const auto at = *directory_.device_at(holder.memory);
    if (!by_speed && !(directory_.copy(tile, at).last_piece < shown_before_[at])) return;
    const double apart = std::abs(static_cast<double>(at) - static_cast<double>(device));
    peers.push_back(
        {holder, by_speed ? per_byte(holder, dst).value : apart, holder.available.last > context_.clock.now()});
  });
  const auto nearest = std::ranges::min_element(peers, {}, [](const Peer& peer) {
    return std::pair{peer.is_coming, peer.distance};
  });
  if (nearest != peers.end())
    source =
        std::ranges::find_if(peers, [&](const Peer& peer) {
          return peer.is_coming == nearest->is_coming && (by_speed ? as_fast : 1) * peer.distance <= nearest->distance;
        })->holder;
  if (!source) return std::nullopt;
  return Source{*source, {per_byte(*source, dst).value}};
}

/// The holder with the widest way, what is on its way to it counting in_flight_worth of that; of equally wide ones that
/// whose pair was used least, then the one listed first (PARALiA's library).
std::optional<Fetcher::Source> Fetcher::widest_source(TileId tile, std::size_t device) const {
  constexpr double in_flight_worth = 0.9;
  const MemoryId dst = context_.devices[device];
  std::optional<Holder> best;
  double least = LinkMap::no_way.value;
  int least_sent = 0;
  directory_.each_holder(tile, [&](const Holder& holder) {
    double cost = holder.memory == dst  ? 0
                  : staged(holder, dst) ? per_byte(holder, dst).value
                                        : context_.links->per_byte(holder.memory, dst).value;
    if (holder.available.last > context_.clock.now()) cost /= in_flight_worth;
    const auto pair = sent_.find({holder.memory, dst});
    const int sent = pair == sent_.end() ? 0 : pair->second;
    if (cost < least || (cost == least && best && sent < least_sent)) best = holder, least = cost, least_sent = sent;
  });
  if (!best) return std::nullopt;
  return Source{*best, {least}};
}

/// What routing compares: bandwidth by s/B, any other by s.
Fetcher::SourceCost Fetcher::source_cost(TileId tile, const Holder& holder, MemoryId dst) const {
  const Bytes bytes = directory_.bytes(tile);
  if (context_.links && staged(holder, dst)) return {(bytes * per_byte(holder, dst)).value};
  if (context_.links && holder.memory != dst)
    return {(context_.links->latency(holder.memory, dst) + bytes * context_.links->per_byte(holder.memory, dst)).value};
  if (context_.decisions.routing == Routing::bandwidth || !reaches(holder, dst)) return {per_byte(holder, dst).value};
  const Seconds there = arrival(tile, {holder.memory, whole(holder.available), holder.is_home}, dst, 1).last;
  return {there.value, there};
}

}  // namespace tilerail
