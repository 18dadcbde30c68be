#include "plan/builder.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "model/machine/matrix_blocks.hpp"

namespace tilerail {

Plan empty_plan(const GemmProblem& problem, const Topology& topology) {
  Plan plan;
  plan.problem = problem;
  plan.machine = topology.name();
  const bool has_copies =
      topology.has_copies(problem.place_a) || topology.has_copies(problem.place_b);
  for (const Memory& memory : topology.memories())
    if (has_copies || memory.pages != Pages::copies) plan.memories.push_back(memory.name);
  plan.peak_bytes.assign(plan.memories.size(), 0);
  plan.dep_begin.assign(1, 0);
  return plan;
}

Buffer matrix_buffer(const GemmProblem& p, Buffer::Kind matrix) {
  if (matrix == Buffer::Kind::matrix_a)
    return {matrix, p.place_a, p.rows_a(), p.cols_a(), p.lda, 0, p.dtype};
  if (matrix == Buffer::Kind::matrix_b)
    return {matrix, p.place_b, p.rows_b(), p.cols_b(), p.ldb, 0, p.dtype};
  return {matrix, p.place_c, p.m, p.n, p.ldc, 0, p.dtype};
}

std::vector<Buffer> matrix_buffers(const GemmProblem& problem, Buffer::Kind matrix,
                                   const Topology& topology,
                                   std::span<const MemoryId> devices) {
  const Buffer whole = matrix_buffer(problem, matrix);
  std::vector<Buffer> buffers;
  const auto add = [&](MemoryId memory, int64_t rows, int64_t cols, int64_t first) {
    buffers.push_back(
        {matrix, memory, rows, cols, whole.ld, first * whole.element(), whole.dtype});
  };
  if (topology.has_copies(whole.memory)) {
    for (const MemoryId gpu : devices) add(gpu, whole.rows, whole.cols, 0);
    return buffers;
  }
  for (const MatrixBlock& block :
       matrix_blocks(whole.rows, whole.cols, whole.memory, topology))
    add(block.memory, block.rows, block.cols, block.col * whole.ld + block.row);
  return buffers;
}

void LastUses::add(QueueId queue, OpId op) {
  const auto known =
      std::ranges::find(uses_, queue, [](const auto& use) { return use.first; });
  if (known == uses_.end())
    uses_.emplace_back(queue, op);
  else
    known->second = std::max(known->second, op);
}

QueueId PlanBuilder::queue(Queue::Kind kind, MemoryId src, MemoryId dst, int index) {
  const auto [entry, is_new] =
      queues_.try_emplace({kind, src, dst, index}, plan_.queues.size());
  if (is_new) {
    plan_.queues.push_back({kind, src, dst, index});
    last_in_queue_.emplace_back();
  }
  return entry->second;
}

BufferId PlanBuilder::add_buffer(const Buffer& buffer) {
  plan_.buffers.push_back(buffer);
  return BufferId{plan_.buffers.size() - 1};
}

void PlanBuilder::expect(size_t ops) {
  plan_.ops.reserve(plan_.ops.size() + ops);
  plan_.operands.reserve(plan_.operands.size() + 3 * ops);  // of gemms
  plan_.dep_begin.reserve(plan_.dep_begin.size() + ops);
  queue_of_.reserve(queue_of_.size() + ops);
}

BufferId PlanBuilder::add_matrix(const GemmProblem& problem, Buffer::Kind matrix,
                                 const Topology& topology) {
  const BufferId first{plan_.buffers.size()};
  for (const Buffer& buffer : matrix_buffers(problem, matrix, topology, plan_.devices))
    add_buffer(buffer);
  return first;
}

View PlanBuilder::in_block(const View& region) const {
  const auto inside = [](int64_t begin, int64_t size, int64_t extent) {
    return begin >= 0 && begin + size <= extent;
  };
  const Buffer::Kind matrix = plan_.buffer(region.buffer).kind;
  assert(matrix != Buffer::Kind::tile);
  for (size_t i = region.buffer.index();
       i < plan_.buffers.size() && plan_.buffers[i].kind == matrix; ++i) {
    const Buffer& block = plan_.buffers[i];
    const int64_t first = block.offset / block.element();
    const View view{BufferId{i}, region.row - first % block.ld,
                    region.col - first / block.ld, region.rows, region.cols};
    if (inside(view.row, view.rows, block.rows) &&
        inside(view.col, view.cols, block.cols))
      return view;
  }
  throw std::logic_error{"a tile crosses the border of two blocks of its matrix"};
}

void PlanBuilder::send_in_order(std::span<const MemoryId> gpus) {
  for (const MemoryId gpu : gpus) last_sent_[gpu];
}

std::optional<OpId>* PlanBuilder::last_sent_by(const Queue& queue) {
  const auto sender = last_sent_.find(queue.src);
  const bool in_order = sender != last_sent_.end() && queue.src != queue.dst &&
                        last_sent_.contains(queue.dst);
  return in_order ? &sender->second : nullptr;
}

OpId PlanBuilder::add(Op op, const Operands& operands, Deps& deps) {
  const OpId id{plan_.ops.size()};
  std::optional<OpId>& last = last_in_queue_[op.queue.index()];
  auto& needed = deps.ops();
  if (barrier_ && (!last || *last < *barrier_)) needed.push_back(*barrier_);
  std::optional<OpId>* sent = last_sent_by(plan_.queue(op.queue));
  if (sent && *sent) needed.push_back(**sent);
  std::ranges::sort(needed, {}, [this](OpId dep) {
    return std::pair{queue_of(dep), -dep.value};
  });
  std::optional<QueueId> previous;
  for (const OpId dep : needed) {
    assert(dep < id);
    const QueueId q = queue_of(dep);
    if (q == op.queue || q == previous) continue;
    plan_.deps.push_back(dep);
    previous = q;
  }
  op.first = uint32_t(plan_.operands.size());
  for (const View& view : operands) plan_.operands.push_back(view);
  plan_.ops.push_back(op);
  queue_of_.push_back(op.queue);
  plan_.dep_begin.push_back(uint32_t(plan_.deps.size()));
  last = id;
  if (sent) *sent = id;
  return id;
}

void PlanBuilder::barrier(QueueId queue) {
  Deps deps;
  for (const auto& last : last_in_queue_) deps.after(last);
  barrier_ = add({.kind = OpKind::join, .queue = queue}, {}, deps);
}

}  // namespace tilerail
