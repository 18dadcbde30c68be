#include "model/import/measured_links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/topology_limits.hpp"
#include "model/import/joined_sets.hpp"

namespace tilerail {
namespace {

using assumptions::alike;
using Gpus = std::vector<size_t>;
using Links = std::vector<LinkId>;
using Points = std::vector<CapacityCurve::Point>;
constexpr Seconds port_latency = assumptions::nvlink_latency;

Rate in_limits(Rate rate) { return std::min(rate, TopologyLimits::rate.most); }

bool are_all_measured(const MeasuredRates& rates) {
  return !rates.empty() &&
         std::ranges::all_of(rates, [](const auto& rate) { return !!rate; });
}

Rate sum_of(const MeasuredRates& rates, const Gpus& gpus) {
  return std::accumulate(gpus.begin(), gpus.end(), Rate{0},
                         [&](Rate sum, size_t gpu) { return sum + *rates[gpu]; });
}

Links of(const Links& links, const Gpus& gpus) {
  Links result;
  for (const size_t gpu : gpus) result.push_back(links[gpu]);
  return result;
}

/// By GPU: the number of gaps between lower rates.
std::vector<int> levels_of(const MeasuredRates& rates) {
  Gpus order(rates.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](size_t gpu) { return *rates[gpu]; });
  std::vector<int> levels(rates.size(), 0);
  for (size_t i = 1; i < order.size(); ++i) {
    const bool gap = *rates[order[i]] > *rates[order[i - 1]] * assumptions::equal_shares;
    levels[order[i]] = levels[order[i - 1]] + (gap ? 1 : 0);
  }
  return levels;
}

/// Classes of GPUs with equal rates in both directions.
std::map<std::pair<int, int>, Gpus> classes_of(const MeasuredRates& in,
                                               const MeasuredRates& out) {
  const auto in_levels = levels_of(in), out_levels = levels_of(out);
  std::map<std::pair<int, int>, Gpus> classes;
  for (const auto gpu : indices(in))
    classes[{in_levels[gpu], out_levels[gpu]}].push_back(gpu);
  return classes;
}

class Load {
 public:
  Load(MachineBuilder& machine, const HostLinks& links, const HostLoad& load,
       const std::string& source)
      : machine_{machine},
        links_{links},
        load_{load},
        source_{source},
        all_(links.in.size()) {
    std::iota(all_.begin(), all_.end(), 0U);
  }

  void add() {
    for (const size_t gpu : all_)
      if (const auto both = both_of(gpu))
        add_both_ways(fmt::format("host and gpu{}, both directions", gpu), {gpu},
                      {{2, both->first + both->second}},
                      both->first / (both->first + both->second));
    if (all_.size() < 2) return;
    if (are_all_measured(load_.in_all_both) && are_all_measured(load_.out_all_both))
      add_all_both_ways();
    add_one_way("host to GPUs", links_.in, links_.in_rate, load_.in_all);
    add_one_way("GPUs to host", links_.out, links_.out_rate, load_.out_all);
  }

 private:
  std::string name_of(const char* what, const Gpus& gpus) const {
    return gpus.size() == all_.size()
               ? std::string{what}
               : fmt::format("{}: {}", what, fmt::join(gpus, ", "));
  }

  void bound_both(const std::string& name, const Links& forward, const Links& backward,
                  Points most, double share) {
    for (CapacityCurve::Point& point : most) point.rate = in_limits(point.rate);
    const bool holds = TopologyLimits::forward_share.holds(share);
    machine_.bound_both(name, forward, backward, {most},
                        holds ? std::optional{share} : std::nullopt, source_);
  }

  /// Limits the total rate of copies into and out of these GPUs to `most`; `share` is the
  /// part of copies into them.
  void add_both_ways(const std::string& name, const Gpus& gpus, const Points& most,
                     double share) {
    bound_both(name, of(links_.in, gpus), of(links_.out, gpus), most, share);
  }

  std::optional<std::pair<Rate, Rate>> both_of(size_t gpu) const {
    if (load_.in_both.empty() || load_.out_both.empty()) return std::nullopt;
    const auto &in = load_.in_both[gpu], &out = load_.out_both[gpu];
    return in && out ? std::optional{std::pair{*in, *out}} : std::nullopt;
  }

  void add_all_both_ways() {
    const MeasuredRates &in = load_.in_all_both, &out = load_.out_all_both;
    const Rate sum_of_all = sum_of(in, all_) + sum_of(out, all_);
    for (const auto& [levels, gpus] : classes_of(in, out)) {
      if (const size_t gpu = gpus[0]; gpus.size() == 1) {
        add_alone(fmt::format("host to gpu{} beside all GPUs, both directions", gpu),
                  links_.in[gpu], {links_.in, links_.out}, *in[gpu], sum_of_all);
        add_alone(fmt::format("gpu{} to host beside all GPUs, both directions", gpu),
                  links_.out[gpu], {links_.in, links_.out}, *out[gpu], sum_of_all);
        continue;
      }
      const Rate sum = sum_of(in, gpus) + sum_of(out, gpus);
      const double measured = sum_of(in, gpus) / sum;
      const double share = TopologyLimits::forward_share.holds(measured) ? measured : 0.5;
      Rate alone{0};  // of one GPU, if each direction had its share alone, too
      for (const size_t gpu : gpus)
        if (const auto both = both_of(gpu))
          alone = std::max({alone, both->first / share, both->second / (1 - share)});
      Points most{{2.0 * double(gpus.size()), sum}};
      if (alone > Rate{0}) most.insert(most.begin(), {2, alone});
      add_both_ways(name_of("host, all GPUs both directions", gpus), gpus, most,
                    measured);
    }
  }

  void add_one_way(const char* what, const Links& links, const std::vector<Rate>& one,
                   const MeasuredRates& all) {
    if (!are_all_measured(all)) return;
    for (const auto& [levels, gpus] : classes_of(all, all)) {
      if (gpus.size() == 1) {
        add_alone(fmt::format("{}: {} beside all", what, gpus[0]), links[gpus[0]],
                  {links}, *all[gpus[0]], sum_of(all, all_));
        continue;
      }
      Rate alone{0};
      for (const size_t gpu : gpus) alone = std::max(alone, one[gpu]);
      const Points most{{1, alone}, {double(gpus.size()), in_limits(sum_of(all, gpus))}};
      machine_.bound(name_of(what, gpus), of(links, gpus), {most}, source_);
    }
  }

  /// While every link carries a copy, `own` gets `rate` out of `sum`. Fewer copies
  /// are not limited.
  void add_alone(const std::string& name, LinkId own, const std::vector<Links>& all,
                 Rate rate, Rate sum) {
    const auto copies = double(all.size() * all_.size());
    if (!TopologyLimits::forward_share.holds(rate / sum)) return;
    Rate enough{0};
    for (const size_t gpu : all_) enough += links_.in_rate[gpu] + links_.out_rate[gpu];
    Links others;
    for (const Links& links : all)
      std::ranges::copy_if(links, std::back_inserter(others),
                           [&](LinkId link) { return link != own; });
    Points most{{copies, sum}};
    if (copies > 2) most.insert(most.begin(), {copies - 1, enough});
    bound_both(name, {own}, others, most, rate / sum);
  }

  MachineBuilder& machine_;
  const HostLinks& links_;
  const HostLoad& load_;
  const std::string& source_;
  Gpus all_;
};

class PeerLinks {
 public:
  PeerLinks(MachineBuilder& machine, const PeerRates& rates,
            const std::vector<VertexId>& gpus, const HostLinks& hosts,
            const std::string& measured)
      : machine_{machine},
        rates_{rates},
        gpus_{gpus},
        hosts_{hosts},
        measured_{measured},
        out_(gpus.size()),
        in_(gpus.size()) {
    for (const auto i : indices(gpus))
      for (const auto j : indices(gpus)) {
        if (!alone(i, j)) continue;
        out_[i].most = std::max(out_[i].most, *alone(i, j));
        in_[j].most = std::max(in_[j].most, *alone(i, j));
        ++out_[i].peers, ++in_[j].peers;
      }
  }

  void add() {
    // GPUs with direct or indirect access to each other
    const auto islands = joined_sets(
        gpus_.size(), [this](size_t i, size_t j) { return alone(i, j).has_value(); });
    const auto switches = std::ranges::count_if(
        islands, [this](const Gpus& island) { return are_ports(island); });
    int number = 0;
    for (const Gpus& island : islands)
      if (are_ports(island))
        add_switch(switches == 1 ? "peer-switch" : fmt::format("peer-switch{}", number++),
                   island);
      else
        add_pairs(island);
    for (const auto i : indices(gpus_)) {
      add_all(fmt::format("gpu{} to its peers", i), out_[i], total(rates_.out, i));
      add_all(fmt::format("peers to gpu{}", i), in_[i], total(rates_.in, i));
      if (!has_one_port(i)) continue;
      add_port(fmt::format("gpu{} out", i), out_[i], total(rates_.out, i), hosts_.out[i],
               hosts_.out_rate[i]);
      add_port(fmt::format("gpu{} in", i), in_[i], total(rates_.in, i), hosts_.in[i],
               hosts_.in_rate[i]);
    }
  }

 private:
  /// One direction of a GPU: the links to or from its peers, the number of peers, and the
  /// highest rate of one copy.
  struct Side {
    Links links = {};
    Rate most{0};
    size_t peers = 0;
  };

  const std::optional<Rate>& alone(size_t from, size_t to) const {
    return rates_.alone[from][to];
  }
  static std::optional<Rate> total(const MeasuredRates& rates, size_t gpu) {
    return rates.empty() ? std::nullopt : rates[gpu];
  }

  bool are_ports(const Gpus& island) const {
    if (island.size() < 3) return false;
    for (const size_t i : island) {
      if (total(rates_.out, i).value_or(Rate{0}) > out_[i].most * alike) return false;
      if (total(rates_.in, i).value_or(Rate{0}) > in_[i].most * alike) return false;
      for (const size_t j : island)
        if (i != j &&
            (!alone(i, j) || *alone(i, j) * alike <= std::min(out_[i].most, in_[j].most)))
          return false;
    }
    return true;
  }

  Seconds latency(size_t from, size_t to) const {
    return rates_.latency.empty() ? port_latency * 2
                                  : rates_.latency[from][to].value_or(port_latency * 2);
  }

  /// Half the latency of the fastest pair of this GPU.
  Seconds latency_of(size_t gpu, const Gpus& island) const {
    Seconds least = latency(gpu, island[gpu == island[0] ? 1 : 0]);
    for (const size_t j : island)
      if (j != gpu) least = std::min({least, latency(gpu, j), latency(j, gpu)});
    return least * 0.5;
  }

  void add_switch(const std::string& name, const Gpus& island) {
    const VertexId hub = machine_.add_switch(name, assumed_source);
    for (const size_t i : island) {
      const Seconds latency = latency_of(i, island);
      out_[i].links.push_back(
          machine_.link(gpus_[i], hub, out_[i].most, latency, assumed_source));
      in_[i].links.push_back(
          machine_.link(hub, gpus_[i], in_[i].most, latency, assumed_source));
      Rate both{0};
      for (const size_t j : island) both = std::max(both, both_of(i, j));
      add_both(fmt::format("gpu{}, both directions", i), out_[i].links, in_[i].links,
               both, out_[i].most + in_[i].most);
    }
    if (hosts_.over_switch) route_over_switch(island);
  }

  /// Adds explicit routes over the peer switch if the host's switch would be the faster
  /// path.
  void route_over_switch(const Gpus& island) {
    for (const size_t i : island)
      for (const size_t j : island)
        if (i != j && std::min(hosts_.out_rate[i], hosts_.in_rate[j]) * alike >
                          std::min(out_[i].most, in_[j].most))
          machine_.route(gpus_[i], gpus_[j],
                         {out_[i].links.front(), in_[j].links.front()}, measured_);
  }

  void add_pairs(const Gpus& island) {
    std::map<std::pair<size_t, size_t>, LinkId> links;
    for (const size_t i : island)
      for (const size_t j : island) {
        if (i == j || !alone(i, j)) continue;
        const LinkId link =
            machine_.link(gpus_[i], gpus_[j], *alone(i, j), latency(i, j), measured_);
        links.emplace(std::pair{i, j}, link);
        out_[i].links.push_back(link);
        in_[j].links.push_back(link);
      }
    for (const auto& [ends, link] : links) {
      const auto [i, j] = ends;
      const auto back = links.find({j, i});
      if (i > j || back == links.end()) continue;
      add_both(fmt::format("gpu{} and gpu{}, both directions", i, j), {link},
               {back->second}, std::max(both_of(i, j), both_of(j, i)),
               *alone(i, j) + *alone(j, i));
    }
  }

  /// 0 if it was not measured.
  Rate both_of(size_t i, size_t j) const {
    return rates_.both.empty() || i == j ? Rate{0} : rates_.both[i][j].value_or(Rate{0});
  }

  void add_both(const std::string& name, const Links& out, const Links& in, Rate both,
                Rate sum) {
    if (both > Rate{0} && both < sum)
      machine_.bound_both(name, out, in, {{{2, both}}}, std::nullopt, measured_);
  }

  /// Limits the rate between a GPU and all others while all these copies run.
  void add_all(const std::string& name, const Side& side, std::optional<Rate> all) {
    if (all && side.peers > 1)
      machine_.bound(name, side.links, {{{1, side.most}, {double(side.peers), *all}}},
                     measured_);
  }

  bool has_one_port(size_t i) const {
    const Rate host = std::max(hosts_.in_rate[i], hosts_.out_rate[i]),
               peers = std::max(in_[i].most, out_[i].most);
    return peers > Rate{0} && peers <= host * alike && host <= assumptions::pcie.back();
  }

  /// Several copies get the lowest measured rate of the port if all its rates are about
  /// equal, else the highest.
  void add_port(const std::string& name, const Side& side, std::optional<Rate> all,
                LinkId of_host, Rate host) {
    if (side.links.empty()) return;
    const Rate most = std::max(host, side.most),
               least = std::min({host, side.most, all.value_or(host)});
    Links links = side.links;
    links.push_back(of_host);
    machine_.bound(name, links, {{{1, most}, {2, least * alike < most ? most : least}}},
                   assumed_source);
  }

  MachineBuilder& machine_;
  const PeerRates& rates_;
  const std::vector<VertexId>& gpus_;
  const HostLinks& hosts_;
  const std::string& measured_;
  std::vector<Side> out_, in_;  // by GPU
};

}  // namespace

void add_host_load(MachineBuilder& machine, const HostLinks& links, const HostLoad& load,
                   const std::string& source) {
  Load{machine, links, load, source}.add();
}

void add_peer_links(MachineBuilder& machine, const PeerRates& rates,
                    const std::vector<VertexId>& gpus, const HostLinks& hosts,
                    const std::string& measured) {
  if (!rates.alone.empty()) PeerLinks{machine, rates, gpus, hosts, measured}.add();
}

}  // namespace tilerail
