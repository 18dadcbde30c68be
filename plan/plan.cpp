#include "plan/plan.hpp"

#include <bit>
#include <cstdio>
#include <cstring>

namespace tilerail {
namespace {

/// FNV-1a, 64 bits, over 8-byte words: order-sensitive and the same on every machine.
class Hash {
 public:
  void add(uint64_t word) {
    state_ ^= word;
    state_ *= 0x100000001b3ULL;
    state_ ^= state_ >> 29;
  }
  void add(int64_t v) { add(uint64_t(v)); }
  void add(double v) { add(std::bit_cast<uint64_t>(v)); }
  void add(const std::string& text) {
    add(uint64_t(text.size()));
    for (const char c : text) add(uint64_t(static_cast<unsigned char>(c)));
  }
  template <class Tag>
  void add(Id<Tag> id) {
    add(int64_t(id.value));
  }
  void add(const View& v) {
    add(v.buffer);
    for (const int64_t x : {v.row, v.col, v.rows, v.cols}) add(x);
  }
  std::string hex() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
    return text;
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325ULL;
};

void add_problem(Hash& hash, const GemmProblem& p) {
  hash.add(int64_t(p.routine));
  for (const int64_t v : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc}) hash.add(v);
  hash.add(int64_t(p.dtype));
  hash.add(int64_t(p.trans_a));
  hash.add(int64_t(p.trans_b));
  hash.add(p.alpha);
  hash.add(p.beta);
  for (const MemoryId place : {p.place_a, p.place_b, p.place_c}) hash.add(place);
}

}  // namespace

MemoryId Plan::device_of(const Op& op, const Topology& topology) const {
  const Queue& q = queue(op.queue);
  return topology.is_host(q.dst) ? q.src : q.dst;
}

double Plan::value(Scalar scalar) const {
  switch (scalar) {
    case Scalar::zero:
      return 0;
    case Scalar::one:
      return 1;
    case Scalar::alpha:
      return problem.alpha;
    case Scalar::beta:
      return problem.beta;
  }
  return 0;
}

Bytes copy_bytes(const Plan& plan, const Op& op) {
  return Bytes{double(op.y.rows * op.y.cols * plan.buffer(op.y.buffer).element())};
}

Seconds runtime_cost(const Plan& plan, const Op& op, const Topology& topology) {
  if (is_kernel(op.kind)) return plan.runtime.task;
  const Queue& queue = plan.queue(op.queue);
  return topology.is_host(queue.src) || topology.is_host(queue.dst) ? plan.runtime.request : plan.runtime.peer;
}

Scalar scalar_of(double value, Scalar name) { return value == 0 ? Scalar::zero : name; }

namespace {

void add_costs(Hash& hash, const RuntimeCosts& runtime) {
  if (runtime != RuntimeCosts{})
    for (const Seconds cost : {runtime.task, runtime.request, runtime.peer, runtime.call}) hash.add(cost.value);
  if (runtime.duplex) hash.add(int64_t{1});
}

void add_queue(Hash& hash, const Queue& queue) {
  hash.add(int64_t(queue.kind));
  hash.add(queue.src);
  hash.add(queue.dst);
  hash.add(int64_t(queue.index));
}

void add_buffer(Hash& hash, const Buffer& buffer) {
  hash.add(int64_t(buffer.kind));
  hash.add(buffer.memory);
  for (const int64_t value : {buffer.rows, buffer.cols, buffer.ld, buffer.offset}) hash.add(value);
  hash.add(int64_t(buffer.dtype));
}

void add_op(Hash& hash, const Op& op) {
  hash.add(int64_t(op.kind) * 4 + int64_t(op.trans_a) * 2 + int64_t(op.trans_b));
  hash.add(op.queue);
  for (const View& view : {op.a, op.b, op.y}) hash.add(view);
  hash.add(int64_t(op.alpha) * 4 + int64_t(op.beta));
}

}  // namespace

std::string content_hash(const Plan& plan) {
  Hash hash;
  add_problem(hash, plan.problem);
  hash.add(plan.machine);
  for (const std::string& name : plan.memories) hash.add(name);
  hash.add(plan.policy);
  hash.add(plan.tile);
  hash.add(int64_t(plan.single_issuer));
  if (plan.graph) hash.add(std::string{"graph"});
  if (plan.warm) hash.add(std::string{"warm"});
  add_costs(hash, plan.runtime);
  for (const MemoryId device : plan.devices) hash.add(device);
  for (const Queue& queue : plan.queues) add_queue(hash, queue);
  for (const Buffer& buffer : plan.buffers) add_buffer(hash, buffer);
  for (const Op& op : plan.ops) add_op(hash, op);
  for (const uint32_t begin : plan.dep_begin) hash.add(int64_t(begin));
  for (const OpId dep : plan.deps) hash.add(dep);
  for (const int64_t bytes : plan.peak_bytes) hash.add(bytes);
  return hash.hex();
}

}  // namespace tilerail
