#include "cost/kernel_costs.hpp"

#include <array>
#include <cmath>

#include "model/base/indices.hpp"
#include "model/kernels/gemm_parts.hpp"

namespace tilerail {
namespace {

/// The largest power of two, at most most_alignment, that divides the start and the
/// column distance, in bytes, of all operands of a GEMM.
uint64_t alignment_of(const Plan& plan, Views operands) {
  uint64_t all = most_alignment;
  for (const View& view : operands) {
    const Buffer& buffer = plan.buffer(view.buffer);
    all |= uint64_t(view.row * buffer.element());
    if (view.cols > 1) all |= uint64_t(buffer.ld * buffer.element());
  }
  return all & (~all + 1);
}

/// Whether this is a kernel, or a copy within a device with a known memory bandwidth.
bool is_computed(const Plan& plan, const Op& op, const Topology& topology) {
  const Queue& queue = plan.queue(op.queue);
  if (op.kind != OpKind::copy) return is_kernel(op.kind);
  return queue.src == queue.dst && topology.computes(queue.dst) &&
         topology.kernels_of(queue.dst).memory_bandwidth;
}

/// Costs of submitting this plan as one graph, whatever its options; null if no
/// simulation treats it as one.
const GraphCost* cost_as_graph(const Plan& plan, const Topology& topology) {
  const auto& cost = topology.description().issue.graph;
  const RuntimeCosts& library = plan.runtime;
  const bool emulates =
      library.task + library.request + library.peer + library.call > Seconds{0};
  return cost && !emulates && plan.ops.size() <= most_graph_operations ? &*cost : nullptr;
}

}  // namespace

/// The whole GEMM with badly aligned operands, or its parts that avoid them.
KernelCost KernelCosts::gemm_cost(const Shape& s) const {
  const KernelTimes& kernels = times(s);
  const auto whole = [&](int64_t m, int64_t n, int64_t k) -> KernelCost {
    const auto get = [&](auto figure) {
      return (kernels.*figure)(m, n, k, s.dtype, s.trans_a, s.trans_b);
    };
    const auto issue = get(&KernelTimes::gemm_issue);
    if (!in_graph_)
      return {get(&KernelTimes::gemm_time), get(&KernelTimes::gemm_occupancy), 1, false,
              issue};
    const auto [time, share] = get(&KernelTimes::gemm_in_graph);
    return {time, share, 1, false, issue};
  };
  if (s.m == 1 || s.n == 1)
    return whole(s.m, s.n, s.k);  // memory-bound: alignment does not matter
  const int64_t of_columns =
      column_alignment(s.dtype, s.trans_a, s.trans_b, s.m, s.n, s.k);
  const double alignment = std::min(double(s.alignment), double(of_columns));
  const double slack = kernels.alignment_factor(s.dtype, s.trans_a, s.trans_b, alignment);
  const GemmParts parts = gemm_parts(s.dtype, s.trans_a, s.trans_b, s.m, s.n, s.k);
  if (slack == 1 || s.alignment < loaded_word || parts.size() == 1) {
    const KernelCost cost = whole(s.m, s.n, s.k);
    return {slack * cost.time, cost.share, slack, true, cost.issue};
  }
  Seconds sum{0}, filled{0}, issue{0};
  for (const GemmPart& part : parts) {
    const KernelCost cost = whole(part.m, part.n, part.k);
    sum += cost.time;
    filled += cost.time * cost.share;
    issue += cost.issue.value_or(topology_.description().issue.of_kernels());
  }
  return {sum, filled / sum, 1, true, issue};
}

/// Of square tiles with as many operations. Kinds that nobody has measured are estimated
/// at the rate of a GEMM of their sizes.
KernelCost KernelCosts::tile_cost(const Shape& s) const {
  const KernelTimes& kernels = times(s);
  const double of_gemm = 2 * double(s.m) * double(s.n) * double(s.k);
  if (of_gemm == 0) return {};
  constexpr View unit{{}, 0, 0, 1, 1};
  constexpr std::array units{unit, unit, unit, unit};
  const double side = std::cbrt(s.flops / op_flops({.kind = s.kind}, units));
  const GemmCurve& curve = kernels.curve(s.dtype, Trans::no, Trans::no);
  if (const auto time = curve.tile_time(*tile_kernel(s.kind), side)) {
    const Seconds at_peak = s.flops / kernels.peak(s.dtype, Trans::no, Trans::no);
    return {*time, std::min(1.0, at_peak / *time)};
  }
  const Seconds time = kernels.gemm_time(s.m, s.n, s.k, s.dtype, Trans::no, Trans::no);
  return {.time = s.flops.value / of_gemm * time,
          .share = kernels.gemm_occupancy(s.m, s.n, s.k, s.dtype, Trans::no, Trans::no),
          .is_estimate = true};
}

KernelCost KernelCosts::cost_of(const Shape& s) const {
  if (s.kind == OpKind::gemm) return gemm_cost(s);
  if (tile_kernel(s.kind)) return tile_cost(s);
  return {times(s).axpby_time(s.m, s.n, s.dtype, s.reads, 1),
          times(s).axpby_occupancy(s.m, s.n, s.dtype, s.reads, 1)};
}

KernelCosts::Shape KernelCosts::shape_of(const Plan& plan, const Op& op, Views operands,
                                         MemoryId gpu) const {
  const View& y = operands.back();
  const DType of_a = plan.buffer(operands[0].buffer).dtype,
              dtype = op.kind == OpKind::gemm ? of_a : plan.buffer(y.buffer).dtype;
  Shape shape{y.rows, y.cols, y.cols, topology_.processor(gpu).kernels, op.kind, dtype};
  if (op.kind == OpKind::gemm) {
    shape.k = gemm_depth(op, operands);
    shape.trans_a = op.trans_a;
    shape.trans_b = op.trans_b;
    shape.alignment = alignment_of(plan, operands);
  } else if (tile_kernel(op.kind)) {
    if (op.kind == OpKind::syrk) shape.k = operands[0].cols;
    if (op.kind == OpKind::ormqr || op.kind == OpKind::tsmqr) shape.k = operands[1].cols;
    shape.flops = op_flops(op, operands);
  } else {
    for (const auto i : indices(operands)) shape.reads += int(reads(op, i));
    shape.reads += int(of_a != dtype);  // a sum has twice the bytes of the half
  }
  return shape;
}

const KernelCost& KernelCosts::of(const Plan& plan, const Op& op, Views operands,
                                  MemoryId gpu) {
  const Shape shape = shape_of(plan, op, operands, gpu);
  if (last_ && last_->first == shape) return last_->second;
  auto known = known_.find(shape);
  if (known == known_.end()) known = known_.emplace(shape, cost_of(shape)).first;
  last_ = &*known;
  return known->second;
}

std::set<std::string_view> KernelCosts::estimated() const {
  std::set<std::string_view> kinds;
  for (const auto& [shape, cost] : known_)
    if (cost.is_estimate) kinds.insert(to_string(shape.kind));
  return kinds;
}

Seconds product_time(const KernelTimes& kernels, const GemmProblem& p, int64_t m,
                     int64_t n, int64_t k) {
  if (p.routine == Routine::axpy)
    return kernels.axpby_time(m, n, p.dtype, p.beta == 0 ? 1 : 2, 1);
  return kernels.gemm_time(m, n, k, p.dtype, p.trans_a, p.trans_b);
}

GemmProblem typical_product(const Plan& plan) {
  if (const auto* gemm = std::get_if<GemmProblem>(&plan.problem)) return *gemm;
  GemmProblem product;
  product.dtype = plan.dtype();
  return product;
}

double load_factor(const Plan& plan, const Topology& topology, MemoryId gpu, double duty,
                   Seconds time, double calls_before) {
  const GemmProblem p = typical_product(plan);
  const KernelTimes& kernels = topology.kernels_of(gpu);
  if (!kernels.has_times(p.dtype, p.trans_a, p.trans_b)) return 1;
  return kernels.curve(p.dtype, p.trans_a, p.trans_b)
      .load_factor(duty, time, calls_before);
}

const GraphCost* graph_cost(const Plan& plan, const Topology& topology) {
  return plan.graph ? cost_as_graph(plan, topology) : nullptr;
}

PlanKernelCosts::PlanKernelCosts(const Plan& plan, const Topology& topology,
                                 bool as_graph)
    : costs_{topology,
             (as_graph ? cost_as_graph : graph_cost)(plan, topology) != nullptr} {
  for (const Op& op : plan.ops) {
    const bool computes = is_computed(plan, op, topology);
    of_op_.push_back(
        computes ? &costs_.of(plan, op, plan.operands_of(op), plan.queue(op.queue).dst)
                 : nullptr);
    if (computes) total_ += of_op_.back()->time;
  }
}

}  // namespace tilerail
