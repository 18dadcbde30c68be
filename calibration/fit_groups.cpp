#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "calibration/fit_parts.hpp"

#include "model/base/contains.hpp"
#include "model/base/indices.hpp"

namespace tilerail::fit {
namespace {

enum class Direction { to_devices, from_devices };

class Groups {
 public:
  explicit Groups(Context& context)
      : context_{context},
        devices_{context.measurements.devices},
        d_{context.description} {}

  void fit() {
    for (const DeviceRecord& device : devices_) both_ways_of_device(device.name);
    for (const Direction direction : {Direction::to_devices, Direction::from_devices}) {
      for (const auto& cluster : clusters(direction))
        if (cluster.size() > 1 && cluster.size() < devices_.size())
          add_shared(direction, cluster);
      if (devices_.size() > 1) add_shared(direction, all_devices());
    }
    host_both_ways();
    ports();
    for (const DeviceRecord& device : devices_) through_device(device.name);
  }

 private:
  LinkId host_link(Direction direction, const std::string& device) const {
    return direction == Direction::to_devices ? link_between(d_, host, device)
                                              : link_between(d_, device, host);
  }
  double alone(LinkId link) const { return d_.links[link.index()].bandwidth.value; }

  /// Devices of a run whose flows all go this way between the host and a device; empty
  /// for other runs.
  std::vector<size_t> devices_of(const TransferRun& run, Direction direction) const {
    std::vector<size_t> devices;
    for (const auto& flow : run.flows) {
      const std::string& end = direction == Direction::to_devices ? flow.dst : flow.src;
      if ((direction == Direction::to_devices ? flow.src : flow.dst) != host ||
          flow.in_flight != 1)
        return {};
      for (const auto i : indices(devices_))
        if (devices_[i].name == end) devices.push_back(i);
    }
    return devices;
  }

  /// Runs this way between the host and several devices.
  Transfers runs_in(Direction direction) const {
    Transfers found = context_.runs(
        {"two to GPUs", "two from GPUs", "subset", "all to GPUs", "all from GPUs"});
    std::erase_if(found, [&](const TransferRun* run) {
      return devices_of(*run, direction).empty();
    });
    return found;
  }

  /// Sets of devices. Two devices that slow each other down are in one set.
  std::vector<std::vector<size_t>> clusters(Direction direction) const {
    std::vector<size_t> set_of = all_devices();
    for (const TransferRun* run : runs_in(direction)) {
      const auto devices = devices_of(*run, direction);
      if (devices.size() != 2) continue;
      const auto rate = [&](size_t i) {
        return alone(host_link(direction, devices_[i].name));
      };
      const double apart = rate(devices[0]) + rate(devices[1]);
      const size_t first = set_of[devices[0]], second = set_of[devices[1]];
      if (run->total.mean < (1 - 2 * noise) * apart)
        std::ranges::replace(set_of, first, second);
    }
    std::map<size_t, std::vector<size_t>> sets;
    for (const auto i : indices(set_of)) sets[set_of[i]].push_back(i);
    std::vector<std::vector<size_t>> result;
    for (auto& [_, members] : sets) result.push_back(std::move(members));
    return result;
  }

  std::vector<size_t> all_devices() const {
    std::vector<size_t> all(devices_.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  /// Adds the group of a set. Its capacity for n flows is the highest measured total of n
  /// flows, since other groups may limit some runs. Adds nothing if every flow keeps its
  /// rate without contention.
  void add_shared(Direction direction, const std::vector<size_t>& members) {
    std::map<size_t, double> most;
    double one = 0;  // rate of a single flow
    CapacityGroup group;
    for (const size_t i : members) {
      group.forward.push_back(host_link(direction, devices_[i].name));
      one = std::max(one, alone(group.forward.back()));
    }
    for (const TransferRun* run : runs_in(direction)) {
      const auto devices = devices_of(*run, direction);
      const bool inside =
          std::ranges::all_of(devices, [&](size_t i) { return contains(members, i); });
      if (inside) most[devices.size()] = std::max(most[devices.size()], run->total.mean);
    }
    bool binds = false;
    group.capacity = CapacityCurve{{{1, Rate{one}}}};
    for (const auto& [flows, total] : most) {
      binds = binds || total < (1 - noise) * one * double(flows);
      group.capacity->points.push_back({double(flows), Rate{total}});
    }
    if (!binds) return;
    const bool all = members.size() == devices_.size();
    const std::string who =
        all ? "GPUs"
            : devices_[members.front()].name + " to " + devices_[members.back()].name;
    add(std::move(group),
        direction == Direction::to_devices ? "host to " + who : who + " to host");
  }

  void add(CapacityGroup group, const std::string& name) {
    group.name = name;
    group.source = "contention";
    d_.groups.push_back(std::move(group));
  }

  /// Simultaneous copies to and from one device.
  void both_ways_of_device(const std::string& device) {
    for (const TransferRun* run : context_.runs({"both ways"})) {
      const auto& flows = run->flows;
      if (flows.size() != 2 || (flows[0].dst != device && flows[0].src != device))
        continue;
      const LinkId to = host_link(Direction::to_devices, device),
                   from = host_link(Direction::from_devices, device);
      if (run->total.mean > (1 - noise) * (alone(to) + alone(from))) return;
      CapacityGroup group;
      group.forward = {to}, group.backward = {from};
      group.both_busy = CapacityCurve{{{2, Rate{run->total.mean}}}};
      return add(std::move(group), "host and " + device + ", both directions");
    }
  }

  /// The host's memory with copies both ways: its limit by the number of copies, and the
  /// forward share if both directions are limited.
  void host_both_ways() {
    std::map<size_t, Mean> totals;  // by number of flows
    std::optional<double> share;
    size_t most_flows = 3;
    for (const TransferRun* run :
         context_.runs({"both ways", "two both ways", "subset", "all both ways"})) {
      double forward = 0, backward = 0;
      for (const auto& flow : run->flows)
        (flow.src == host ? forward : backward) += flow.rate.mean;
      if (forward == 0 || backward == 0) continue;
      totals[run->flows.size()].add(run->total.mean);
      if (run->flows.size() <= most_flows) continue;
      most_flows = run->flows.size();
      share = forward / (forward + backward);
    }
    if (totals.size() < 2) return;
    CapacityGroup group;
    for (const DeviceRecord& device : devices_) {
      group.forward.push_back(host_link(Direction::to_devices, device.name));
      group.backward.push_back(host_link(Direction::from_devices, device.name));
    }
    group.both_busy = CapacityCurve{};
    for (const auto& [flows, total] : totals)
      group.both_busy->points.push_back({double(flows), Rate{total.value()}});
    group.forward_share = share;
    add(std::move(group), "host memory, both directions");
  }

  /// The ports of the switch, from runs in which each device simultaneously sends and
  /// receives a copy.
  void ports() {
    const auto switched = std::ranges::find_if(d_.vertices, [](const Vertex& v) {
      return v.kind == VertexKind::network_switch;
    });
    if (switched == d_.vertices.end()) return;
    const Seconds latency = 2 * d_.links.back().latency;  // to the switch and from it
    std::optional<Rate> each;
    for (const TransferRun* run : context_.runs({"pair both ways", "ring"}))
      each = without_latency(Rate{run->total.mean / double(run->flows.size())},
                             Bytes{run->copy_bytes}, latency);
    if (!each) return;
    for (const DeviceRecord& device : devices_) {
      CapacityGroup group;
      group.forward = {link_between(d_, device.name, switched->name)};
      group.backward = {link_between(d_, switched->name, device.name)};
      if (*each > (1 - noise) * Rate{alone(group.forward[0])}) return;
      group.both_busy = CapacityCurve{{{2, 2 * *each}}};
      add(std::move(group), "port of " + device.name + ", both directions");
    }
  }

  /// The limit of a device that sends to another device while it exchanges data with the
  /// host.
  void through_device(const std::string& name) {
    for (const TransferRun* run :
         context_.runs({"to GPU and on to peer", "from GPU and peer"}))
      if (run->flows.size() == 2 && run->flows[1].src == name) through_device(name, *run);
  }

  void through_device(const std::string& name, const TransferRun& run) {
    const std::vector<LinkId> out = links_to_peers(name);
    const double alone = peer_rate(name, run.flows[1].dst, run.copy_bytes);
    if (out.empty() || alone == 0 || run.flows[1].rate.mean > (1 - noise) * alone) return;
    const bool in = run.flows[0].src == host;
    CapacityGroup group;
    group.forward = {
        host_link(in ? Direction::to_devices : Direction::from_devices, name)};
    group.backward = out;
    const Link& first = d_.links[out[0].index()];
    const bool direct = d_.vertices[first.to.index()].kind == VertexKind::gpu;
    const Seconds latency = (direct ? 1 : 2) * first.latency;
    const Rate sent =
        without_latency(Rate{run.flows[1].rate.mean}, Bytes{run.copy_bytes}, latency);
    group.both_busy = CapacityCurve{{{2, Rate{run.flows[0].rate.mean} + sent}}};
    add(std::move(group), name + (in ? ", in from the host and out to GPUs"
                                     : ", out to the host and to GPUs"));
  }

  std::vector<LinkId> links_to_peers(const std::string& device) const {
    std::vector<LinkId> links;
    for (const auto l : indices(d_.links))
      if (d_.links[l].from == vertex_of(d_, device) &&
          d_.links[l].to != vertex_of(d_, host))
        links.push_back(LinkId{l});
    return links;
  }

  /// Bytes per second of a copy that runs alone; 0 if copies of this size were not
  /// measured.
  double peer_rate(const std::string& src, const std::string& dst,
                   double copy_bytes) const {
    double rate = 0;
    for (const TransferRun* run : context_.pairs(src, dst))
      if (run->copy_bytes == copy_bytes) rate = run->flows[0].rate.mean;
    return rate;
  }

  Context& context_;
  const std::vector<DeviceRecord>& devices_;
  Topology::Description& d_;
};

}  // namespace

void fit_groups(Context& context) { Groups{context}.fit(); }

}  // namespace tilerail::fit
