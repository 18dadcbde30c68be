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
  /// An operation counts as one of two inputs and a result, if it has fewer: the absent
  /// ones are empty views.
  void add(const Op& op, Views operands) {
    add(int(op.kind) * 4 + int(op.trans_a) * 2 + int(op.trans_b), op.queue);
    for (size_t i = 0; i + 1 < std::max<size_t>(operands.size(), 3); ++i)
      add(i + 1 < operands.size() ? operands[i] : View{});
    add(operands.empty() ? View{} : operands.back());
    add(int(op.alpha) * 4 + int(op.beta));
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
  void add_one(const std::string& text) {
    add_one(text.size());
    for (const char c : text) add_one(static_cast<unsigned char>(c));
  }
  template <class Tag>
  void add_one(Id<Tag> id) {
    add_one(id.value);
  }
  void add_one(const View& v) { add(v.buffer, v.row, v.col, v.rows, v.cols); }
  void add_one(const Queue& q) { add(q.kind, q.src, q.dst, q.index); }
  void add_one(const Buffer& b) {
    add(b.kind, b.memory, b.rows, b.cols, b.ld, b.offset, b.dtype);
  }

  uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace

MemoryId Plan::device_of(const Op& op, const Topology& topology) const {
  const Queue& q = queue(op.queue);
  return topology.is_host(q.dst) ? q.src : q.dst;
}

double Plan::value(Scalar scalar) const {
  return std::array{0.0, 1.0, problem.alpha, problem.beta}[size_t(scalar)];
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
  const GemmProblem& p = plan.problem;
  const RuntimeCosts& costs = plan.runtime;
  Hash hash;
  hash.add(p.routine, p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.dtype, p.trans_a, p.trans_b,
           p.alpha, p.beta);
  hash.add(p.place_a, p.place_b, p.place_c, plan.machine);
  hash.add_all(plan.memories);
  hash.add(plan.policy, plan.tile, plan.single_issuer);
  if (plan.graph) hash.add("graph");
  if (plan.warm) hash.add("warm");
  if (costs != RuntimeCosts{})
    hash.add(costs.task, costs.request, costs.peer, costs.call);
  if (costs.duplex) hash.add(1);
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
