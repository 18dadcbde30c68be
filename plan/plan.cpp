#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace tilerail {
namespace {

/// FNV-1a, 64 bits, over 8-byte words: order-sensitive and the same on every machine.
class Hash {
 public:
  template <class... Values>
  void add(const Values&... values) {
    (add_one(values), ...);
  }
  template <class Value>
  void add_all(const std::vector<Value>& values) {
    for (const Value& value : values) add_one(value);
  }
  /// A problem without what its tensors say.
  void add(const GemmProblem& p) {
    add(p.routine, p.m, p.n, p.k, p.trans_a, p.trans_b, p.alpha, p.beta);
  }
  void add(const FactorProblem& p) { add(p.kind); }
  void add(const Op& op, Views operands) {
    add(op.kind, op.trans_a, op.trans_b, op.queue, op.alpha, op.beta);
    for (const View& view : operands) add(view);
  }
  void add(const Layout& layout) {
    for (const LayoutCuts& cuts : {layout.row_cuts(), layout.col_cuts()}) {
      add(cuts.block);
      add_all(cuts.borders);
      add_all(cuts.coordinates);
    }
    add(layout.grid().rows, layout.grid().cols, layout.grid().replicas);
    for (const MemoryId member : layout.members()) add(member);
  }
  std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  template <class Number>
  requires std::is_integral_v<Number> || std::is_enum_v<Number>
  void add_one(Number v) {
    state_ ^= uint64_t(v);
    state_ *= 0x100000001b3ULL;
    state_ ^= state_ >> 29;
  }
  void add_one(double v) { add_one(std::bit_cast<uint64_t>(v)); }
  void add_one(Seconds v) { add_one(v.value); }
  template <class Tag>
  void add_one(Id<Tag> id) {
    add_one(id.value);
  }
  void add_one(const View& v) { add(v.buffer, v.row, v.col, v.rows, v.cols); }
  void add_one(const Tensor& t) {
    add(t.rows, t.cols, t.ld, t.dtype, t.use);
    add(t.layout);
  }
  void add_one(const Queue& q) { add(q.kind, q.src, q.dst, q.index); }
  void add_one(const Buffer& b) {
    add(b.tensor, b.in_arena, b.memory, b.row, b.col, b.rows, b.cols, b.ld, b.offset,
        b.dtype);
  }

  uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace

MemoryId Plan::device_of(const Op& op, const Topology& topology) const {
  const Queue& q = queue(op.queue);
  return topology.is_host(q.dst) ? q.src : q.dst;
}

double Plan::value(Scalar scalar) const {
  const auto* gemm = std::get_if<GemmProblem>(&problem);
  return std::array{0.0, 1.0, -1.0, gemm ? gemm->alpha : 1,
                    gemm ? gemm->beta : 1}[size_t(scalar)];
}

Bytes copy_bytes(const Plan& plan, const Op& op) {
  const View& moved = plan.result(op);
  return Bytes{double(moved.rows * moved.cols * plan.buffer(moved.buffer).element())};
}

Seconds runtime_cost(const Plan& plan, const Op& op, const Topology& topology) {
  if (is_kernel(op.kind)) return plan.runtime.task;
  const Queue& queue = plan.queue(op.queue);
  return topology.is_host(queue.src) || topology.is_host(queue.dst) ? plan.runtime.request
                                                                    : plan.runtime.peer;
}

Scalar scalar_of(double value, Scalar name) { return value == 0 ? Scalar::zero : name; }

std::string content_hash(const Plan& plan) {
  const RuntimeCosts& costs = plan.runtime;
  Hash hash;
  hash.add(plan.problem.index());
  std::visit([&](const auto& problem) { hash.add(problem); }, plan.problem);
  hash.add_all(plan.tensors);
  hash.add(plan.tile, plan.single_issuer, plan.graph, plan.warm);
  hash.add(costs.task, costs.request, costs.peer, costs.call, costs.duplex);
  hash.add_all(plan.devices);
  hash.add_all(plan.queues);
  hash.add_all(plan.buffers);
  for (const Op& op : plan.ops) hash.add(op, plan.operands_of(op));
  hash.add_all(plan.dep_begin);
  hash.add_all(plan.deps);
  hash.add_all(plan.peak_bytes);
  return hash.hex();
}

}  // namespace tilerail
