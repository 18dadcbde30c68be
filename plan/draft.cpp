#include "plan/draft.hpp"

#include <algorithm>

#include "plan/builder.hpp"

namespace tilerail {

PlanDraft::PlanDraft(const Topology& topology, const GemmProblem& problem) {
  const GemmProblem p = checked(problem);
  plan_ = empty_plan(p, topology);
  plan_.policy = "by-hand";
  plan_.devices = topology.gpus();
  for (const Buffer::Kind matrix : {Buffer::Kind::matrix_a, Buffer::Kind::matrix_b, Buffer::Kind::matrix_c})
    plan_.buffers.push_back(matrix_buffer(p, matrix));
}

QueueId PlanDraft::queue(const Queue& wanted) {
  const auto same = [&](const Queue& q) {
    return q.kind == wanted.kind && q.src == wanted.src && q.dst == wanted.dst && q.index == wanted.index;
  };
  const auto found = std::find_if(plan_.queues.begin(), plan_.queues.end(), same);
  const QueueId id{static_cast<std::size_t>(found - plan_.queues.begin())};
  if (found == plan_.queues.end()) plan_.queues.push_back(wanted);
  return id;
}

QueueId PlanDraft::compute_queue(MemoryId gpu, int index) { return queue({Queue::Kind::compute, gpu, gpu, index}); }

QueueId PlanDraft::copy_queue(MemoryId src, MemoryId dst, int index) {
  return queue({Queue::Kind::copy, src, dst, index});
}

View PlanDraft::whole(BufferId buffer) const {
  return {buffer, 0, 0, plan_.buffer(buffer).rows, plan_.buffer(buffer).cols};
}

View PlanDraft::tile(MemoryId memory, std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t alignment = 64;
  std::int64_t& peak = plan_.peak_bytes[memory.index()];
  const std::int64_t offset = (peak + alignment - 1) / alignment * alignment;
  peak = offset + rows * cols * element_size(plan_.problem.dtype);
  plan_.buffers.push_back(
      {Buffer::Kind::tile, memory, rows, cols, std::max<std::int64_t>(1, rows), offset, plan_.problem.dtype});
  return whole(BufferId{plan_.buffers.size() - 1});
}

OpId PlanDraft::add(const Op& op, const Deps& deps) {
  plan_.ops.push_back(op);
  plan_.deps.insert(plan_.deps.end(), deps.begin(), deps.end());
  plan_.dep_begin.push_back(static_cast<std::uint32_t>(plan_.deps.size()));
  return OpId{plan_.ops.size() - 1};
}

OpId PlanDraft::copy(QueueId queue, const View& from, const View& to, const Deps& deps) {
  return add({OpKind::copy, Trans::no, Trans::no, queue, from, {}, to}, deps);
}

OpId PlanDraft::gemm(QueueId queue, const View& a, const View& b, const View& y, Scalars scalars, const Deps& deps) {
  return add({OpKind::gemm, plan_.problem.trans_a, plan_.problem.trans_b, queue, a, b, y, scalars.alpha, scalars.beta},
             deps);
}

OpId PlanDraft::axpby(QueueId queue, const View& x, const View& y, Scalars scalars, const Deps& deps) {
  return add({OpKind::axpby, Trans::no, Trans::no, queue, x, {}, y, scalars.alpha, scalars.beta}, deps);
}

OpId PlanDraft::join(QueueId queue, const Deps& deps) {
  return add({OpKind::join, Trans::no, Trans::no, queue, {}, {}, {}}, deps);
}

View part(const View& view, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
  return {view.buffer, view.row + row, view.col + col, rows, cols};
}

}  // namespace tilerail
