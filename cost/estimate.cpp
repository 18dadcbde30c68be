#include "cost/estimate.hpp"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <numeric>

#include "cost/energy.hpp"
#include "cost/issue_clock.hpp"
#include "cost/kernel_costs.hpp"
#include "cost/strided_copy.hpp"

namespace tilerail {
namespace {

using Users = boost::dynamic_bitset<>;

/// When every operation, queue, resource and device would be done, filled in issue order.
class Pass {
 public:
  Pass(const Plan& plan, const Topology& topology, const Resources& resources)
      : plan_{plan},
        topology_{topology},
        resources_{resources},
        ends_(plan.ops.size()),
        queue_free_(plan.queues.size()),
        load_(resources.count()),
        load_users_(resources.count(), Users{plan.devices.size()}),
        number_of_(topology.memories().size()),
        devices_(topology.memories().size()),
        kernels_{plan, topology},
        issue_{plan, topology},
        sides_(topology.groups().size()) {
    for (Sides& sides : sides_) sides.users.resize(plan.devices.size());
    for (std::size_t d = 0; d < plan.devices.size(); ++d) number_of_[plan.devices[d].index()] = d;
  }

  Estimate run() {
    Seconds last{0};
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const Op& op = plan_.ops[i];
      Seconds start = std::max(queue_free_[op.queue.index()], issue_.issue(OpId{i}));
      for (const OpId dep : plan_.deps_of(OpId{i})) start = std::max(start, ends_[dep.index()]);
      ends_[i] = op.kind == OpKind::join ? start : op.kind == OpKind::copy ? copy(op, start) : kernel(OpId{i}, start);
      queue_free_[op.queue.index()] = ends_[i];
      last = std::max(last, ends_[i]);
    }
    const double slower = slowdown(last);
    return {last * slower, energy(last * slower), busiest() * slower};
  }

 private:
  /// Kernels on a device that is busy most of the time are slower, and so is what waits for them.
  double slowdown(Seconds makespan) const {
    double most = 1;
    for (const MemoryId gpu : plan_.devices) {
      const Device& device = devices_[gpu.index()];
      if (!device.slows_down) continue;
      const double duty = makespan > Seconds{0} ? std::min(1.0, device.busy / makespan) : 0;
      const double slack = device.busy > Seconds{0} ? device.busy / device.busy_aligned : 1;
      most = std::max(most, 1 + duty * (load_factor(plan_, topology_, gpu, duty) / slack - 1));
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

  /// What all devices use can do no less; what some use would, if the others had their part of it.
  Seconds busiest() const {
    Seconds shared{0};
    std::vector<Seconds> own(plan_.devices.size());
    const auto weigh = [&](const Users& users, Seconds time) {
      if (users.all()) shared = std::max(shared, time);
      for (std::size_t d = users.find_first(); d != Users::npos; d = users.find_next(d))
        own[d] = std::max(own[d], time);
    };
    for (std::size_t r = 0; r < load_.size(); ++r) weigh(load_users_[r], load_[r]);
    for (std::size_t g = 0; g < sides_.size(); ++g) weigh(sides_[g].users, both_ways(g));
    for (std::size_t d = 0; d < own.size(); ++d) own[d] = std::max(own[d], devices_[plan_.devices[d].index()].busy);
    return std::max(shared, std::accumulate(own.begin(), own.end(), Seconds{0}) / static_cast<double>(own.size()));
  }

  Seconds copy(const Op& op, Seconds start) {
    const Queue& q = plan_.queue(op.queue);
    if (q.src == q.dst) return start;
    const Bytes bytes = copy_bytes(plan_, op);
    const double efficiency = strided_efficiency(topology_, q.src, q.dst, copy_columns(plan_, op), plan_.devices);
    const auto add_users = [&](Users& users) {
      for (const MemoryId end : {q.src, q.dst})
        if (const auto number = number_of_[end.index()]) users.set(*number);
    };
    const Resources::Way& way = resources_.way(q.src, q.dst);
    Seconds end = start + way.latency + bytes * way.per_byte / efficiency;
    for (const auto& use : way.uses) {
      if (resources_.is_both_busy(use.resource)) continue;
      Seconds& load = load_[use.resource];
      load += bytes * use.per_byte / (use.resource < topology_.links().size() ? efficiency : 1);
      add_users(load_users_[use.resource]);
      end = std::max(end, load);
    }
    for (const auto& use : topology_.groups_on(q.src, q.dst)) {
      Sides& sides = sides_[use.group.index()];
      if (use.forward) sides.forward += bytes;
      if (use.backward) sides.backward += bytes;
      add_users(sides.users);
      end = std::max(end, both_ways(use.group.index()));
    }
    return end;
  }

  Seconds kernel(OpId id, Seconds start) {
    const KernelCost& cost = kernels_.of(id);
    Device& device = devices_[plan_.queue(plan_.op(id).queue).dst.index()];
    device.load = std::max(device.load, start) + cost.time * cost.share;
    device.busy += cost.time * cost.share;
    device.busy_aligned += cost.time * cost.share / cost.slack;
    device.slows_down = device.slows_down || cost.slows_down;
    return std::max(start + cost.time, device.load);
  }

  /// Traffic of a group.
  struct Sides {
    Bytes forward{0}, backward{0};
    Users users = {};  // a bit a device of the plan
  };

  Seconds both_ways(std::size_t group) const {
    return resources_.two_ways(group).time(sides_[group].forward, sides_[group].backward);
  }

  const Plan& plan_;
  const Topology& topology_;
  const Resources& resources_;
  std::vector<Seconds> ends_, queue_free_, load_;
  std::vector<Users> load_users_;                      // by resource: a bit a device of the plan
  std::vector<std::optional<std::size_t>> number_of_;  // by memory: of a device, in the plan
  struct Device {
    Seconds load{0};                   // when its kernels so far are done
    Seconds busy{0}, busy_aligned{0};  // as it is, and were all operands well aligned
    bool slows_down = false;           // whether any of its kernels does, under load
  };
  std::vector<Device> devices_;
  PlanKernelCosts kernels_;
  IssueClock issue_;
  std::vector<Sides> sides_;  // by group
};

}  // namespace

Estimate estimate_plan(const Plan& plan, const Topology& topology, const Resources& resources) {
  return Pass{plan, topology, resources}.run();
}

}  // namespace tilerail
