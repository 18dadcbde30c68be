#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "calibration/fit_parts.hpp"

#include "model/base/indices.hpp"

namespace tilerail::fit {
namespace {

constexpr const char* host = "host";

enum class Way { to_devices, from_devices };

class Groups {
 public:
  explicit Groups(Context& context) : context_{context}, d_{context.description} {}

  void fit() {
    for (size_t i = 0; i < context_.devices(); ++i) both_ways_of_device(i);
    for (const Way way : {Way::to_devices, Way::from_devices}) {
      for (const auto& cluster : clusters(way))
        if (cluster.size() > 1 && cluster.size() < context_.devices()) add_shared(way, cluster);
      std::vector<size_t> all(context_.devices());
      std::iota(all.begin(), all.end(), 0);
      if (all.size() > 1) add_shared(way, all);
    }
    host_both_ways();
    ports();
    for (size_t i = 0; i < context_.devices(); ++i) through_device(i);
  }

 private:
  LinkId host_link(Way way, size_t device) const {
    const std::string& name = context_.device(device);
    return way == Way::to_devices ? link_between(d_, host, name) : link_between(d_, name, host);
  }
  double alone(LinkId link) const { return d_.links[link.index()].bandwidth.value; }

  /// Devices of a run all of whose flows go this way between the host and a device; empty for other runs.
  std::vector<size_t> devices_of(const TransferRun& run, Way way) const {
    std::vector<size_t> devices;
    for (const auto& flow : run.flows) {
      const std::string& end = way == Way::to_devices ? flow.dst : flow.src;
      if ((way == Way::to_devices ? flow.src : flow.dst) != host || flow.in_flight != 1) return {};
      for (size_t i = 0; i < context_.devices(); ++i)
        if (context_.device(i) == end) devices.push_back(i);
    }
    return devices;
  }

  /// Runs in this way between the host and several devices.
  std::vector<const TransferRun*> one_way(Way way) const {
    std::vector<const TransferRun*> found;
    for (const char* kind : {"two to GPUs", "two from GPUs", "subset", "all to GPUs", "all from GPUs"})
      for (const TransferRun* run : context_.runs(kind))
        if (!devices_of(*run, way).empty()) found.push_back(run);
    return found;
  }

  /// Sets of devices: those that slow each other down two by two are in one set.
  std::vector<std::vector<size_t>> clusters(Way way) const {
    std::vector<size_t> root(context_.devices());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](size_t i) {
      while (root[i] != i) i = root[i];
      return i;
    };
    for (const TransferRun* run : one_way(way)) {
      const auto devices = devices_of(*run, way);
      if (devices.size() != 2) continue;
      const double apart = alone(host_link(way, devices[0])) + alone(host_link(way, devices[1]));
      if (run->total.mean < (1 - 2 * noise) * apart) root[find(devices[0])] = find(devices[1]);
    }
    std::map<size_t, std::vector<size_t>> by_root;
    for (const auto i : indices(root)) by_root[find(i)].push_back(i);
    std::vector<std::vector<size_t>> result;
    for (auto& [_, members] : by_root) result.push_back(std::move(members));
    return result;
  }

  /// Adds the group of a set: its capacity for so many flows is the most that so many got together, since other runs
  /// may be held back by groups of their own. Adds nothing where every flow gets what it gets alone.
  void add_shared(Way way, const std::vector<size_t>& members) {
    std::map<size_t, double> most;
    double one = 0;  // what a flow gets alone
    CapacityGroup group;
    for (const size_t i : members) {
      group.forward.push_back(host_link(way, i));
      one = std::max(one, alone(group.forward.back()));
    }
    for (const TransferRun* run : one_way(way)) {
      const auto devices = devices_of(*run, way);
      const bool inside =
          std::ranges::all_of(devices, [&](size_t i) { return std::ranges::find(members, i) != members.end(); });
      if (inside) most[devices.size()] = std::max(most[devices.size()], run->total.mean);
    }
    bool binds = false;
    group.capacity = CapacityCurve{{{1, Rate{one}}}};
    for (const auto& [flows, total] : most) {
      binds = binds || total < (1 - noise) * one * double(flows);
      group.capacity->points.push_back({double(flows), Rate{total}});
    }
    if (!binds) return;
    const bool all = members.size() == context_.devices();
    const std::string who = all ? "GPUs" : context_.device(members.front()) + " to " + context_.device(members.back());
    add(std::move(group), way == Way::to_devices ? "host to " + who : who + " to host");
  }

  void add(CapacityGroup group, const std::string& name) {
    group.name = name;
    group.source = "contention";
    d_.groups.push_back(std::move(group));
  }

  /// Copies to and from one device at once.
  void both_ways_of_device(size_t i) {
    for (const TransferRun* run : context_.runs("both ways")) {
      if (run->flows.size() != 2 ||
          (run->flows[0].dst != context_.device(i) && run->flows[0].src != context_.device(i)))
        continue;
      const LinkId to = host_link(Way::to_devices, i), from = host_link(Way::from_devices, i);
      if (run->total.mean > (1 - noise) * (alone(to) + alone(from))) return;
      CapacityGroup group;
      group.forward = {to}, group.backward = {from};
      group.both_busy = CapacityCurve{{{2, Rate{run->total.mean}}}};
      return add(std::move(group), "host and " + context_.device(i) + ", both directions");
    }
  }

  /// The host's memory with copies both ways: its bound by the number of copies, and how the two sides divide it where
  /// both are held back.
  void host_both_ways() {
    std::map<size_t, std::pair<double, int>> sums;  // of totals, by number of flows
    std::optional<double> share;
    size_t most_flows = 0;
    for (const char* kind : {"both ways", "two both ways", "subset", "all both ways"})
      for (const TransferRun* run : context_.runs(kind)) {
        double forward = 0, backward = 0;
        for (const auto& flow : run->flows) (flow.src == host ? forward : backward) += flow.rate.mean;
        if (forward == 0 || backward == 0) continue;
        auto& [sum, count] = sums[run->flows.size()];
        sum += run->total.mean, ++count;
        if (run->flows.size() <= most_flows || run->flows.size() < 4) continue;
        most_flows = run->flows.size();
        share = forward / (forward + backward);
      }
    if (sums.size() < 2) return;
    CapacityGroup group;
    for (size_t i = 0; i < context_.devices(); ++i) {
      group.forward.push_back(host_link(Way::to_devices, i));
      group.backward.push_back(host_link(Way::from_devices, i));
    }
    group.both_busy = CapacityCurve{};
    for (const auto& [flows, total] : sums)
      group.both_busy->points.push_back({double(flows), Rate{total.first / total.second}});
    group.forward_share = share;
    add(std::move(group), "host memory, both directions");
  }

  /// The ports of the switch, from runs with a copy in and one out of each device at once.
  void ports() {
    const auto switched =
        std::ranges::find_if(d_.nodes, [](const Node& n) { return n.kind == NodeKind::network_switch; });
    if (switched == d_.nodes.end()) return;
    const Seconds latency = 2 * d_.links.back().latency;  // out to the switch and on
    std::optional<Rate> each;
    for (const char* kind : {"pair both ways", "ring"})
      for (const TransferRun* run : context_.runs(kind))
        each = without_latency(Rate{run->total.mean / double(run->flows.size())}, Bytes{run->copy_bytes}, latency);
    if (!each) return;
    for (size_t i = 0; i < context_.devices(); ++i) {
      CapacityGroup group;
      group.forward = {link_between(d_, context_.device(i), switched->name)};
      group.backward = {link_between(d_, switched->name, context_.device(i))};
      if (*each > (1 - noise) * Rate{alone(group.forward[0])}) return;
      group.both_busy = CapacityCurve{{{2, 2 * *each}}};
      add(std::move(group), "port of " + context_.device(i) + ", both directions");
    }
  }

  /// The bound of a device that gets data from the host, or sends data there, while it sends to another device.
  void through_device(size_t i) {
    for (const char* kind : {"to GPU and on to peer", "from GPU and peer"})
      for (const TransferRun* run : context_.runs(kind))
        if (run->flows.size() == 2 && run->flows[1].src == context_.device(i)) through_device(i, *run);
  }

  void through_device(size_t i, const TransferRun& run) {
    const std::string& name = context_.device(i);
    const std::vector<LinkId> out = links_to_peers(name);
    const double alone = peer_rate(name, run.flows[1].dst, run.copy_bytes);
    if (out.empty() || alone == 0 || run.flows[1].rate.mean > (1 - noise) * alone) return;
    const bool in = run.flows[0].src == host;
    CapacityGroup group;
    group.forward = {host_link(in ? Way::to_devices : Way::from_devices, i)};
    group.backward = out;
    const Link& first = d_.links[out[0].index()];
    const bool direct = d_.nodes[first.to.index()].kind == NodeKind::gpu;
    const Seconds latency = (direct ? 1 : 2) * first.latency;
    const Rate sent = without_latency(Rate{run.flows[1].rate.mean}, Bytes{run.copy_bytes}, latency);
    group.both_busy = CapacityCurve{{{2, Rate{run.flows[0].rate.mean} + sent}}};
    add(std::move(group), name + (in ? ", in from the host and out to GPUs" : ", out to the host and to GPUs"));
  }

  std::vector<LinkId> links_to_peers(const std::string& device) const {
    std::vector<LinkId> links;
    for (size_t l = 0; l < d_.links.size(); ++l) {
      const Link& link = d_.links[l];
      if (d_.nodes[link.from.index()].name == device && d_.nodes[link.to.index()].name != host)
        links.push_back(LinkId{l});
    }
    return links;
  }

  /// Bytes per second of one copy alone; 0 if copies of this size were not measured.
  double peer_rate(const std::string& src, const std::string& dst, double copy_bytes) const {
    double rate = 0;
    for (const TransferRun* run : context_.pairs(src, dst))
      if (run->copy_bytes == copy_bytes) rate = run->flows[0].rate.mean;
    return rate;
  }

  Context& context_;
  Topology::Description& d_;
};

}  // namespace

void fit_groups(Context& context) { Groups{context}.fit(); }

}  // namespace tilerail::fit
