#include "cost/issue_clock.hpp"

#include <algorithm>

#include "plan/shared_streams.hpp"

namespace tilerail {
namespace {

bool tells_by_shape(const Topology& topology) {
  const auto of_shape = [](const TiledGemm::Shape& shape) { return shape.issue.has_value(); };
  const auto of_curve = [&](const GemmCurve& curve) {
    return curve.tiled && std::ranges::any_of(curve.tiled->shapes, of_shape);
  };
  return std::ranges::any_of(topology.description().kernels,
                             [&](const KernelTimes& kernels) { return std::ranges::any_of(kernels.gemm, of_curve); });
}

}  // namespace

IssueClock::IssueClock(const Plan& plan, const Topology& topology, Hands hands)
    : plan_{plan},
      topology_{topology},
      hands_{hands},
      graph_{hands == Hands::of_plan ? graph_cost(plan, topology) : nullptr},
      waits_{plan, topology},
      kernels_{topology},
      by_shape_{tells_by_shape(topology)},
      thread_(topology.memories().size(), graph_ ? Seconds{0}
                                          : hands == Hands::threads
                                              ? topology.description().issue.per_call
                                              : topology.description().issue.per_call + plan.runtime.call),
      launching_{graph_ ? graph_->per_call : Seconds{0}} {}

Seconds IssueClock::in_graph(const Op& op, const std::vector<OpId>& waits, MemoryId device) {
  const auto moves = [&](const Op& o) { return plan_.queue(o.queue).src != plan_.queue(o.queue).dst; };
  const auto crosses = [&](OpId other) {
    const Op& before = plan_.op(other);
    return moves(op) || moves(before) || stream_owner(plan_.queue(before.queue), topology_) != device;
  };
  launching_ += graph_->per_dependency * double(std::ranges::count_if(waits, crosses));
  (moves(op) ? launching_ : thread_[device.index()]) += moves(op) ? graph_->per_copy : graph_->per_kernel;
  return launching_ + thread_[device.index()];
}

Seconds IssueClock::by_thread(const Op& op, size_t waits) {
  const IssueCost& cost = topology_.description().issue;
  const auto of_op = [&] {
    if (!is_kernel(op.kind)) return cost.per_op;
    if (!by_shape_ || op.kind != OpKind::gemm) return cost.of_kernels();
    return kernels_.of(plan_, op, plan_.buffer(op.y.buffer).memory).issue.value_or(cost.of_kernels());
  };
  const Seconds library = hands_ == Hands::threads ? Seconds{0} : runtime_cost(plan_, op, topology_);
  return library + of_op() + cost.per_dependency * double(waits);
}

Seconds IssueClock::issue(OpId id) {
  const Op& op = plan_.op(id);
  const std::vector<OpId>& waits = waits_.before(id);
  const MemoryId device = stream_owner(plan_.queue(op.queue), topology_);
  if (graph_) return in_graph(op, waits, device);
  Seconds& thread = thread_[plan_.single_issuer ? 0 : device.index()];
  return thread += by_thread(op, waits.size());
}

}  // namespace tilerail
