#include "cost/estimate.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "cost/copy_times.hpp"
#include "cost/energy.hpp"
#include "cost/issue_clock.hpp"
#include "cost/kernel_costs.hpp"
#include "cost/ready_ops.hpp"
#include "cost/traffic_clocks.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// When every operation, resource and device would be done, filled in the order in which operations start.
class Pass {
 public:
  Pass(const Plan& plan, const Topology& topology, const Resources& resources)
      : plan_{plan},
        topology_{topology},
        traffic_{topology, resources, plan.devices.size()},
        number_of_(topology.memories().size()),
        devices_(topology.memories().size()),
        kernels_{plan, topology} {
    for (const auto d : indices(plan.devices)) number_of_[plan.devices[d].index()] = d;
    for (const auto m : indices(devices_)) {
      const Engines& engines = topology.memories()[m].engines;
      const std::array counts{engines.h2d, engines.d2h, engines.peer, engines.total};
      for (const auto role : indices(counts))
        if (counts[role]) devices_[m].engines[role].resize(size_t(*counts[role]));
    }
  }

  Estimate run() {
    ReadyOps ready{plan_, issued()};
    Seconds last{0};
    while (const auto next = ready.next()) {
      const Held held = engines_for(next->op);
      if (const Seconds free = held.free(); free > next->at) {
        ready.postpone(*next, free);
        continue;
      }
      const Op& op = plan_.op(next->op);
      const Seconds end = op.kind == OpKind::join       ? next->at
                          : kernels_.computes(next->op) ? kernel(next->op, next->at)
                                                        : copy(next->op, next->at);
      held.take(end);
      ready.ended(next->op, end);
      last = std::max(last, end);
    }
    const double slower = slowdown(last);
    return {last * slower, energy(last * slower), busiest() * slower, kernels()};
  }

 private:
  using Slots = std::vector<Seconds>;  // when each engine is free

  /// The engines that an operation needs: one of each.
  struct Held {
    std::array<Slots*, 2> of{};

    Seconds free() const {
      Seconds last{0};
      for (const Slots* slots : of)
        if (slots) last = std::max(last, *std::ranges::min_element(*slots));
      return last;
    }
    void take(Seconds until) const {
      for (Slots* slots : of)
        if (slots) *std::ranges::min_element(*slots) = until;
    }
  };

  /// docs/model.md#engines
  Held engines_for(OpId id) {
    constexpr size_t h2d = 0, d2h = 1, peer = 2, total = 3;
    const Op& op = plan_.op(id);
    const Queue& q = plan_.queue(op.queue);
    const auto limited = [&](MemoryId memory, size_t role) -> Slots* {
      Slots& slots = devices_[memory.index()].engines[role];
      return slots.empty() ? nullptr : &slots;
    };
    if (op.kind == OpKind::join) return {};
    if (op.kind != OpKind::copy) return {{limited(q.dst, total), nullptr}};
    const bool from_host = topology_.is_host(q.src), to_host = topology_.is_host(q.dst);
    if (q.src == q.dst || (from_host && to_host)) return {};
    return {{from_host ? limited(q.dst, h2d) : limited(q.src, to_host ? d2h : peer),
             limited(to_host ? q.src : q.dst, total)}};
  }

  std::vector<Seconds> issued() const {
    IssueClock clock{plan_, topology_};
    std::vector<Seconds> at;
    for (const auto i : indices(plan_.ops)) at.push_back(clock.issue(OpId{i}));
    return at;
  }

  /// Kernels on a device that is busy most of the time are slower, and so is what waits for them.
  double slowdown(Seconds makespan) const {
    double most = 1;
    for (const MemoryId gpu : plan_.devices) {
      const Device& device = devices_[gpu.index()];
      if (!device.slows_down) continue;
      const double duty = makespan > Seconds{0} ? std::min(1.0, device.busy / makespan) : 0;
      const double slack = device.busy > Seconds{0} ? device.busy / device.busy_aligned : 1;
      most = std::max(most,
                      1 + duty * (load_factor(plan_, topology_, gpu, duty, makespan, usual_calls_before) / slack - 1));
    }
    return most;
  }

  std::optional<Joules> energy(Seconds makespan) const {
    Joules sum{0};
    for (const MemoryId gpu : plan_.devices) {
      const auto watts = device_watts(plan_.problem, topology_, gpu);
      if (!watts) return std::nullopt;
      sum += watts->over(makespan, std::min(makespan, devices_[gpu.index()].busy));
    }
    return sum;
  }

  Seconds kernels() const {
    Seconds sum{0};
    for (const MemoryId gpu : plan_.devices) sum += devices_[gpu.index()].busy;
    return sum;
  }

  /// What all devices use can do no less; what some use would, if the others had their part of it.
  Seconds busiest() const {
    Seconds shared{0};
    std::vector<Seconds> own(plan_.devices.size());
    for (const auto& [time, users] : traffic_.busy()) {
      if (users.all()) shared = std::max(shared, time);
      for (size_t d = users.find_first(); d != TrafficClocks::Users::npos; d = users.find_next(d))
        own[d] = std::max(own[d], time);
    }
    for (const auto d : indices(own)) own[d] = std::max(own[d], devices_[plan_.devices[d].index()].busy);
    return std::max(shared, std::accumulate(own.begin(), own.end(), Seconds{0}) / double(own.size()));
  }

  /// Of its rate alone, what a copy gets.
  double efficiency(OpId id, const Queue& q) const {
    const CopyShape shape = shapes_.of(id);
    const double strided = strided_efficiency(topology_, q.src, q.dst, shape);
    const auto duplex = shapes_.duplex(q.src, q.dst, shape.staged);
    return duplex ? std::min(strided, *duplex / topology_.pair_rate(q.src, q.dst)) : strided;
  }

  Seconds copy(OpId id, Seconds start) {
    const Op& op = plan_.op(id);
    const Queue& q = plan_.queue(op.queue);
    if (q.src == q.dst) return start;
    TrafficClocks::Copy copy{q.src, q.dst, copy_bytes(plan_, op), efficiency(id, q), {}};
    for (const MemoryId end : {q.src, q.dst})
      if (const auto number = number_of_[end.index()]) copy.users.push_back(*number);
    return traffic_.run(copy, start);
  }

  Seconds kernel(OpId id, Seconds start) {
    const KernelCost& cost = kernels_.of(id);
    Device& device = devices_[plan_.queue(plan_.op(id).queue).dst.index()];
    device.load = std::max(device.load, start) + cost.time * cost.share;
    if (is_kernel(plan_.op(id).kind)) {  // duty is that of kernels, as in the simulator
      device.busy += cost.time * cost.share;
      device.busy_aligned += cost.time * cost.share / cost.slack;
    }
    device.slows_down = device.slows_down || cost.slows_down;
    return std::max(start + cost.time, device.load);
  }

  const Plan& plan_;
  const Topology& topology_;
  TrafficClocks traffic_;
  std::vector<std::optional<size_t>> number_of_;  // by memory: of a device, in the plan
  struct Device {
    std::array<Slots, 4> engines;      // h2d, d2h, peer, total; none where any number of operations may run
    Seconds load{0};                   // when its kernels so far are done
    Seconds busy{0}, busy_aligned{0};  // as it is, and were all operands well aligned
    bool slows_down = false;           // whether any of its kernels does, under load
  };
  std::vector<Device> devices_;
  PlanKernelCosts kernels_;
  CopyShapes shapes_{plan_, topology_, kernels_};
};

}  // namespace

Estimate estimate_plan(const Plan& plan, const Topology& topology, const Resources& resources) {
  return Pass{plan, topology, resources}.run();
}

}  // namespace tilerail
