#include "sched/transport/router.hpp"

#include <algorithm>
#include <array>

#include "model/base/contains.hpp"
#include "model/base/indices.hpp"
#include "model/tensor.hpp"

namespace tilerail {

namespace {

/// The host over which a copy is fastest; of equal ones, the first.
std::optional<MemoryId> nearest_host(const Topology& topology, MemoryId src,
                                     MemoryId dst) {
  std::optional<MemoryId> nearest;
  Rate fastest{0};
  for (const MemoryId host : topology.hosts()) {
    if (!topology.has_route(src, host) || !topology.has_route(host, dst)) continue;
    const Rate rate =
        std::min(topology.pair_rate(src, host), topology.pair_rate(host, dst));
    if (rate > fastest) nearest = host, fastest = rate;
  }
  return nearest;
}

}  // namespace

Leg leg_between(const Topology& topology, PeerCopies copies, MemoryId src, MemoryId dst,
                bool of_home) {
  const bool staged =
      copies == PeerCopies::staged || (copies == PeerCopies::staged_home && of_home);
  if (!staged || src == dst || topology.is_host(src) || topology.is_host(dst))
    return {src, dst};
  const auto host = nearest_host(topology, src, dst);
  return host ? Leg{src, dst, *host} : Leg{src, dst};
}

bool faster_over_host(const Topology& topology, MemoryId src, MemoryId dst) {
  const auto host = leg_between(topology, PeerCopies::staged, src, dst, true).host;
  if (!host || !topology.has_route(src, dst)) return host.has_value();
  return topology.pair_rate(src, dst) <
         std::min(topology.pair_rate(src, *host), topology.pair_rate(*host, dst));
}

namespace {

/// The devices, then the homes of matrices elsewhere.
std::vector<MemoryId> ends_of(const GemmProblem& problem,
                              std::span<const MemoryId> devices) {
  std::vector<MemoryId> ends{devices.begin(), devices.end()};
  for (const MemoryId home : homes_of(problem))
    if (!contains(ends, home)) ends.push_back(home);
  return ends;
}

}  // namespace

bool relays_help(const GemmProblem& problem, const Resources& resources,
                 std::span<const MemoryId> devices) {
  if (problem.routine != Routine::gemm || resources.memories() > LinkMap::most_memories)
    return false;
  const std::vector<MemoryId> ends = ends_of(problem, devices);
  const auto per_byte = [&](MemoryId src, MemoryId dst) {
    return resources.pair_cost(src, dst).per_byte;
  };
  std::vector<SecondsPerByte> out(ends.size(), LinkMap::no_way),
      in = out;  // to and from the nearest device
  for (const auto end : indices(ends))
    for (const MemoryId via : devices) {
      if (via == ends[end]) continue;
      out[end] = std::min(out[end], per_byte(ends[end], via)),
      in[end] = std::min(in[end], per_byte(via, ends[end]));
    }
  const auto faster = [&](size_t from, size_t to) {
    const MemoryId src = ends[from], dst = ends[to];
    const SecondsPerByte straight = per_byte(src, dst);
    return out[from] + in[to] < straight &&
           std::ranges::any_of(devices, [&](MemoryId via) {
             return via != src && via != dst &&
                    per_byte(src, via) + per_byte(via, dst) < straight;
           });
  };
  for (const auto d : indices(devices))
    for (size_t end = d + 1; end < ends.size(); ++end)  // the devices come first
      if (faster(end, d) || faster(d, end)) return true;
  return false;
}

bool may_copy_between_gpus(const Problem& problem, const Topology& topology,
                           std::span<const MemoryId> devices) {
  if (devices.size() > 1) return true;
  return std::ranges::any_of(homes_of(problem), [&](MemoryId home) {
    return !topology.is_host(home) && !contains(devices, home);
  });
}

Router::TransferCost Router::alone(const Leg& leg) const {
  if (leg.host)
    return {Seconds{0}, std::max(resources_.pair_cost(leg.src, *leg.host).per_byte,
                                 resources_.pair_cost(*leg.host, leg.dst).per_byte)};
  if (links_ && leg.src != leg.dst)
    return {links_->latency(leg.src, leg.dst), links_->per_byte(leg.src, leg.dst)};
  return {resources_.pair_cost(leg.src, leg.dst).latency,
          resources_.pair_cost(leg.src, leg.dst).per_byte};
}

Router::Stops Router::stops(const Leg& leg) const {
  Stops stops;
  if (!links_ || leg.host || leg.src == leg.dst) return stops;
  for (const MemoryId hop : links_->hops(leg.src, leg.dst))
    stops.push_back(size_t(std::ranges::find(devices_, hop) - devices_.begin()));
  return stops;
}

void Router::find_neighbours() const {
  const size_t count = devices_.size();
  if (!to_.empty()) return;
  to_.resize(count), from_.resize(count), detours_.resize(count);
  for (size_t dst = 0; dst < count; ++dst)
    for (size_t src = 0; src < count; ++src)
      if (src != dst && reaches(leg(devices_[src], devices_[dst], false)))
        to_[src].push_back(dst), from_[dst].push_back(src);
}

const std::vector<size_t>& Router::neighbours(size_t device) const {
  find_neighbours();
  return to_[device];
}

const Router::Detours& Router::detours_to(size_t device) const {
  find_neighbours();
  Detours& detours = detours_[device];
  if (!detours.copies.empty()) return detours;
  detours.copies.assign(devices_.size(), unreachable),
      detours.next.assign(devices_.size(), device);
  detours.copies[device] = 0;
  std::vector<size_t> reaching{device};
  for (size_t i = 0; i < reaching.size(); ++i)
    for (const size_t from : from_[reaching[i]])
      if (detours.copies[from] == unreachable) {
        detours.copies[from] = detours.copies[reaching[i]] + 1,
        detours.next[from] = reaching[i];
        reaching.push_back(from);
      }
  return detours;
}

}  // namespace tilerail
