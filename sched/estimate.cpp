#include "sched/estimate.hpp"

#include <algorithm>

#include "sched/issue_clock.hpp"

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
        device_load_(topology.memories().size(), 0.0),
        issue_{plan, topology} {}

  Seconds run() {
    double last = 0;
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const Op& op = plan_.ops[i];
      double start = std::max(queue_free_[op.queue.index()], issue_.issue(OpId{i}));
      for (const OpId dep : plan_.deps_of(OpId{i})) start = std::max(start, ends_[dep.index()]);
      ends_[i] = op.kind == OpKind::join ? start : op.kind == OpKind::copy ? copy(op, start) : kernel(op, start);
      queue_free_[op.queue.index()] = ends_[i];
      last = std::max(last, ends_[i]);
    }
    return Seconds{last};
  }

 private:
  double copy(const Op& op, double start) {
    const Queue& q = plan_.queue(op.queue);
    if (q.src == q.dst) return start;
    const double bytes = copy_bytes(plan_, op).value;
    double end = start + resources_.latency(q.src, q.dst) + bytes * resources_.seconds_per_byte(q.src, q.dst);
    for (const auto& use : resources_.on(q.src, q.dst)) {
      double& load = load_[use.resource];
      load += bytes * use.seconds_per_byte;
      end = std::max(end, load);
    }
    return end;
  }

  double kernel(const Op& op, double start) {
    const MemoryId gpu = plan_.queue(op.queue).dst;
    const KernelTimes& times = topology_.kernels_of(gpu);
    const DType type = plan_.problem.dtype;
    const std::int64_t depth = op.trans_a == Trans::no ? op.a.cols : op.a.rows;
    const Seconds alone = op.kind == OpKind::gemm
                              ? times.gemm_time(op.y.rows, op.y.cols, depth, type, op.trans_a, op.trans_b)
                              : times.axpby_time(op.y.rows, op.y.cols, type, (op.alpha != 0) + (op.beta != 0), 1);
    double& load = device_load_[gpu.index()];
    load = std::max(load, start) + alone.value * times.occupancy(op.y.rows, op.y.cols);
    return std::max(start + alone.value, load);
  }

  const Plan& plan_;
  const Topology& topology_;
  const Resources& resources_;
  std::vector<double> ends_, queue_free_, load_, device_load_;
  IssueClock issue_;
};

}  // namespace

Seconds estimate_makespan(const Plan& plan, const Topology& topology, const Resources& resources) {
  return Pass{plan, topology, resources}.run();
}

}  // namespace tilerail
