// Which holder of a tile a device fetches it from.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <utility>

#include "sched/route/fetcher.hpp"

namespace tilerail {

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
