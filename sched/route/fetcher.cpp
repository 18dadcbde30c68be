#include "sched/route/fetcher.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "sched/policy/emulation.hpp"
#include "sched/route/broadcast.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {

Fetcher::Trip Fetcher::trip_from(const Holder& holder, size_t device) const {
  Trip trip{holder, context_.router.stops(leg(holder, context_.devices[device]))};
  trip.stops.push_back(device);
  return trip;
}

/// For a device unreachable from every holder: the route with the fewest copies; ties go
/// to the first copy with the lowest cost of the routing rule.
Fetcher::Trip Fetcher::detour(TileId tile, size_t device) const {
  const Router::Detours& detours = context_.router.detours_to(device);
  std::optional<Trip> best;
  std::pair least{Router::unreachable, std::numeric_limits<double>::infinity()};
  const auto consider = [&](const Holder& holder, size_t first) {
    if (detours.copies[first] == Router::unreachable ||
        detours.copies[first] > least.first)
      return;
    const MemoryId there = context_.devices[first];
    if (holder.is_home && !context_.router.reaches(leg(holder, there))) return;
    const std::pair cost{detours.copies[first], source_cost(tile, holder, there).value};
    if (!best || cost < least) best = Trip{holder, {first}}, least = cost;
  };
  directory_.each_holder(tile, [&](const Holder& holder) {
    if (holder.is_home)
      for (const auto first : indices(context_.devices)) consider(holder, first);
    else if (context_.decisions.choices.routing != Routing::initial)
      for (const size_t first :
           context_.router.neighbours(*directory_.device_at(holder.memory)))
        consider(holder, first);
  });
  if (!best || !context_.decisions.choices
                    .caching)  // without caching, devices do not keep tiles to forward
    no_route(context_.topology, directory_.tile(tile).home_memory,
             context_.devices[device]);
  while (best->stops.back() != device)
    best->stops.push_back(detours.next[best->stops.back()]);
  return *std::move(best);
}

Seconds Fetcher::eta(TileId tile, size_t device) const {
  if (directory_.present(tile, device)) return directory_.there(tile, device);
  const auto source = best_source(tile, device);
  if (source && source->cost.arrival) return *source->cost.arrival;
  const bool direct =
      source && context_.router.reaches(leg(source->holder, context_.devices[device]));
  auto [at, stops] = direct   ? Trip{source->holder, {device}}
                     : source ? trip_from(source->holder, device)
                              : detour(tile, device);
  for (const size_t stop : stops)
    at = {context_.devices[stop], arrival(tile, at, context_.devices[stop])};
  return at.available.last;
}

Fetcher::Input Fetcher::fetch(TileId tile, size_t device) {
  if (!directory_.present(tile, device)) {
    const bool batch = context_.decisions.choices.batch != Batch::off &&
                       context_.decisions.choices.caching;
    batch ? fetch_for_all(tile, device) : fetch_alone(tile, device);
  }
  return {directory_.view_on(tile, device), directory_.arrival(tile, device),
          directory_.there(tile, device)};
}

/// Fetched tiles stay on all devices of the route.
void Fetcher::fetch_alone(TileId tile, size_t device) {
  const auto source = best_source(tile, device);
  auto [from, stops] = source ? trip_from(source->holder, device) : detour(tile, device);
  for (const size_t stop : stops)
    if (stop != device) directory_.add_user(tile, stop);
  const int pieces = pieces_over(context_, directory_.tile(tile).home, stops.size() - 1);
  for (const size_t stop : stops) {
    if (!directory_.present(tile, stop)) send(tile, from, stop, pieces, device);
    if (directory_.in_place(tile, stop))
      from = {context_.devices[stop], directory_.home_available(tile), true};
    else
      from = {context_.devices[stop], directory_.copy(tile, stop).available};
  }
}

/// Sends the tile to every device that will use the tile, does not have it, and has room.
/// If a copy of the batch would go over a host or has no route, each device fetches the
/// tile alone.
void Fetcher::fetch_for_all(TileId tile, size_t device) {
  std::vector<MemoryId> destinations;
  for (const size_t user : directory_.tile(tile).users)
    if (user == device ||
        (!directory_.present(tile, user) && directory_.has_room(tile, user)))
      destinations.push_back(context_.devices[user]);
  if (destinations.size() == 1) return fetch_alone(tile, device);
  const auto over_a_host = [&](const Holder& from) {
    return std::ranges::any_of(
        destinations, [&](MemoryId to) { return leg(from, to).host.has_value(); });
  };
  if (std::ranges::any_of(destinations, [&](MemoryId from) {
        return over_a_host({from, {}});
      }))
    return fetch_alone(tile, device);
  std::vector<Holder> sources;
  directory_.each_holder(tile, [&](const Holder& holder) {
    if (context_.decisions.choices.routing == Routing::initial && !holder.is_home) return;
    if (over_a_host(holder)) return;
    // If the home GPU also has a copy, the copy is the source.
    std::erase_if(sources,
                  [&](const Holder& listed) { return listed.memory == holder.memory; });
    sources.push_back(holder);
  });
  const auto send_all = context_.decisions.choices.batch == Batch::tree
                            ? &Fetcher::send_tree
                            : &Fetcher::send_chain;
  (this->*send_all)(tile, device, std::move(sources), std::move(destinations));
  if (!directory_.present(tile, device)) fetch_alone(tile, device);
}

/// Sends the tile along one chain. If no chain reaches every destination, nothing is
/// sent.
void Fetcher::send_chain(TileId tile, size_t device, std::vector<Holder> sources,
                         std::vector<MemoryId> destinations) {
  const int pieces = pieces_of(context_, directory_.tile(tile).home);
  const auto chain =
      find_chain(context_.clock, sources, destinations, directory_.bytes(tile), pieces);
  if (!chain) return;
  Holder from = *std::ranges::find_if(
      sources, [&](const Holder& holder) { return holder.memory == chain->source; });
  for (const auto hop : indices(chain->hops)) {
    send(tile, from, *directory_.device_at(chain->hops[hop]), pieces, device,
         chain->arrivals[hop]);
    from = {chain->hops[hop], chain->arrivals[hop]};
  }
}

/// Repeatedly takes the hop with the least pressure from a holder to a destination
/// without the tile; ties go to the earliest arrival.
void Fetcher::send_tree(TileId tile, size_t device, std::vector<Holder> holders,
                        std::vector<MemoryId> left) {
  struct TreeHop {
    std::pair<double, Seconds> cost{std::numeric_limits<double>::infinity(), 0};
    size_t from = 0, to = 0;
    Clock::Arrival arrival = {};
  };
  const int pieces = pieces_of(context_, directory_.tile(tile).home);
  while (!left.empty()) {
    TreeHop best;
    for (size_t from = 0; from < holders.size(); ++from)
      for (size_t to = 0; to < left.size(); ++to) {
        const Clock::Hop hop = context_.clock.hop(holders[from].memory, left[to]);
        if (!hop.exists()) continue;
        const auto arrival = context_.clock.estimate(hop, directory_.bytes(tile), pieces,
                                                     holders[from].available);
        const std::pair cost{arrival.pressure, arrival.last};
        if (cost < best.cost) best = {cost, from, to, arrival};
      }
    if (std::isinf(best.cost.first)) return;
    send(tile, holders[best.from], *directory_.device_at(left[best.to]), pieces, device,
         best.arrival);
    holders.push_back({left[best.to], best.arrival});
    left.erase(left.begin() + ptrdiff_t(best.to));
  }
}

/// Adds the copies of one leg. `arrival`: absent if not yet known.
void Fetcher::send(TileId tile, const Holder& from, size_t to, int pieces,
                   size_t on_behalf, std::optional<Clock::Arrival> arrival) {
  ++sent_[{from.memory, context_.devices[to]}];
  const View home = directory_.tile(tile).home;
  const auto device = directory_.device_at(from.memory);
  if (!from.is_home) directory_.pin(tile, *device, true);
  TileDirectory::Copy& target = directory_.copy(tile, to);
  if (!target.has_slot)
    target.slot = context_.arena_for(home, to).take(
        context_.block(home), [this, to] { directory_.evict_one(to); });
  const View source = from.is_home ? home : directory_.view_on(tile, *device);
  Copier::Job job{on_behalf, source, {target.slot.buffer, 0, 0, home.rows, home.cols}};
  job.available = from.available, job.arrival = arrival, job.pieces = pieces;
  job.enter.after(target.slot.former);
  const TileDirectory::Copy* copy =
      from.is_home ? nullptr : &directory_.copy(tile, *device);
  if (copy && copy->last_piece != TileDirectory::nobody)
    job.before = {copy->first_piece, copy->last_piece};
  else
    job.leave.after(directory_.last_written_at_home(tile));
  const Copier::Result copied =
      context_.copier->copy(leg(from, context_.devices[to]), std::move(job));
  directory_.arrived(tile, to, copied.pieces.first, copied.pieces.last, copied.arrival);
  if (from.is_home) return directory_.used_at_home(tile, copied.left);
  directory_.pin(tile, *device, false);
  directory_.used(tile, *device, copied.left);
}

/// The source of a tile that one device fetches alone; fetch_for_all chooses the sources
/// of a batch. initial, or without caching: the home. bandwidth: the fastest pair of all
/// holders; link-map: the fastest route of the link map. eta: the earliest arrival of all
/// holders. Ties go to the holder listed first: the home, then the lowest device. Absent
/// if no holder has a route to the device.
std::optional<Fetcher::Source> Fetcher::best_source(TileId tile, size_t device) const {
  if (context_.decisions.choices.routing == Routing::emulated)
    return emulated_source(tile, device);
  if (context_.router.by_link_map() &&
      context_.decisions.choices.hop_rule == HopRule::bottleneck)
    return widest_source(tile, device);
  const MemoryId dst = context_.devices[device];
  const bool from_home = context_.decisions.choices.routing == Routing::initial ||
                         !context_.decisions.choices.caching;
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

/// The home, or the peer that the emulation prefers.
std::optional<Fetcher::Source> Fetcher::emulated_source(TileId tile,
                                                        size_t device) const {
  const MemoryId dst = context_.devices[device];
  boost::container::small_vector<Peer, 16> peers;
  boost::container::small_vector<Holder, 16> holders;
  std::optional<Holder> source;
  directory_.each_holder(tile, [&](const Holder& holder) {
    if (!context_.router.reaches(leg(holder, dst))) return;
    if (holder.is_home) return void(source = holder);
    const auto at = *directory_.device_at(holder.memory);
    holders.push_back(holder);
    peers.push_back({std::max(at, device) - std::min(at, device),
                     context_.router.alone(leg(holder, dst)).per_byte,
                     holder.available.last > context_.clock.now(),
                     directory_.copy(tile, at).last_piece < shown_before_[at]});
  });
  if (const auto peer =
          emulation_of(context_.decisions.choices).source({peers.data(), peers.size()}))
    source = holders[*peer];
  if (!source) return std::nullopt;
  return Source{*source, {context_.router.alone(leg(*source, dst)).per_byte.value}};
}

/// The holder whose path has the highest bandwidth, multiplied by in_flight_worth if the
/// tile is still in flight to the holder. Ties go to the holder that has sent least to
/// the device, then to the first (PARALiA's library).
std::optional<Fetcher::Source> Fetcher::widest_source(TileId tile, size_t device) const {
  constexpr double in_flight_worth = 0.9;
  const MemoryId dst = context_.devices[device];
  std::optional<Holder> best;
  double least = LinkMap::no_way.value;
  int least_sent = 0;
  directory_.each_holder(tile, [&](const Holder& holder) {
    double cost = context_.router.alone(leg(holder, dst)).per_byte.value;
    if (holder.available.last > context_.clock.now()) cost /= in_flight_worth;
    const auto pair = sent_.find({holder.memory, dst});
    const int sent = pair == sent_.end() ? 0 : pair->second;
    if (cost < least || (cost == least && best && sent < least_sent))
      best = holder, least = cost, least_sent = sent;
  });
  if (!best) return std::nullopt;
  return Source{*best, {least}};
}

/// The cost of routing=bandwidth is seconds per byte, of link-map the time on the map's
/// route, of other rules the arrival. Infinite without a route.
Fetcher::SourceCost Fetcher::source_cost(TileId tile, const Holder& holder,
                                         MemoryId dst) const {
  const Leg leg = this->leg(holder, dst);
  const bool by_map = context_.router.by_link_map() && holder.memory != dst;
  if (by_map || context_.decisions.choices.routing == Routing::bandwidth ||
      !context_.router.reaches(leg)) {
    const auto [latency, per_byte] = context_.router.alone(leg);
    return {by_map ? (latency + directory_.bytes(tile) * per_byte).value
                   : per_byte.value};
  }
  const Seconds there =
      context_.copier->arrival(leg, directory_.tile(tile).home, 1, holder.available).last;
  return {there.value, there};
}

}  // namespace tilerail
