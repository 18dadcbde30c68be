#include "cost/estimate.hpp"

#include <algorithm>
#include <array>

#include "cost/copy_times.hpp"
#include "cost/energy.hpp"
#include "cost/issue_times.hpp"
#include "cost/ready_ops.hpp"
#include "cost/traffic_clocks.hpp"

namespace tilerail {
namespace {

/// Times of all operations, resources and devices, computed in the order in which
/// operations start.
class Pass {
 public:
  Pass(const Plan& plan, const Topology& topology, const Resources& resources)
      : plan_{plan}, topology_{topology}, traffic_{topology, resources, plan.devices} {
    for (const Memory& memory : topology.memories()) {
      const Engines engines = memory.engines();
      const auto slots = [](std::optional<int> count) {
        return Slots(size_t(count.value_or(0)));
      };
      devices_.push_back({{slots(engines.h2d), slots(engines.d2h), slots(engines.peer),
                           slots(engines.total)}});
    }
    for (const MemoryId gpu : plan.devices)
      devices_[gpu.index()].regain = topology.kernels_of(gpu).regain;
  }

  Estimate run() {
    ReadyOps ready{plan_, issue_times(plan_, topology_)};
    Seconds last;
    while (const auto next = ready.next()) {
      const auto& [at, id] = *next;
      OpEngines engines = engines_for(plan_.op(id));
      const Seconds free = engines.free();
      if (free > at) {
        ready.postpone(*next, free);
        continue;
      }
      const bool is_join = plan_.op(id).kind == OpKind::join;
      const Seconds end = is_join                 ? at
                          : kernels_.computes(id) ? kernel(id, at)
                                                  : copy(id, at);
      engines.take(end);
      ready.ended(id, end);
      last = std::max(last, end);
    }
    const double slower = slowdown(last);
    Estimate estimate{
        .makespan = last * slower, .energy = Joules{0}, .busiest = busiest() * slower};
    for (const MemoryId gpu : plan_.devices) {
      const Seconds busy = devices_[gpu.index()].busy;
      const auto watts = device_watts(typical_product(plan_), topology_, gpu);
      estimate.kernels += busy;
      if (!watts) estimate.energy.reset();
      if (estimate.energy)
        *estimate.energy +=
            watts->over(estimate.makespan, std::min(estimate.makespan, busy));
    }
    return estimate;
  }

 private:
  using Slots = std::vector<Seconds>;  // when each engine is free

  /// The engines that an operation needs, one of each; null or empty: unlimited.
  struct OpEngines {
    std::array<Slots*, 2> of;

    Seconds free() const {
      Seconds last;
      for (const Slots* slots : of)
        if (slots && !slots->empty()) last = std::max(last, std::ranges::min(*slots));
      return last;
    }
    void take(Seconds until) {
      for (Slots* slots : of)
        if (slots && !slots->empty()) *std::ranges::min_element(*slots) = until;
    }
  };

  /// docs/model.md#engines
  OpEngines engines_for(const Op& op) {
    const Queue& q = plan_.queue(op.queue);
    const auto engines = [&](MemoryId memory, size_t role) {
      return &devices_[memory.index()].engines[role];
    };
    constexpr size_t h2d = 0, d2h = 1, peer = 2, total = 3;
    if (op.kind == OpKind::join) return {};
    if (op.kind != OpKind::copy) return {{engines(q.dst, total), nullptr}};
    const bool from_host = topology_.is_host(q.src), to_host = topology_.is_host(q.dst);
    if (q.src == q.dst || (from_host && to_host)) return {};
    if (from_host) return {{engines(q.dst, h2d), engines(q.dst, total)}};
    return {
        {engines(q.src, to_host ? d2h : peer), engines(to_host ? q.src : q.dst, total)}};
  }

  /// Kernels on a device that is busy most of the time are slower, and so are operations
  /// that wait for them.
  double slowdown(Seconds makespan) const {
    double most = 1;
    for (const MemoryId gpu : plan_.devices) {
      const Device& device = devices_[gpu.index()];
      if (!device.slows_down) continue;
      const double duty =
          makespan > Seconds{0} ? std::min(1.0, device.busy / makespan) : 0;
      const double slack =
          device.busy > Seconds{0} ? device.busy / device.busy_aligned : 1;
      const double factor =
          load_factor(plan_, topology_, gpu, duty, makespan, usual_calls_before);
      most = std::max(most, 1 + duty * (factor / slack - 1));
    }
    return most;
  }

  /// The larger of the busiest resource that all devices use, and the mean over devices
  /// of the busiest resource of each.
  Seconds busiest() const {
    Seconds shared, sum;
    std::vector<Seconds> own;
    for (const MemoryId gpu : plan_.devices) own.push_back(devices_[gpu.index()].busy);
    for (const auto& [time, users] : traffic_.busy()) {
      if (users.all()) shared = std::max(shared, time);
      for (size_t d = users.find_first(); d != TrafficClocks::Users::npos;
           d = users.find_next(d))
        own[d] = std::max(own[d], time);
    }
    for (const Seconds time : own) sum += time;
    return std::max(shared, sum / double(own.size()));
  }

  Seconds copy(OpId id, Seconds start) {
    const Op& op = plan_.op(id);
    const auto [kind, src, dst, index] = plan_.queue(op.queue);
    if (src == dst) return start;
    const CopyShape shape = shapes_.of(id);
    double efficiency = shapes_.efficiency(id, shape);  // relative to its rate alone
    if (const auto duplex = shapes_.duplex(src, dst, shape.staged))
      efficiency = std::min(efficiency, *duplex / topology_.pair_rate(src, dst));
    return traffic_.run({src, dst, copy_bytes(plan_, op), efficiency}, start);
  }

  Seconds kernel(OpId id, Seconds start) {
    const KernelCost& cost = kernels_.of(id);
    const Op& op = plan_.op(id);
    const Seconds filled = cost.time * cost.share;
    Device& device = devices_[plan_.queue(op.queue).dst.index()];
    const bool is_idle = start >= device.last_end && cost.time > Seconds{0};
    const Seconds regain = is_idle ? device.regain : Seconds{0};
    device.load = std::max(device.load, start) + filled + regain * cost.share;
    if (is_kernel(op.kind)) {  // the duty counts kernels only, as in the simulator
      device.busy += filled;
      device.busy_aligned += filled / cost.slack;
    }
    device.slows_down = device.slows_down || cost.slows_down;
    const Seconds end = std::max(start + regain + cost.time, device.load);
    device.last_end = std::max(device.last_end, end);
    return end;
  }

  struct Device {
    std::array<Slots, 4> engines;          // h2d, d2h, peer, total
    Seconds regain = {};                   // of kernels that start while it is idle
    Seconds load = {}, last_end = {};      // end of its kernels so far, by work and time
    Seconds busy = {}, busy_aligned = {};  // actual, and with well aligned operands
    bool slows_down = false;               // whether any of its kernels does under load
  };

  const Plan& plan_;
  const Topology& topology_;
  TrafficClocks traffic_;
  std::vector<Device> devices_;  // by memory
  PlanKernelCosts kernels_{plan_, topology_};
  CopyShapes shapes_{plan_, topology_, kernels_};
};

}  // namespace

Estimate estimate_plan(const Plan& plan, const Topology& topology,
                       const Resources& resources) {
  return Pass{plan, topology, resources}.run();
}

}  // namespace tilerail
