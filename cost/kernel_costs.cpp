#include "cost/kernel_costs.hpp"

#include <unordered_map>

#include "model/base/indices.hpp"
#include "model/kernels/gemm_parts.hpp"

namespace tilerail {
namespace {

/// The largest power of two, most_alignment at most, that divides where the operands of a GEMM start and how far their
/// columns are apart, in bytes.
uint8_t alignment_of(const Plan& plan, const Op& op) {
  uint64_t all = most_alignment;
  for (const View* view : {&op.a, &op.b, &op.y}) {
    const Buffer& buffer = plan.buffer(view->buffer);
    all |= uint64_t(view->row * buffer.element());
    if (view->cols > 1) all |= uint64_t(buffer.ld * buffer.element());
  }
  return uint8_t(all & (~all + 1));
}

/// Whether this is a copy within a device, which reads and writes at a rate that the machine knows.
bool is_copying_kernel(const Plan& plan, const Op& op, const Topology& topology) {
  if (op.kind != OpKind::copy) return false;
  const Queue& queue = plan.queue(op.queue);
  return queue.src == queue.dst && !topology.is_host(queue.dst) &&
         topology.kernels_of(queue.dst).memory_bandwidth.has_value();
}

}  // namespace

size_t KernelCosts::ShapeHash::operator()(const Shape& s) const {
  uint64_t hash = 0;
  for (auto part :
       {uint64_t(s.m), uint64_t(s.n), uint64_t(s.k),
        uint64_t{s.kernels} << 32 | uint64_t(s.kind) << 24 | uint64_t(s.dtype) << 20 | uint64_t{s.alignment} << 8 |
            uint64_t{s.reads} << 4 | uint64_t(s.trans_a) << 1 | uint64_t(s.trans_b)})
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u + (hash >> 29);  // odd multiplier of Fibonacci hashing, 2^64 / phi
  return size_t(hash);
}

/// Badly aligned, or in the parts that avoid it.
KernelCost KernelCosts::gemm_cost(const Shape& s) const {
  const KernelTimes& kernels = times(s);
  const auto whole = [&](int64_t m, int64_t n, int64_t k) {
    KernelCost cost;
    if (in_graph_) {
      const auto [time, share] = kernels.gemm_in_graph(m, n, k, s.dtype, s.trans_a, s.trans_b);
      cost.time = time, cost.share = share;
    } else {
      cost.time = kernels.gemm_time(m, n, k, s.dtype, s.trans_a, s.trans_b);
      cost.share = kernels.gemm_occupancy(m, n, k, s.dtype, s.trans_a, s.trans_b);
    }
    cost.issue = kernels.gemm_issue(m, n, k, s.dtype, s.trans_a, s.trans_b);
    return cost;
  };
  if (s.m == 1 || s.n == 1) return whole(s.m, s.n, s.k);  // bound by memory, however it is aligned
  const int64_t of_columns = column_alignment(s.dtype, s.trans_a, s.trans_b, s.m, s.n, s.k);
  const auto alignment = double(std::min<int64_t>(s.alignment, of_columns));
  const double slack = kernels.alignment_factor(s.dtype, s.trans_a, s.trans_b, alignment);
  const GemmParts parts = gemm_parts(s.dtype, s.trans_a, s.trans_b, s.m, s.n, s.k);
  if (slack == 1 || s.alignment < loaded_word || parts.size() == 1) {
    const KernelCost cost = whole(s.m, s.n, s.k);
    return {slack * cost.time, cost.share, slack, true, cost.issue};
  }
  Seconds sum{0}, filled{0}, issue{0};
  for (const GemmPart& part : parts) {
    const KernelCost cost = whole(part.m, part.n, part.k);
    sum += cost.time, filled += cost.time * cost.share;
    issue += cost.issue.value_or(topology_->description().issue.of_kernels());
  }
  return {sum, filled / sum, 1, true, issue};
}

/// Nobody has measured these kinds: their operations at the rate of a GEMM of the same sizes.
KernelCost KernelCosts::unmeasured_cost(const Shape& s, const Op& op) const {
  const double of_gemm = 2 * double(s.m) * double(s.n) * double(s.k);
  const double part = of_gemm > 0 ? op_flops(op).value / of_gemm : 0;
  return {part * times(s).gemm_time(s.m, s.n, s.k, s.dtype, Trans::no, Trans::no),
          times(s).gemm_occupancy(s.m, s.n, s.k, s.dtype, Trans::no, Trans::no)};
}

KernelCost KernelCosts::cost_of(const Shape& s, const Op& op) const {
  if (s.kind == OpKind::gemm) return gemm_cost(s);
  if (s.kind != OpKind::axpby && s.kind != OpKind::copy) return unmeasured_cost(s, op);
  return {times(s).axpby_time(s.m, s.n, s.dtype, s.reads, 1), times(s).axpby_occupancy(s.m, s.n, s.dtype, s.reads, 1)};
}

KernelCosts::Shape KernelCosts::shape_of(const Plan& plan, const Op& op, MemoryId gpu) const {
  Shape shape{op.y.rows, op.y.cols,     op.y.cols, uint32_t(topology_->memory(gpu).kernels),
              op.kind,   Trans::no,     Trans::no, plan.buffer(op.y.buffer).dtype,
              0,         most_alignment};
  if (op.kind == OpKind::gemm) {
    shape.k = op.trans_a == Trans::no ? op.a.cols : op.a.rows;
    shape.trans_a = op.trans_a;
    shape.trans_b = op.trans_b;
    shape.alignment = alignment_of(plan, op);
  } else if (op.kind == OpKind::syrk) {
    shape.k = op.a.cols;
  } else {
    shape.reads = uint8_t((reads_a(op) ? 1 : 0) + (reads_y(op) ? 1 : 0));
  }
  return shape;
}

uint32_t KernelCosts::index_of(const Plan& plan, const Op& op, MemoryId gpu) {
  const Shape shape = shape_of(plan, op, gpu);
  if (last_ && last_->first == shape) return last_->second;
  auto entry = known_.find(shape);
  if (entry == known_.end()) {
    costs_.push_back(cost_of(shape, op));  // which throws where the GPU has no times
    entry = known_.emplace(shape, uint32_t(costs_.size() - 1)).first;
  }
  last_ = *entry;
  return entry->second;
}

const KernelCost& KernelCosts::of(const Plan& plan, const Op& op, MemoryId gpu) {
  return costs_[index_of(plan, op, gpu)];
}

Seconds product_time(const KernelTimes& kernels, const GemmProblem& p, int64_t m, int64_t n, int64_t k) {
  return p.routine == Routine::axpy ? kernels.axpby_time(m, n, p.dtype, p.beta == 0 ? 1 : 2, 1)
                                    : kernels.gemm_time(m, n, k, p.dtype, p.trans_a, p.trans_b);
}

double load_factor(const Plan& plan, const Topology& topology, MemoryId gpu, double duty, Seconds time,
                   double calls_before) {
  const GemmProblem& p = plan.problem;
  const KernelTimes& kernels = topology.kernels_of(gpu);
  if (!kernels.knows(p.dtype, p.trans_a, p.trans_b)) return 1;
  return kernels.curve(p.dtype, p.trans_a, p.trans_b).load_factor(duty, time, calls_before);
}

const GraphCost* cost_as_graph(const Plan& plan, const Topology& topology) {
  const auto& cost = topology.description().issue.graph;
  const RuntimeCosts& library = plan.runtime;
  const bool emulates = library.task + library.request + library.peer + library.call > Seconds{0};
  return cost && !emulates && plan.ops.size() <= most_graph_operations ? &*cost : nullptr;
}

const GraphCost* graph_cost(const Plan& plan, const Topology& topology) {
  return plan.graph ? cost_as_graph(plan, topology) : nullptr;
}

PlanKernelCosts::PlanKernelCosts(const Plan& plan, const Topology& topology)
    : PlanKernelCosts{plan, topology, graph_cost(plan, topology) != nullptr} {}

PlanKernelCosts::PlanKernelCosts(const Plan& plan, const Topology& topology, bool in_graph)
    : costs_{topology, in_graph}, index_(plan.ops.size(), none) {
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    const MemoryId memory = plan.buffer(op.y.buffer).memory;
    if (!is_kernel(op.kind) && !is_copying_kernel(plan, op, topology)) continue;
    index_[i] = costs_.index_of(plan, op, memory);
    total_ += costs_.costs_[index_[i]].time;
  }
}

}  // namespace tilerail
