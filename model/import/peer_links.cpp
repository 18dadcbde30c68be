#include "model/import/peer_links.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/import/assumptions.hpp"

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
    for (std::size_t i = 0; i < gpus.size(); ++i)
      for (std::size_t j = 0; j < gpus.size(); ++j) {
        if (!alone(i, j)) continue;
        out_[i].most = std::max(out_[i].most, *alone(i, j));
        in_[j].most = std::max(in_[j].most, *alone(i, j));
      }
  }

  void add() {
    if (are_ports())
      add_switch();
    else
      add_pairs();
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
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
  };

  const std::optional<Rate>& alone(std::size_t from, std::size_t to) const { return rates_.alone[from][to]; }
  static std::optional<Rate> total(const MeasuredRates& rates, std::size_t gpu) {
    return rates.empty() ? std::nullopt : rates[gpu];
  }

  bool are_ports() const {
    if (gpus_.size() < 3) return false;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (total(rates_.out, i).value_or(Rate{0}) > out_[i].most * alike) return false;
      if (total(rates_.in, i).value_or(Rate{0}) > in_[i].most * alike) return false;
      for (std::size_t j = 0; j < gpus_.size(); ++j)
        if (i != j && (!alone(i, j) || *alone(i, j) * alike <= std::min(out_[i].most, in_[j].most))) return false;
    }
    return true;
  }

  Seconds latency(std::size_t from, std::size_t to) const {
    return rates_.latency.empty() ? port_latency * 2 : rates_.latency[from][to].value_or(port_latency * 2);
  }

  /// Half of that of the quickest pair.
  Seconds latency_of(std::size_t gpu) const {
    Seconds least = latency(gpu, gpu == 0 ? 1 : 0);
    for (std::size_t j = 0; j < gpus_.size(); ++j)
      if (j != gpu) least = std::min({least, latency(gpu, j), latency(j, gpu)});
    return least * 0.5;
  }

  void add_switch() {
    const NodeId hub = machine_.add_switch("peer-switch", assumed_);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      machine_.link(gpus_[i], hub, out_[i].most, latency_of(i), assumed_);
      out_[i].links.push_back(machine_.last_link());
      machine_.link(hub, gpus_[i], in_[i].most, latency_of(i), assumed_);
      in_[i].links.push_back(machine_.last_link());
      Rate both{0};
      for (std::size_t j = 0; j < gpus_.size(); ++j)
        if (!rates_.both.empty() && i != j) both = std::max(both, rates_.both[i][j].value_or(Rate{0}));
      add_both(fmt::format("gpu{}, both directions", i), out_[i].links, in_[i].links, both, out_[i].most + in_[i].most);
    }
  }

  void add_pairs() {
    std::vector<std::vector<std::optional<LinkId>>> links(gpus_.size(),
                                                          std::vector<std::optional<LinkId>>(gpus_.size()));
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      for (std::size_t j = 0; j < gpus_.size(); ++j) {
        if (i == j || !alone(i, j)) continue;
        machine_.link(gpus_[i], gpus_[j], *alone(i, j), latency(i, j), measured_);
        links[i][j] = machine_.last_link();
        out_[i].links.push_back(machine_.last_link());
        in_[j].links.push_back(machine_.last_link());
      }
    if (rates_.both.empty()) return;
    for (std::size_t j = 0; j < gpus_.size(); ++j)
      for (std::size_t i = 0; i < j; ++i)
        if (links[i][j] && links[j][i])
          add_both(fmt::format("gpu{} and gpu{}, both directions", i, j), {*links[i][j]}, {*links[j][i]},
                   std::max(rates_.both[i][j].value_or(Rate{0}), rates_.both[j][i].value_or(Rate{0})),
                   *alone(i, j) + *alone(j, i));
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
    const std::size_t peers = gpus_.size() - 1;
    if (!all || peers < 2 || side.links.empty()) return;
    CapacityGroup group;
    group.name = std::move(name);
    group.forward = side.links;
    group.capacity = CapacityCurve{{{1, side.most}, {static_cast<double>(peers), *all}}};
    group.source = measured_;
    machine_.group(group);
  }

  bool has_one_port(std::size_t i) const {
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
