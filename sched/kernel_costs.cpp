#include "sched/kernel_costs.hpp"

#include <unordered_map>

namespace tilerail {
namespace {

/// Everything that the time of a kernel depends on, besides the plan's data type.
struct Shape {
  std::int64_t m, n, k;
  std::uint32_t kernels;
  OpKind kind;
  Trans trans_a, trans_b;
  std::uint8_t reads;
  std::uint8_t alignment;  // bytes that all columns are multiples of, 64 for more

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

std::uint64_t largest_power_of_two(std::uint64_t divides) { return divides & (~divides + 1); }

/// The largest power of two, 64 at most, that divides where the operands of a GEMM start and how far their columns are
/// apart, in bytes; and the length of their columns, unless these are whole words of the copies that kernels load with.
std::uint8_t alignment_of(const Plan& plan, const Op& op) {
  constexpr std::uint64_t word = 16;
  const std::int64_t element = element_size(plan.problem.dtype);
  std::uint64_t all = 64;
  for (const View* view : {&op.a, &op.b, &op.y}) {
    const auto rows = static_cast<std::uint64_t>(view->rows * element);
    if (rows % word != 0) all |= rows;
    all |= static_cast<std::uint64_t>(view->row * element);
    if (view->cols > 1) all |= static_cast<std::uint64_t>(plan.buffer(view->buffer).ld * element);
  }
  return static_cast<std::uint8_t>(largest_power_of_two(all));
}

Shape shape_of(const Plan& plan, const Op& op, const Topology& topology) {
  const MemoryId gpu = plan.buffer(op.y.buffer).memory;
  Shape shape{op.y.rows, op.y.cols, 0, static_cast<std::uint32_t>(topology.memory(gpu).kernels), op.kind, Trans::no,
              Trans::no, 0,         64};
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
  if (s.kind != OpKind::gemm)
    return {kernels.axpby_time(s.m, s.n, dtype, s.reads, 1).value, kernels.occupancy(s.m, s.n)};
  const double alignment = kernels.alignment_factor(dtype, s.trans_a, s.trans_b, s.alignment);
  const Seconds aligned = kernels.gemm_time(s.m, s.n, s.k, dtype, s.trans_a, s.trans_b);
  return {aligned.value * alignment, kernels.gemm_occupancy(s.m, s.n, s.k, dtype, s.trans_a, s.trans_b), alignment};
}

}  // namespace

double load_factor(const Plan& plan, const Topology& topology, MemoryId gpu, double duty) {
  const GemmProblem& p = plan.problem;
  if (p.k == 0 || p.alpha == 0) return 1;  // no GEMM
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
