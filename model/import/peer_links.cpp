#include "model/import/peer_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/base/indices.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/joined_sets.hpp"

namespace tilerail {
namespace {

using assumptions::alike;
constexpr Seconds port_latency = assumptions::nvlink_latency;

class PeerLinks {
 public:
  PeerLinks(MachineBuilder& machine, const PeerRates& rates, const std::vector<NodeId>& gpus, const HostLinks& hosts,
            const std::string& measured, const std::string& assumed)
      : machine_{machine},
        rates_{rates},
        gpus_{gpus},
        hosts_{hosts},
        measured_{measured},
        assumed_{assumed},
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
    // GPUs that access each other, by themselves or over others
    const auto islands = joined_sets(gpus_.size(), [this](size_t i, size_t j) { return alone(i, j).has_value(); });
    const auto switches = std::ranges::count_if(islands, [this](const Island& island) { return are_ports(island); });
    int number = 0;
    for (const Island& island : islands)
      if (are_ports(island))
        add_switch(switches == 1 ? "peer-switch" : fmt::format("peer-switch{}", number++), island);
      else
        add_pairs(island);
    for (const auto i : indices(gpus_)) {
      add_all(fmt::format("gpu{} to its peers", i), out_[i], total(rates_.out, i));
      add_all(fmt::format("peers to gpu{}", i), in_[i], total(rates_.in, i));
      if (!has_one_port(i)) continue;
      add_port(fmt::format("gpu{} out", i), out_[i], total(rates_.out, i), hosts_.out[i], hosts_.out_rate[i]);
      add_port(fmt::format("gpu{} in", i), in_[i], total(rates_.in, i), hosts_.in[i], hosts_.in_rate[i]);
    }
  }

 private:
  /// One direction of a GPU: the links to or from its peers, how many these are, and the most of one copy.
  struct Side {
    std::vector<LinkId> links = {};
    Rate most{0};
    size_t peers = 0;
  };

  const std::optional<Rate>& alone(size_t from, size_t to) const { return rates_.alone[from][to]; }
  static std::optional<Rate> total(const MeasuredRates& rates, size_t gpu) {
    return rates.empty() ? std::nullopt : rates[gpu];
  }

  using Island = std::vector<size_t>;

  bool are_ports(const Island& island) const {
    if (island.size() < 3) return false;
    for (const size_t i : island) {
      if (total(rates_.out, i).value_or(Rate{0}) > out_[i].most * alike) return false;
      if (total(rates_.in, i).value_or(Rate{0}) > in_[i].most * alike) return false;
      for (const size_t j : island)
        if (i != j && (!alone(i, j) || *alone(i, j) * alike <= std::min(out_[i].most, in_[j].most))) return false;
    }
    return true;
  }

  Seconds latency(size_t from, size_t to) const {
    return rates_.latency.empty() ? port_latency * 2 : rates_.latency[from][to].value_or(port_latency * 2);
  }

  /// Half of that of the quickest pair.
  Seconds latency_of(size_t gpu, const Island& island) const {
    Seconds least = latency(gpu, island[gpu == island[0] ? 1 : 0]);
    for (const size_t j : island)
      if (j != gpu) least = std::min({least, latency(gpu, j), latency(j, gpu)});
    return least * 0.5;
  }

  void add_switch(const std::string& name, const Island& island) {
    const NodeId hub = machine_.add_switch(name, assumed_);
    for (const size_t i : island) {
      machine_.link(gpus_[i], hub, out_[i].most, latency_of(i, island), assumed_);
      out_[i].links.push_back(machine_.last_link());
      machine_.link(hub, gpus_[i], in_[i].most, latency_of(i, island), assumed_);
      in_[i].links.push_back(machine_.last_link());
      Rate both{0};
      for (const size_t j : island)
        if (!rates_.both.empty() && i != j) both = std::max(both, rates_.both[i][j].value_or(Rate{0}));
      add_both(fmt::format("gpu{}, both directions", i), out_[i].links, in_[i].links, both, out_[i].most + in_[i].most);
    }
    if (hosts_.over_switch) route_over_switch(island);
  }

  /// Where the path over the switch of the host would take less time.
  void route_over_switch(const Island& island) {
    for (const size_t i : island)
      for (const size_t j : island)
        if (i != j && std::min(hosts_.out_rate[i], hosts_.in_rate[j]) * alike > std::min(out_[i].most, in_[j].most))
          machine_.route(gpus_[i], gpus_[j], {out_[i].links.front(), in_[j].links.front()}, measured_);
  }

  void add_pairs(const Island& island) {
    std::map<std::pair<size_t, size_t>, LinkId> links;
    for (const size_t i : island)
      for (const size_t j : island) {
        if (i == j || !alone(i, j)) continue;
        machine_.link(gpus_[i], gpus_[j], *alone(i, j), latency(i, j), measured_);
        links.emplace(std::pair{i, j}, machine_.last_link());
        out_[i].links.push_back(machine_.last_link());
        in_[j].links.push_back(machine_.last_link());
      }
    if (rates_.both.empty()) return;
    for (const auto& [ends, link] : links) {
      const auto [i, j] = ends;
      const auto back = links.find({j, i});
      if (i > j || back == links.end()) continue;
      add_both(fmt::format("gpu{} and gpu{}, both directions", i, j), {link}, {back->second},
               std::max(rates_.both[i][j].value_or(Rate{0}), rates_.both[j][i].value_or(Rate{0})),
               *alone(i, j) + *alone(j, i));
    }
  }

  void add_both(std::string name, const std::vector<LinkId>& out, const std::vector<LinkId>& in, Rate both, Rate sum) {
    if (both == Rate{0} || both >= sum) return;
    CapacityGroup group;
    group.name = std::move(name);
    group.forward = out, group.backward = in;
    group.both_busy = CapacityCurve{{{2, both}}};
    group.source = measured_;
    machine_.group(group);
  }

  /// What a GPU sends to, or gets from, all others while all these copies run.
  void add_all(std::string name, const Side& side, std::optional<Rate> all) {
    if (!all || side.peers < 2) return;
    CapacityGroup group;
    group.name = std::move(name);
    group.forward = side.links;
    group.capacity = CapacityCurve{{{1, side.most}, {double(side.peers), *all}}};
    group.source = measured_;
    machine_.group(group);
  }

  bool has_one_port(size_t i) const {
    const Rate host = std::max(hosts_.in_rate[i], hosts_.out_rate[i]), peers = std::max(in_[i].most, out_[i].most);
    return peers > Rate{0} && peers <= host * alike && host <= assumptions::pcie.back();
  }

  /// Several copies get the least that was measured of the port, where all of it is about the same.
  void add_port(std::string name, const Side& side, std::optional<Rate> all, LinkId of_host, Rate host) {
    if (side.links.empty()) return;
    const Rate most = std::max(host, side.most), least = std::min({host, side.most, all.value_or(host)});
    CapacityGroup group;
    group.name = std::move(name);
    group.forward = side.links;
    group.forward.push_back(of_host);
    group.capacity = CapacityCurve{{{1, most}, {2, least * alike < most ? most : least}}};
    group.source = assumed_;
    machine_.group(group);
  }

  MachineBuilder& machine_;
  const PeerRates& rates_;
  const std::vector<NodeId>& gpus_;
  const HostLinks& hosts_;
  const std::string &measured_, &assumed_;
  std::vector<Side> out_, in_;  // by GPU
};

}  // namespace

void add_peer_links(MachineBuilder& machine, const PeerRates& rates, const std::vector<NodeId>& gpus,
                    const HostLinks& hosts, const std::string& measured, const std::string& assumed) {
  if (!rates.alone.empty()) PeerLinks{machine, rates, gpus, hosts, measured, assumed}.add();
}

}  // namespace tilerail
