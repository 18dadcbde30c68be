#include "model/published/library_workload.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

using Node = size_t;  // active devices, then other memories with operands

/// The links between the nodes without detours, and the detours at least as wide.
class Links {
 public:
  struct Link {
    Node src, dst;
  };
  struct Detour {
    Node via;
    SecondsPerByte per_byte;  // of bottleneck_worth of the narrower link
  };

  Links(const WorkloadProblem& problem, const SharedLinks& shared,
        std::span<const size_t> active)
      : devices_{active.size()}, nearest_(devices_ + problem.operands.size()) {
    for (const size_t index : active) nodes_.push_back(problem.devices[index]);
    for (const auto& operand : problem.operands)
      if (node_of(operand.place) == nodes_.size()) nodes_.push_back(operand.place);
    for (const MemoryId src : nodes_)
      for (const MemoryId dst : nodes_)
        times_.push_back({shared.per_byte(src, dst), shared.latency(src, dst)});
    if (problem.max_hops > 0)
      for (Node src = 0; src < nodes_.size(); ++src) find_detours(src);
  }

  Node devices() const { return devices_; }
  Node nodes() const { return nodes_.size(); }
  size_t at(Node src, Node dst) const { return src * nodes_.size() + dst; }
  Node node_of(MemoryId memory) const {
    return Node(std::ranges::find(nodes_, memory) - nodes_.begin());
  }
  SecondsPerByte per_byte(Node src, Node dst) const {
    return times_[at(src, dst)].per_byte;
  }
  Seconds time(Node src, Node dst, Bytes bytes) const {
    const auto& [per_byte, latency] = times_[at(src, dst)];
    return bytes > Bytes{0} ? latency + bytes * per_byte : Seconds{0};
  }
  const std::vector<Link>& with_detours() const { return with_detours_; }
  /// In the order of devices.
  std::vector<Detour> detours(Node src, Node dst) const {
    std::vector<Detour> all;
    for (const Detour& to : nearest_[src]) {
      if (to.per_byte > per_byte(src, dst)) break;
      const SecondsPerByte on = per_byte(to.via, dst) / SharedLinks::bottleneck_worth;
      if (to.via != dst && on <= per_byte(src, dst) && on < LinkMap::no_way)
        all.push_back({to.via, std::max(to.per_byte, on)});
    }
    std::ranges::sort(all, {}, &Detour::via);
    return all;
  }

 private:
  struct Times {
    SecondsPerByte per_byte;
    Seconds latency;
  };

  void find_detours(Node src) {
    for (Node via = 0; via < devices_; ++via)
      if (via != src && per_byte(src, via) < LinkMap::no_way)
        nearest_[src].push_back(
            {via, per_byte(src, via) / SharedLinks::bottleneck_worth});
    std::ranges::sort(nearest_[src], {}, &Detour::per_byte);
    for (Node dst = 0; dst < nodes_.size(); ++dst)
      if (dst != src && !detours(src, dst).empty()) with_detours_.push_back({src, dst});
  }

  size_t devices_;
  std::vector<MemoryId> nodes_;
  std::vector<Times> times_;
  std::vector<std::vector<Detour>> nearest_;  // by source: first links, the widest first
  std::vector<Link> with_detours_;
};

/// Bytes and times of the links.
class Traffic {
 public:
  Traffic(const WorkloadProblem& problem, const Links& links,
          std::span<const double> shares)
      : links_{links}, loads_(links.nodes() * links.nodes()) {
    for (Node device = 0; device < links_.devices(); ++device)
      charge(problem, device, shares[device]);
    reroute();
  }

  /// The longest time of the links from and to a device.
  Seconds longest(Node device) const {
    Seconds longest{0};
    for (Node other = 0; other < links_.nodes(); ++other)
      longest = std::max({longest, time(other, device), time(device, other)});
    return longest;
  }

 private:
  struct Load {
    Bytes bytes{0};
    Seconds time{0};
    Node via = 0;  // of all bytes of the link, if rerouted
    bool rerouted = false;
  };

  Load& load(Node src, Node dst) { return loads_[links_.at(src, dst)]; }
  const Load& load(Node src, Node dst) const { return loads_[links_.at(src, dst)]; }
  Seconds time(Node src, Node dst) const {
    const Load& direct = load(src, dst);
    return direct.rerouted
               ? std::max(load(src, direct.via).time, load(direct.via, dst).time)
               : direct.time;
  }
  Seconds time_with(Node src, Node dst, Bytes bytes) const {
    return links_.time(src, dst, bytes + load(src, dst).bytes);
  }
  void add(Node src, Node dst, Bytes bytes) {
    load(src, dst).time = time_with(src, dst, bytes);
    load(src, dst).bytes += bytes;
  }

  void charge(const WorkloadProblem& problem, Node device, double share) {
    double inputs = 0;
    Bytes input_bytes{0};
    for (const auto& operand : problem.operands) {
      const Node place = links_.node_of(operand.place);
      if (place == device) continue;
      if (operand.read) add(place, device, operand.bytes * share);
      if (operand.written) add(device, place, operand.bytes * share);
      if (operand.read && !operand.written)
        inputs += 1, input_bytes += operand.bytes * share;
    }
    const Node devices = links_.devices();
    if (inputs == 0 || devices == 1) return;
    const Bytes extra =
        further_parts(devices) / inputs / double(devices - 1) * input_bytes;
    for (Node other = 0; other < devices; ++other)
      if (other != device) add(other, device, extra);
  }

  void reroute() {
    std::vector<Links::Link> order = links_.with_detours();
    const auto time_of = [&](Links::Link link) { return load(link.src, link.dst).time; };
    std::ranges::stable_sort(order, std::greater{}, time_of);
    longest_ = longest_of_all();
    for (const Links::Link link : order) reroute(link.src, link.dst);
  }

  void reroute(Node src, Node dst) {
    Load& direct = load(src, dst);
    SecondsPerByte widest = links_.per_byte(src, dst);
    Seconds least = direct.time;
    for (const auto& [via, cost] : links_.detours(src, dst)) {
      const Seconds time =
          std::max(time_with(src, via, direct.bytes), time_with(via, dst, direct.bytes));
      const bool wins = cost < widest || time < (1 - rounding) * least;
      const bool pays = 2 * cost <= widest || time <= (1 + rounding) * longest_;
      if (cost <= widest && wins && pays)
        widest = cost, least = time, direct.via = via, direct.rerouted = true;
    }
    if (!direct.rerouted) return;
    const Bytes bytes = std::exchange(direct.bytes, Bytes{0});
    const Seconds before = std::exchange(direct.time, Seconds{0});
    add(src, direct.via, bytes), add(direct.via, dst, bytes);
    longest_ = before < longest_ ? std::max(longest_, time(src, dst)) : longest_of_all();
  }

  Seconds longest_of_all() const {
    return std::ranges::max_element(loads_, {}, &Load::time)->time;
  }

  static constexpr double rounding = 1e-9;
  const Links& links_;
  std::vector<Load> loads_;
  Seconds longest_{0};  // of all links
};

Workload predicted(const WorkloadProblem& problem, const Links& links,
                   std::span<const size_t> active, std::vector<double> shares) {
  const Traffic traffic{problem, links, shares};
  const double factor = problem.library_factors[active.size() - 1];
  Workload workload;
  workload.active.assign(active.begin(), active.end());
  workload.shares = std::move(shares);
  for (const auto d : indices(active)) {
    const Seconds exec = workload.shares[d] * problem.exec_times[active[d]];
    const Seconds time = factor * std::max(exec, traffic.longest(d));
    workload.times.push_back(time);
    workload.time = std::max(workload.time, time);
    if (!problem.watts.empty()) workload.energy += problem.watts[active[d]] * time;
  }
  return workload;
}

}  // namespace

double further_parts(size_t devices) {
  size_t rows = 1;
  for (size_t r = 1; r * r <= devices; ++r)
    if (devices % r == 0) rows = r;
  return double(rows - 1 + devices / rows - 1);
}

std::vector<double> adjusted(std::vector<double> weights) {
  constexpr double least = 0.05, similar = 0.05 * (1 + 1e-9);
  const auto count = double(weights.size());
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& share : weights) share /= sum;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double share = weights[i];
    if (share < std::min(least, 0.5 / count)) {
      for (double& other : weights) other /= 1 - share;
      weights[i] = 0;
      continue;
    }
    const auto joins = [&](double other) {
      return std::abs(share - other) <= similar * count * share;
    };
    double joined = 0, members = 0;
    for (size_t j = i; j < weights.size(); ++j)
      if (joins(weights[j])) joined += weights[j], members += 1;
    for (size_t j = i; j < weights.size(); ++j)
      if (joins(weights[j])) weights[j] = joined / members;
  }
  return weights;
}

Workload library_workload(const WorkloadProblem& problem, const SharedLinks& shared,
                          std::span<const size_t> active) {
  const Links links{problem, shared, active};
  const auto count = active.size();
  Workload equal =
      predicted(problem, links, active, std::vector<double>(count, 1.0 / double(count)));
  if (!std::isfinite(equal.time.value) || !(equal.time > Seconds{0})) return equal;
  std::vector<double> speeds;
  for (const Seconds time : equal.times) speeds.push_back(1 / time.value);
  std::vector<double> shares = adjusted(std::move(speeds));
  if (std::ranges::find(shares, 0.0) != shares.end()) return equal;
  Workload other = predicted(problem, links, active, std::move(shares));
  return other.time < equal.time ? other : equal;
}

Workload deal_by_metric(Workload best, const Metric& metric,
                        const WorkloadProblem& problem) {
  if (problem.library_factors.empty()) return best;
  std::vector<Outcome> outcomes;
  for (const auto i : indices(best.active)) {
    const Watts watts = problem.watts.empty() ? Watts{1} : problem.watts[best.active[i]];
    outcomes.push_back(
        {best.shares[i] * problem.flops, best.times[i], watts * best.times[i]});
  }
  const std::vector<double> parts = adjusted(parts_by(metric, outcomes));
  Workload assigned;
  assigned.time = best.time, assigned.energy = best.energy;
  for (const auto i : indices(parts)) {
    if (parts[i] == 0) continue;
    assigned.active.push_back(best.active[i]);
    assigned.shares.push_back(parts[i]);
    assigned.times.push_back(best.times[i]);
  }
  return assigned;
}

}  // namespace tilerail
