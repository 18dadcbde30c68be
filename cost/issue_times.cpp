#include "cost/issue_times.hpp"

#include <algorithm>

#include "cost/copy_times.hpp"
#include "model/base/indices.hpp"
#include "plan/stream_waits.hpp"

namespace tilerail {
namespace {

constexpr double worth_it =
    0.4;  // from docs/experiments.md: plans measured as graphs and operation by operation

/// Whether the machine has submission costs by shape.
bool tells_by_shape(const Topology& topology) {
  const auto of_shape = [](const TiledGemm::Shape& shape) {
    return shape.issue.has_value();
  };
  const auto of_curve = [&](const GemmCurve& curve) {
    return curve.tiled && std::ranges::any_of(curve.tiled->shapes, of_shape);
  };
  return std::ranges::any_of(topology.description().kernels,
                             [&](const KernelTimes& kernels) {
                               return std::ranges::any_of(kernels.gemm, of_curve);
                             });
}

class SubmissionClock {
 public:
  /// Submission as `graph`; if null, operation by operation, with or without the overhead
  /// of an emulated library.
  SubmissionClock(const Plan& plan, const Topology& topology, const GraphCost* graph,
                  bool with_library)
      : plan_{plan}, topology_{topology}, graph_{graph}, with_library_{with_library} {
    Seconds per_call = cost_.per_call;
    if (with_library) per_call += plan.runtime.call;
    thread_.assign(topology.memories().size(), graph ? Seconds{0} : per_call);
    if (graph) launching_ = graph->per_call;
  }

  std::vector<Seconds> times() {
    StreamWaits waits{plan_, topology_};
    std::vector<Seconds> issued;
    for (const auto i : indices(plan_.ops)) {
      const Op& op = plan_.ops[i];
      const std::vector<OpId>& before = waits.before(OpId{i});
      const MemoryId device = stream_owner(plan_.queue(op.queue), topology_);
      issued.push_back(graph_ ? in_graph(op, before, device)
                              : by_thread(op, before.size(), device));
    }
    return issued;
  }

 private:
  Seconds in_graph(const Op& op, const std::vector<OpId>& waits, MemoryId device) {
    const auto moves = [&](const Op& o) {
      return plan_.queue(o.queue).src != plan_.queue(o.queue).dst;
    };
    const auto crosses = [&](OpId other) {
      const Op& before = plan_.op(other);
      return moves(op) || moves(before) ||
             stream_owner(plan_.queue(before.queue), topology_) != device;
    };
    Seconds& front_end = thread_[device.index()];
    launching_ += graph_->per_dependency * double(std::ranges::count_if(waits, crosses));
    if (moves(op))
      launching_ += graph_->per_copy;
    else
      front_end += graph_->per_kernel;
    return launching_ + front_end;
  }

  Seconds by_thread(const Op& op, size_t waits, MemoryId device) {
    Seconds takes = is_kernel(op.kind) ? of_kernel(op) : cost_.per_op;
    if (with_library_) takes = runtime_cost(plan_, op, topology_) + takes;
    Seconds& thread = thread_[plan_.single_issuer ? 0 : device.index()];
    return thread += takes + cost_.per_dependency * double(waits);
  }

  Seconds of_kernel(const Op& op) {
    if (!by_shape_ || op.kind != OpKind::gemm) return cost_.of_kernels();
    const KernelCost& kernel =
        kernels_.of(plan_, op, plan_.operands_of(op), plan_.queue(op.queue).dst);
    return kernel.issue.value_or(cost_.of_kernels());
  }

  const Plan& plan_;
  const Topology& topology_;
  const GraphCost* graph_;
  bool with_library_;
  const IssueCost& cost_ = topology_.description().issue;
  KernelCosts kernels_{topology_};
  bool by_shape_ = tells_by_shape(topology_);
  std::vector<Seconds> thread_;  // by device: its thread, or the front end that takes the
                                 // kernels of a graph
  Seconds launching_;            // host time for the graph so far
};

/// Simultaneous work of a device: kernels, and copies in each direction.
struct Work {
  Seconds kernels, in, out, peer;
};

/// The longest work of a device or of a stream of kernels, with the strided rate of each
/// copy.
Seconds longest_work(const Plan& plan, const Topology& topology) {
  const PlanKernelCosts kernels{plan, topology, true};
  std::vector<Work> works(topology.memories().size());
  std::vector<Seconds> streams(plan.queues.size());  // of kernels, one after another
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    const Queue& queue = plan.queue(op.queue);
    Work& work = works[stream_owner(queue, topology).index()];
    if (kernels.computes(OpId{i})) {
      const KernelCost& cost = kernels.of(OpId{i});
      work.kernels += cost.share * cost.time;
      streams[op.queue.index()] += cost.time;
    } else if (op.kind == OpKind::copy &&
               topology.has_route(queue.src,
                                  queue.dst)) {  // without a route the plan is invalid
      Seconds& copies = topology.is_host(queue.src)   ? work.in
                        : topology.is_host(queue.dst) ? work.out
                                                      : work.peer;
      const CopyShape shape{copy_columns(plan, op, topology)};
      copies += flow_time(plan, op, topology,
                          strided_efficiency(topology, queue.src, queue.dst, shape));
    }
  }
  Seconds longest = std::ranges::max(streams);
  for (const auto& [in_kernels, in, out, peer] : works)
    longest = std::max({longest, in_kernels, in, out, peer});
  return longest;
}

}  // namespace

std::vector<Seconds> issue_times(const Plan& plan, const Topology& topology) {
  const GraphCost* const graph = graph_cost(plan, topology);
  return SubmissionClock{plan, topology, graph, true}.times();
}

bool gains_as_graph(const Plan& plan, const Topology& topology) {
  if (plan.ops.empty() || plan.ops.size() > most_graph_operations) return false;
  if (std::ranges::any_of(plan.devices,
                          [&](MemoryId id) { return topology.is_host(id); }))
    return false;  // cores take part: host functions
  const std::vector<Seconds> issued =
      SubmissionClock{plan, topology, nullptr, false}.times();
  return std::ranges::max(issued) > worth_it * longest_work(plan, topology);
}

}  // namespace tilerail
