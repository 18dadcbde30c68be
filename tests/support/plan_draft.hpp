#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/builder.hpp"

namespace tilerail {

/// Builds a plan by hand, operation by operation, without a policy.
class PlanDraft {
 public:
  /// Adds the problem's matrices as buffers.
  PlanDraft(const Topology& topology, const GemmProblem& problem);
  /// For operations on tiles of one type, without a problem and matrices.
  explicit PlanDraft(const Topology& topology, DType dtype = DType::f64);

  QueueId compute_queue(MemoryId gpu, int index = 0);
  QueueId copy_queue(MemoryId src, MemoryId dst, int index = 0);

  View a() const { return whole(BufferId{0}); }
  View b() const { return whole(BufferId{1}); }
  View c() const { return whole(BufferId{2}); }
  /// Packed, after the previous tiles, aligned to 64 bytes.
  View tile(MemoryId memory, int64_t rows, int64_t cols);
  /// The same for a copy or a new value of this block.
  View tile_for(MemoryId memory, const View& block);
  /// At `offset` bytes from the start of the memory's tiles, regardless of others;
  /// columns are `ld` elements apart.
  View tile_at(MemoryId memory, int64_t offset, int64_t rows, int64_t cols, int64_t ld);

  struct Scalars {
    Scalar alpha = Scalar::one, beta = Scalar::zero;
  };
  using Deps = std::vector<OpId>;
  OpId copy(QueueId queue, const View& from, const View& to, const Deps& deps = {});
  /// Uses the problem's transposes.
  OpId gemm(QueueId queue, const View& a, const View& b, const View& y, Scalars scalars,
            const Deps& deps = {});
  OpId axpby(QueueId queue, const View& x, const View& y, Scalars scalars,
             const Deps& deps = {});
  OpId join(QueueId queue, const Deps& deps);
  /// Any operation, with any operands.
  OpId add(Op op, const Operands& operands, const Deps& deps = {});

  Plan plan;

 private:
  View whole(BufferId buffer) const;
  QueueId queue(const Queue& queue);
};

inline PlanDraft::PlanDraft(const Topology& topology, const GemmProblem& problem)
    : plan{empty_plan(checked(problem), topology)} {
  plan.policy = "by-hand";
  plan.devices = topology.gpus();
  for (const TensorId tensor : {tensor_a, tensor_b, tensor_c})
    for (const Buffer& buffer : tensor_buffers(plan, tensor))
      plan.buffers.push_back(buffer);
}

inline PlanDraft::PlanDraft(const Topology& topology, DType dtype) {
  GemmProblem none;
  none.dtype = dtype;
  none.place_a = none.place_b = none.place_c = topology.hosts().front();
  plan = empty_plan(none, topology);
  plan.policy = "by-hand";
  plan.devices = topology.gpus();
}

inline QueueId PlanDraft::queue(const Queue& wanted) {
  const auto same = [&](const Queue& q) {
    return q.kind == wanted.kind && q.src == wanted.src && q.dst == wanted.dst &&
           q.index == wanted.index;
  };
  const auto found = std::ranges::find_if(plan.queues, same);
  const QueueId id{size_t(found - plan.queues.begin())};
  if (found == plan.queues.end()) plan.queues.push_back(wanted);
  return id;
}

inline QueueId PlanDraft::compute_queue(MemoryId gpu, int index) {
  return queue({Queue::Kind::compute, gpu, gpu, index});
}

inline QueueId PlanDraft::copy_queue(MemoryId src, MemoryId dst, int index) {
  return queue({Queue::Kind::copy, src, dst, index});
}

inline View PlanDraft::whole(BufferId buffer) const {
  return {buffer, 0, 0, plan.buffer(buffer).rows, plan.buffer(buffer).cols};
}

inline View PlanDraft::tile(MemoryId memory, int64_t rows, int64_t cols) {
  constexpr int64_t alignment = 64;
  const int64_t behind = plan.peak_bytes[memory.index()];
  return tile_at(memory, (behind + alignment - 1) / alignment * alignment, rows, cols,
                 rows);
}

inline View PlanDraft::tile_for(MemoryId memory, const View& block) {
  const View made = tile(memory, block.rows, block.cols);
  const Buffer& of = plan.buffer(block.buffer);
  Buffer& buffer = plan.buffers.back();
  buffer.tensor = of.tensor, buffer.row = of.row + block.row;
  buffer.col = of.col + block.col;
  return made;
}

inline View PlanDraft::tile_at(MemoryId memory, int64_t offset, int64_t rows,
                               int64_t cols, int64_t ld) {
  Buffer buffer;
  buffer.tensor = tensor_c, buffer.dtype = plan.dtype();
  buffer.memory = memory, buffer.offset = offset;
  buffer.rows = rows, buffer.cols = cols, buffer.ld = std::max<int64_t>(1, ld);
  assert(memory.index() < plan.peak_bytes.size());
  int64_t& peak = plan.peak_bytes[memory.index()];
  peak = std::max(peak, offset + buffer.ld * cols * buffer.element());
  plan.buffers.push_back(buffer);
  return whole(BufferId{plan.buffers.size() - 1});
}

inline View& add_operand(Plan& plan, const View& view) {
  plan.operands.push_back(uint32_t(plan.views.size()));
  return plan.views.emplace_back(view);
}

inline OpId PlanDraft::add(Op op, const Operands& operands, const Deps& deps) {
  op.first = uint32_t(plan.operands.size());
  for (const View& view : operands) add_operand(plan, view);
  plan.ops.push_back(op);
  plan.deps.insert(plan.deps.end(), deps.begin(), deps.end());
  plan.dep_begin.push_back(uint32_t(plan.deps.size()));
  return OpId{plan.ops.size() - 1};
}

inline OpId PlanDraft::copy(QueueId queue, const View& from, const View& to,
                            const Deps& deps) {
  return add({.queue = queue}, {from, to}, deps);
}

inline OpId PlanDraft::gemm(QueueId queue, const View& a, const View& b, const View& y,
                            Scalars scalars, const Deps& deps) {
  return add({.kind = OpKind::gemm,
              .trans_a = plan.gemm().trans_a,
              .trans_b = plan.gemm().trans_b,
              .alpha = scalars.alpha,
              .beta = scalars.beta,
              .queue = queue},
             {a, b, y}, deps);
}

inline OpId PlanDraft::axpby(QueueId queue, const View& x, const View& y, Scalars scalars,
                             const Deps& deps) {
  return add({.kind = OpKind::axpby,
              .alpha = scalars.alpha,
              .beta = scalars.beta,
              .queue = queue},
             {x, y}, deps);
}

inline OpId PlanDraft::join(QueueId queue, const Deps& deps) {
  return add({.kind = OpKind::join, .queue = queue}, {}, deps);
}

/// An operand of an operation, to change it; by default the result.
inline View& operand(Plan& plan, size_t op, std::optional<size_t> i = {}) {
  const Op& of = plan.ops[op];
  const size_t at = i.value_or(plan.operands_of(of).size() - 1);
  const View shared = plan.operands_of(of)[at];
  plan.operands[of.first + at] = uint32_t(plan.views.size());
  return plan.views.emplace_back(shared);
}

/// Rows [row, row + rows) and columns [col, col + cols) of a view.
inline View part(const View& view, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  return {view.buffer, view.row + row, view.col + col, rows, cols};
}

}  // namespace tilerail
