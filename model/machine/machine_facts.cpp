#include "model/machine/machine_facts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "model/base/indices.hpp"
#include "model/machine/concurrent_rates.hpp"

namespace tilerail {
namespace {

using Flows = std::vector<std::pair<MemoryId, MemoryId>>;

constexpr Bytes typical{16.0 * 1024 * 1024};  // copy size for which routes are chosen

std::optional<MemoryId> nearest(const Topology& topology, MemoryId gpu) {
  std::optional<MemoryId> best;
  Seconds least{std::numeric_limits<double>::infinity()};
  for (const MemoryId host : topology.hosts()) {
    if (!topology.has_route(host, gpu) || !topology.has_route(gpu, host)) continue;
    const Seconds time =
        topology.latency(host, gpu) + typical / topology.pair_rate(host, gpu);
    if (time < least) best = host, least = time;
  }
  return best;
}

Flows joined(Flows some, const Flows& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

Rate sum_of_rates(const Topology& topology, const Flows& flows) {
  const auto rates = concurrent_rates(topology, flows);
  return std::accumulate(rates.begin(), rates.end(), Rate{0});
}

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
  const auto in_rates = concurrent_rates(topology, in),
             out_rates = concurrent_rates(topology, out);
  const auto rates = concurrent_rates(topology, joined(in, out));
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
  return Bisection{half, sum_of_rates(topology, forward),
                   sum_of_rates(topology, backward),
                   sum_of_rates(topology, joined(forward, backward))};
}

bool gpus_have_own_links(const Topology& topology) {
  std::map<MemoryId, std::set<LinkId>> with_hosts;  // links of each GPU
  for (const MemoryId gpu : topology.gpus())
    for (const MemoryId host : topology.hosts())
      for (const auto& links : {topology.route(gpu, host), topology.route(host, gpu)})
        with_hosts[gpu].insert(links.begin(), links.end());
  const auto are_own = [&](MemoryId a, MemoryId b) {
    const auto links = topology.route(a, b);
    return !links.empty() && std::ranges::none_of(links, [&](LinkId link) {
      return with_hosts[a].contains(link) || with_hosts[b].contains(link);
    });
  };
  for (const MemoryId a : topology.gpus())
    for (const MemoryId b : topology.gpus())
      if (a != b && !are_own(a, b)) return false;
  return true;
}

}  // namespace tilerail
