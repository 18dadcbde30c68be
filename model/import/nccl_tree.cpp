#include "model/import/nccl_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"

namespace tilerail {
namespace {

constexpr int most_levels = 64;  // of PCIe switches, which are elements in elements

class Builder {
 public:
  explicit Builder(const Topology& topology) : t_{topology}, nodes_{topology.description().nodes} {}

  NcclTree tree() {
    if (t_.gpus().empty() || t_.gpus().size() > assumptions::most_gpus)
      refuse(fmt::format("{} GPUs; expected 1 to {}", t_.gpus().size(), assumptions::most_gpus));
    add_links();
    find_sides();
    find_sockets();
    check_sockets_are_joined();
    for (const NodeId socket : sockets_) placed_.insert(socket);
    for (const auto i : indices(sockets_))
      tree_.domains.push_back({t_.hosts()[i], devices_below(sockets_[i], sockets_[i], 0)});
    for (const MemoryId gpu : t_.gpus())
      if (!placed_.contains(t_.memory(gpu).node))
        refuse(fmt::format("{} has no link towards a host; expected PCIe of each GPU", t_.memory(gpu).name));
    add_peers();
    return std::move(tree_);
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const { refuse_nccl(t_, reason); }

  const std::string& name(NodeId node) const { return nodes_[node.index()].name; }
  NodeKind kind(NodeId node) const { return nodes_[node.index()].kind; }
  bool is_gpu(NodeId node) const { return kind(node) == NodeKind::gpu; }
  bool is_switch(NodeId node) const { return kind(node) == NodeKind::network_switch; }

  /// Neighbours in the order of the links; each pair of nodes has one link in each direction.
  void add_links() {
    for (const Link& link : t_.links())
      if (!links_.emplace(std::pair{link.from, link.to}, &link).second)
        refuse(fmt::format("two links from {} to {}; expected one", name(link.from), name(link.to)));
    for (const Link& link : t_.links()) {
      if (!links_.contains({link.to, link.from}))
        refuse(fmt::format("no link from {} back to {}; expected both directions", name(link.to), name(link.from)));
      auto& neighbours = neighbours_[link.from];
      if (std::ranges::find(neighbours, link.to) == neighbours.end()) neighbours.push_back(link.to);
    }
  }

  NcclTree::Link link_between(NodeId from, NodeId to) const {
    const Link &there = *links_.at({from, to}), &back = *links_.at({to, from});
    return {to, std::max(there.bandwidth, back.bandwidth), there.source};
  }

  /// Switches that hosts reach without crossing a GPU are of PCIe; the other ones join GPUs.
  void find_sides() {
    std::vector<NodeId> next;
    for (const MemoryId host : t_.hosts()) next.push_back(t_.memory(host).node);
    while (!next.empty()) {
      const NodeId node = next.back();
      next.pop_back();
      for (const NodeId neighbour : neighbours_[node])
        if (is_switch(neighbour) && of_pcie_.insert(neighbour).second) next.push_back(neighbour);
    }
    for (const auto i : indices(nodes_))
      if (const NodeId node{i}; is_switch(node) && !of_pcie_.contains(node) && !neighbours_[node].empty())
        tree_.switches.insert(node);
  }

  size_t hosts_beside(NodeId node) {
    return size_t(std::ranges::count(neighbours_[node], NodeKind::host, [&](NodeId n) { return kind(n); }));
  }

  /// Where PCIe begins: the only switch beside the memory of a host, or the host.
  void find_sockets() {
    for (const MemoryId host : t_.hosts()) {
      const NodeId node = t_.memory(host).node;
      const auto& beside = neighbours_[node];
      const bool behind = beside.size() == 1 && is_switch(beside.front()) && hosts_beside(beside.front()) == 1 &&
                          (t_.hosts().size() > 1 || is_socket(node, beside.front()));
      sockets_.push_back(behind ? beside.front() : node);
    }
    for (const NodeId node : of_pcie_) {
      const auto& beside = neighbours_[node];
      const bool joins = beside.size() > 1 && !is_socket(node) && std::ranges::all_of(beside, [&](NodeId n) {
                           return is_socket(n) || kind(n) == NodeKind::host;
                         });
      if (joins) hubs_.insert(node);
    }
  }

  bool is_socket(NodeId node) const { return std::ranges::find(sockets_, node) != sockets_.end(); }

  /// Of one host, memory is faster than PCIe; a PCIe switch has no faster link up than down.
  bool is_socket(NodeId host, NodeId node) {
    constexpr double faster = 1.5;
    Rate below{0};
    for (const NodeId device : neighbours_[node])
      if (device != host) below = std::max(below, link_between(node, device).rate);
    return link_between(host, node).rate > below * faster;
  }

  bool are_joined(NodeId a, NodeId b) {
    if (links_.contains({a, b})) return true;
    return std::ranges::any_of(hubs_, [&](NodeId hub) {
      return links_.contains({a, hub}) && links_.contains({hub, b});
    });
  }

  void check_sockets_are_joined() {
    for (const auto i : indices(sockets_))
      for (size_t j = 0; j < i; ++j)
        if (!are_joined(sockets_[j], sockets_[i]))
          refuse(fmt::format("no link joins the NUMA domains of {} and {}; expected all joined",
                             t_.memory(t_.hosts()[j]).name, t_.memory(t_.hosts()[i]).name));
  }

  /// All parts of one chip count as one: NCCL's pcilink.
  bool are_parts(NodeId a, NodeId b) {
    return of_pcie_.contains(a) && of_pcie_.contains(b) && !is_socket(a) && !is_socket(b) &&
           link_between(a, b).rate == assumptions::within_switch;
  }

  std::vector<NcclTree::Device> devices_below(NodeId node, NodeId above, int depth) {
    if (depth > most_levels)
      refuse(fmt::format("more than {} PCIe switches in a row, down to {}", most_levels, name(node)));
    std::vector<NcclTree::Device> devices;
    for (const NodeId below : neighbours_[node]) {
      const bool between_sockets = is_socket(node) && (is_socket(below) || hubs_.contains(below));
      if (below == above || between_sockets || (is_socket(node) && kind(below) == NodeKind::host)) continue;
      if (are_parts(node, below)) {
        tree_.parts[node].push_back(below);
        continue;
      }
      place(below, node);
      devices.push_back({link_between(node, below)});
      if (is_gpu(below)) devices.back().gpu = t_.find_memory(name(below));
    }
    for (NcclTree::Device& device : devices)
      if (!device.gpu) device.below = devices_below(device.up.to, node, depth + 1);
    return devices;
  }

  /// One way from the sockets to each device.
  void place(NodeId device, NodeId above) {
    if (!placed_.insert(device).second || kind(device) == NodeKind::host)
      refuse(
          fmt::format("the link between {} and {} ({}) makes a second way of PCIe; expected a tree below each NUMA "
                      "domain",
                      name(above), name(device), to_text(link_between(above, device).rate)));
  }

  void add_peers() {
    for (const MemoryId gpu : t_.gpus()) {
      const NodeId node = t_.memory(gpu).node;
      for (const NodeId peer : neighbours_[node])
        if (is_gpu(peer) || tree_.switches.contains(peer)) tree_.peers[node].push_back(link_between(node, peer));
    }
    for (const NodeId hub : tree_.switches)
      for (const NodeId beside : neighbours_[hub])
        if (!is_gpu(beside))
          refuse(fmt::format("the switch {} is beside {}; expected GPUs alone", name(hub), name(beside)));
  }

  const Topology& t_;
  const std::vector<Node>& nodes_;
  std::map<std::pair<NodeId, NodeId>, const Link*> links_;
  std::map<NodeId, std::vector<NodeId>> neighbours_;
  std::set<NodeId> of_pcie_, hubs_, placed_;
  std::vector<NodeId> sockets_;  // by host
  NcclTree tree_;
};

}  // namespace

void refuse_nccl(const Topology& topology, const std::string& reason) {
  throw InputError{fmt::format("NCCL's topology files cannot describe this machine: {}", reason)}.at(topology.name());
}

NcclTree nccl_tree(const Topology& topology) { return Builder{topology}.tree(); }

}  // namespace tilerail
