#include "plan/builder.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "model/base/contains.hpp"

namespace tilerail {

Plan empty_plan(const Problem& problem, const Topology& topology) {
  Plan plan;
  plan.problem = problem;
  plan.tensors = tensors_of(problem);
  plan.machine = topology.name();
  for (const Memory& memory : topology.memories()) plan.memories.push_back(memory.name);
  plan.peak_bytes.assign(plan.memories.size(), 0);
  plan.dep_begin.assign(1, 0);
  return plan;
}

std::vector<Buffer> tensor_buffers(const Plan& plan, TensorId id) {
  const Tensor& tensor = plan.tensor(id);
  const bool replicated = tensor.layout.is_replicated();
  std::vector<Buffer> buffers;
  for (size_t replica = 0; replica < tensor.layout.replicas(); ++replica)
    for (const MatrixBlock& b : tensor.layout.blocks(tensor.rows, tensor.cols, replica))
      if (!replicated || contains(plan.devices, b.memory))
        buffers.push_back({id, false, tensor.dtype, b.memory, b.row, b.col, b.rows,
                           b.cols, tensor.ld,
                           (b.col * tensor.ld + b.row) * tensor.element()});
  return buffers;
}

Buffer block_of(const Plan& plan, const View& view) {
  Buffer block = plan.buffer(view.buffer);
  block.in_arena = true, block.offset = 0;
  block.row += view.row, block.col += view.col;
  block.rows = view.rows, block.cols = view.cols;
  block.ld = std::max<int64_t>(1, view.rows);
  return block;
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

BufferId PlanBuilder::add_tensor(TensorId tensor) {
  const BufferId first{plan_.buffers.size()};
  for (const Buffer& buffer : tensor_buffers(plan_, tensor)) add_buffer(buffer);
  return first;
}

View PlanBuilder::in_block(const View& region) const {
  const auto inside = [](int64_t begin, int64_t size, int64_t extent) {
    return begin >= 0 && begin + size <= extent;
  };
  const TensorId tensor = plan_.buffer(region.buffer).tensor;
  for (size_t i = region.buffer.index();
       i < plan_.buffers.size() && plan_.buffers[i].tensor == tensor; ++i) {
    const Buffer& block = plan_.buffers[i];
    const View view{BufferId{i}, region.row - block.row, region.col - block.col,
                    region.rows, region.cols};
    if (inside(view.row, view.rows, block.rows) &&
        inside(view.col, view.cols, block.cols))
      return view;
  }
  throw std::logic_error{"a tile crosses the border of two blocks of its tensor"};
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

/// The last view of the same buffer is shared if it is equal.
uint32_t PlanBuilder::index_of(const View& view) {
  const size_t buffer = view.buffer.index();
  if (last_view_.size() <= buffer) last_view_.resize(plan_.buffers.size(), no_view);
  uint32_t& last = last_view_[buffer];
  if (last == no_view || plan_.views[last] != view) {
    last = uint32_t(plan_.views.size());
    plan_.views.push_back(view);
  }
  return last;
}

OpId PlanBuilder::add(Op op, const Operands& operands, Deps& deps) {
  const OpId id{plan_.ops.size()};
  std::optional<OpId>& last = last_in_queue_[op.queue.index()];
  auto& needed = deps.ops();
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
  for (const View& view : operands) plan_.operands.push_back(index_of(view));
  plan_.ops.push_back(op);
  queue_of_.push_back(op.queue);
  plan_.dep_begin.push_back(uint32_t(plan_.deps.size()));
  last = id;
  if (sent) *sent = id;
  return id;
}

}  // namespace tilerail
