#include "model/machine/machine_facts.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "model/base/indices.hpp"
#include "model/machine/concurrent_rates.hpp"

namespace tilerail {
namespace {

using Flows = std::vector<std::pair<MemoryId, MemoryId>>;

constexpr Bytes typical{16.0 * 1024 * 1024};  // of a copy: that routes are chosen for

std::optional<MemoryId> nearest(const Topology& topology, MemoryId gpu) {
  std::optional<MemoryId> best;
  Seconds least{std::numeric_limits<double>::infinity()};
  for (const MemoryId host : topology.hosts()) {
    if (!topology.has_route(host, gpu) || !topology.has_route(gpu, host)) continue;
    const Seconds time = topology.latency(host, gpu) + typical / topology.pair_rate(host, gpu);
    if (time < least) best = host, least = time;
  }
  return best;
}

Rate sum_of(const std::vector<Rate>& rates) { return std::accumulate(rates.begin(), rates.end(), Rate{0}); }

}  // namespace

std::vector<NearestHost> nearest_hosts(const Topology& topology) {
  std::vector<NearestHost> all;
  if (topology.gpus().size() * topology.hosts().size() > most_near_pairs) return all;
  Flows in, out;
  for (const MemoryId gpu : topology.gpus()) {
    const auto host = nearest(topology, gpu);
    if (!host) continue;
    NearestHost each{.gpu = gpu, .host = *host};
    each.in_alone = topology.pair_rate(*host, gpu);
    each.out_alone = topology.pair_rate(gpu, *host);
    const auto both = concurrent_rates(topology, Flows{{*host, gpu}, {gpu, *host}});
    each.in_both = both[0], each.out_both = both[1];
    in.emplace_back(*host, gpu);
    out.emplace_back(gpu, *host);
    all.push_back(each);
  }
  Flows ways = in;
  ways.insert(ways.end(), out.begin(), out.end());
  const auto in_rates = concurrent_rates(topology, in), out_rates = concurrent_rates(topology, out),
             rates = concurrent_rates(topology, ways);
  for (const auto i : indices(all)) {
    all[i].in_all = in_rates[i], all[i].out_all = out_rates[i];
    all[i].in_all_both = rates[i], all[i].out_all_both = rates[all.size() + i];
  }
  return all;
}

std::optional<Bisection> bisection(const Topology& topology) {
  const auto& gpus = topology.gpus();
  const size_t half = gpus.size() / 2;
  if (half == 0) return std::nullopt;
  Flows forward, backward;
  for (size_t i = 0; i < half; ++i) {
    const MemoryId a = gpus[i], b = gpus[gpus.size() - half + i];
    if (!topology.has_route(a, b) || !topology.has_route(b, a)) return std::nullopt;
    forward.emplace_back(a, b);
    backward.emplace_back(b, a);
  }
  Flows both = forward;
  both.insert(both.end(), backward.begin(), backward.end());
  return Bisection{half, sum_of(concurrent_rates(topology, forward)), sum_of(concurrent_rates(topology, backward)),
                   sum_of(concurrent_rates(topology, both))};
}

bool gpus_have_own_links(const Topology& topology) {
  const auto& gpus = topology.gpus();
  std::vector<std::vector<bool>> with_hosts(gpus.size(), std::vector<bool>(topology.links().size()));
  const auto each_link = [&](MemoryId src, MemoryId dst, const auto& visit) {
    if (topology.has_route(src, dst))
      for (const auto& use : topology.links_on(src, dst)) visit(use.link.index());
  };
  for (const auto g : indices(gpus))
    for (const MemoryId host : topology.hosts()) {
      each_link(gpus[g], host, [&](size_t link) { with_hosts[g][link] = true; });
      each_link(host, gpus[g], [&](size_t link) { with_hosts[g][link] = true; });
    }
  const auto are_own = [&](size_t a, size_t b) {
    bool own = topology.has_route(gpus[a], gpus[b]);
    each_link(gpus[a], gpus[b], [&](size_t link) { own = own && !with_hosts[a][link] && !with_hosts[b][link]; });
    return own;
  };
  for (const auto a : indices(gpus))
    for (const auto b : indices(gpus))
      if (a != b && !are_own(a, b)) return false;
  return true;
}

}  // namespace tilerail
