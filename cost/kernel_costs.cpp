#include "cost/kernel_costs.hpp"

#include <unordered_map>

#include "model/kernels/gemm_parts.hpp"

namespace tilerail {
namespace {

/// Everything that the time of a kernel depends on, besides the plan's data type.
struct Shape {
  std::int64_t m, n, k;
  std::uint32_t kernels;
  OpKind kind;
  Trans trans_a, trans_b;
  std::uint8_t reads;
  std::uint8_t alignment;  // bytes that all columns start at multiples of

  bool operator==(const Shape&) const = default;
};

struct ShapeHash {
  std::size_t operator()(const Shape& s) const {
    std::uint64_t hash = 0;
    for (auto part : {static_cast<std::uint64_t>(s.m), static_cast<std::uint64_t>(s.n), static_cast<std::uint64_t>(s.k),
                      std::uint64_t{s.kernels} << 16 | std::uint64_t{s.alignment} << 8 | std::uint64_t{s.reads} << 4 |
                          static_cast<std::uint64_t>(s.kind) << 2 | static_cast<std::uint64_t>(s.trans_a) << 1 |
                          static_cast<std::uint64_t>(s.trans_b)})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15u + (hash >> 29);  // odd multiplier of Fibonacci hashing, 2^64 / phi
    return static_cast<std::size_t>(hash);
  }
};

/// The largest power of two, most_alignment at most, that divides where the operands of a GEMM start and how far their
/// columns are apart, in bytes.
std::uint8_t alignment_of(const Plan& plan, const Op& op) {
  const std::int64_t element = element_size(plan.problem.dtype);
  std::uint64_t all = most_alignment;
  for (const View* view : {&op.a, &op.b, &op.y}) {
    all |= static_cast<std::uint64_t>(view->row * element);
    if (view->cols > 1) all |= static_cast<std::uint64_t>(plan.buffer(view->buffer).ld * element);
  }
  return static_cast<std::uint8_t>(all & (~all + 1));
}

/// Badly aligned, or in the parts that avoid it.
KernelCost gemm_cost(const Shape& s, DType dtype, const KernelTimes& kernels) {
  const double share = kernels.gemm_occupancy(s.m, s.n, s.k, dtype, s.trans_a, s.trans_b);
  const auto seconds = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return kernels.gemm_time(m, n, k, dtype, s.trans_a, s.trans_b).value;
  };
  if (s.m == 1 || s.n == 1) return {seconds(s.m, s.n, s.k), share};  // bound by memory, however it is aligned
  const std::int64_t of_columns = column_alignment(dtype, s.trans_a, s.trans_b, s.m, s.n, s.k);
  const auto alignment = static_cast<double>(std::min<std::int64_t>(s.alignment, of_columns));
  const double slack = kernels.alignment_factor(dtype, s.trans_a, s.trans_b, alignment);
  const GemmParts parts{dtype, s.trans_a, s.trans_b, s.m, s.n, s.k};
  if (slack == 1 || s.alignment < loaded_word || parts.all().size() == 1)
    return {slack * seconds(s.m, s.n, s.k), share, slack};
  KernelCost cost{0, share, 1};
  for (const GemmPart& part : parts.all()) cost.seconds += seconds(part.m, part.n, part.k);
  return cost;
}

Shape shape_of(const Plan& plan, const Op& op, const Topology& topology) {
  const MemoryId gpu = plan.buffer(op.y.buffer).memory;
  Shape shape{op.y.rows,     op.y.cols, 0,         static_cast<std::uint32_t>(topology.memory(gpu).kernels),
              op.kind,       Trans::no, Trans::no, 0,
              most_alignment};
  if (op.kind == OpKind::gemm) {
    shape.k = op.trans_a == Trans::no ? op.a.cols : op.a.rows;
    shape.trans_a = op.trans_a;
    shape.trans_b = op.trans_b;
    shape.alignment = alignment_of(plan, op);
  } else {
    shape.reads = static_cast<std::uint8_t>((op.alpha != 0 ? 1 : 0) + (op.beta != 0 ? 1 : 0));
  }
  return shape;
}

KernelCost cost_of(const Shape& s, DType dtype, const KernelTimes& kernels) {
  if (s.kind == OpKind::gemm) return gemm_cost(s, dtype, kernels);
  return {kernels.axpby_time(s.m, s.n, dtype, s.reads, 1).value, kernels.occupancy(s.m, s.n)};
}

}  // namespace

double load_factor(const Plan& plan, const Topology& topology, MemoryId gpu, double duty) {
  const GemmProblem& p = plan.problem;
  if (p.routine != Routine::gemm || p.k == 0 || p.alpha == 0) return 1;  // no GEMM
  return topology.kernels_of(gpu).load_factor(p.dtype, p.trans_a, p.trans_b, duty);
}

KernelCosts::KernelCosts(const Plan& plan, const Topology& topology) : index_(plan.ops.size()) {
  std::unordered_map<Shape, std::uint32_t, ShapeHash> known;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    if (op.kind != OpKind::gemm && op.kind != OpKind::axpby) continue;
    const Shape shape = shape_of(plan, op, topology);
    const auto [entry, is_new] = known.try_emplace(shape, static_cast<std::uint32_t>(costs_.size()));
    if (is_new) costs_.push_back(cost_of(shape, plan.problem.dtype, topology.description().kernels[shape.kernels]));
    index_[i] = entry->second;
    total_seconds_ += costs_[entry->second].seconds;
  }
}

}  // namespace tilerail
