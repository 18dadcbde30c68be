#include "sched/estimate.hpp"

#include <algorithm>

#include "sched/issue_clock.hpp"
#include "sched/kernel_costs.hpp"
#include "sched/strided_copy.hpp"

namespace tilerail {
namespace {

/// When every operation, queue, resource and device would be done, filled in issue order.
class Pass {
 public:
  Pass(const Plan& plan, const Topology& topology, const Resources& resources)
      : plan_{plan},
        topology_{topology},
        resources_{resources},
        ends_(plan.ops.size(), 0.0),
        queue_free_(plan.queues.size(), 0.0),
        load_(resources.count(), 0.0),
        devices_(topology.memories().size()),
        kernels_{plan, topology},
        issue_{plan, topology} {}

  Seconds run() {
    double last = 0;
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const Op& op = plan_.ops[i];
      double start = std::max(queue_free_[op.queue.index()], issue_.issue(OpId{i}));
      for (const OpId dep : plan_.deps_of(OpId{i})) start = std::max(start, ends_[dep.index()]);
      ends_[i] = op.kind == OpKind::join ? start : op.kind == OpKind::copy ? copy(op, start) : kernel(OpId{i}, start);
      queue_free_[op.queue.index()] = ends_[i];
      last = std::max(last, ends_[i]);
    }
    return Seconds{last * slowdown(last)};
  }

 private:
  /// Kernels on a device that is busy most of the time are slower, and so is what waits for them.
  double slowdown(double makespan) const {
    double most = 1;
    for (const MemoryId gpu : plan_.devices) {
      const double duty = makespan > 0 ? std::min(1.0, devices_[gpu.index()].busy / makespan) : 0;
      most = std::max(most, 1 + duty * (load_factor(plan_, topology_, gpu, duty) - 1));
    }
    return most;
  }

  double copy(const Op& op, double start) {
    const Queue& q = plan_.queue(op.queue);
    if (q.src == q.dst) return start;
    const double bytes = copy_bytes(plan_, op).value;
    const double efficiency = strided_efficiency(topology_, q.src, q.dst, copy_columns(plan_, op), plan_.devices);
    double end =
        start + resources_.latency(q.src, q.dst) + bytes * resources_.seconds_per_byte(q.src, q.dst) / efficiency;
    for (const auto& use : resources_.on(q.src, q.dst)) {
      double& load = load_[use.resource];
      load += bytes * use.seconds_per_byte;
      end = std::max(end, load);
    }
    return end;
  }

  double kernel(OpId id, double start) {
    const KernelCost& cost = kernels_.of(id);
    Device& device = devices_[plan_.queue(plan_.op(id).queue).dst.index()];
    device.load = std::max(device.load, start) + cost.seconds * cost.share;
    device.busy += cost.seconds * cost.share;
    return std::max(start + cost.seconds, device.load);
  }

  const Plan& plan_;
  const Topology& topology_;
  const Resources& resources_;
  std::vector<double> ends_, queue_free_, load_;
  struct Device {
    double load = 0;  // when its kernels so far are done
    double busy = 0;
  };
  std::vector<Device> devices_;
  KernelCosts kernels_;
  IssueClock issue_;
};

}  // namespace

Seconds estimate_makespan(const Plan& plan, const Topology& topology, const Resources& resources) {
  return Pass{plan, topology, resources}.run();
}

}  // namespace tilerail
