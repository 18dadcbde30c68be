#include "plan/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/base/digest.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "plan/builder.hpp"

namespace tilerail {
namespace {

/// Takes the operations of one rank out of a plan.
class Cut {
 public:
  Cut(const Plan& plan, const Topology& topology, const OwnRank& own)
      : plan_{plan},
        own_{own},
        part_{empty_plan(plan.problem, topology)},
        buffers_(plan.buffers.size()),
        ops_(plan.ops.size()) {
    part_.policy = plan.policy, part_.tile = plan.tile;
    for (const MemoryId gpu : plan.devices)
      if (own.has(gpu)) part_.devices.push_back(gpu);
    for (const auto m : indices(plan.peak_bytes))
      if (own.has(MemoryId{m})) part_.peak_bytes[m] = plan.peak_bytes[m];
    for (const auto i : indices(buffers_))
      if (!plan.buffers[i].in_arena || own.has(plan.buffers[i].memory))
        buffers_[i] = builder_.add_buffer(plan.buffers[i]);
  }

  PlanPart run() {
    for (const auto i : indices(plan_.ops)) add(OpId{i});
    return {std::move(part_), own_};
  }

 private:
  void add(OpId id) {
    Op op = plan_.op(id);
    const auto& [kind, src, dst, index] = plan_.queue(op.queue);
    if (!own_.has(src) && !own_.has(dst)) return;
    const RankId peer = own_.ranks.of(own_.has(src) ? dst : src);
    Deps deps;
    for (const OpId dep : plan_.deps_of(id)) {
      deps.after(ops_[dep.index()]);
      const Queue& other = plan_.queue(plan_.op(dep).queue);
      if (!ops_[dep.index()] && own_.ranks.of(other.src) != peer &&
          own_.ranks.of(other.dst) != peer)
        throw fault_of("plan",
                       fmt::format("operation {} depends on operation {} of another rank",
                                   id.value, dep.value),
                       "a message between the ranks");
    }
    Operands operands;
    for (const View& view : plan_.operands_of(op)) operands.push_back(own_view(view));
    op.queue = kind == Queue::Kind::copy ? builder_.copy_queue(src, dst, index)
                                         : builder_.compute_queue(dst, index);
    ops_[id.index()] = builder_.add(op, operands, deps);
  }

  View own_view(const View& view) {
    if (own_.has(plan_.buffer(view.buffer).memory))
      return {*buffers_[view.buffer.index()], view.row, view.col, view.rows, view.cols};
    return {builder_.add_buffer(block_of(plan_, view)), 0, 0, view.rows, view.cols};
  }

  const Plan& plan_;
  const OwnRank& own_;
  Plan part_;
  PlanBuilder builder_{part_};
  std::vector<std::optional<BufferId>> buffers_;  // of the part, by BufferId of the plan
  std::vector<std::optional<OpId>> ops_;
};

}  // namespace

PlanPart::PlanPart(Plan part, OwnRank rank)
    : plan{std::move(part)}, own{std::move(rank)} {
  std::map<std::pair<RankId, bool>, uint32_t> numbers;
  std::map<Message, int32_t> versions;
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    const auto& [kind, src, dst, index] = plan.queue(op.queue);
    const bool sends = own.has(src);
    if (op.kind != OpKind::copy || sends == own.has(dst)) continue;
    const View& view = plan.result(op);
    const Buffer block = block_of(plan, view);
    Message message{block.tensor, src,       dst,       0,
                    block.row,    block.col, view.rows, view.cols};
    message.version = versions[message]++;
    const MemoryId there = sends ? dst : src;
    const RankId peer = own.ranks.of(there);
    if (peer == Ranks::none) throw missing("ranks", plan.memories[there.index()]);
    transfers.push_back({OpId{i}, peer, sends, numbers[{peer, sends}]++, message});
  }
}

const Transfer* PlanPart::transfer(OpId op) const {
  const auto found = std::ranges::lower_bound(transfers, op, {}, &Transfer::op);
  return found != transfers.end() && found->op == op ? &*found : nullptr;
}

std::vector<Message> PlanPart::messages(RankId peer, bool sends) const {
  std::vector<Message> found;
  for (const Transfer& t : transfers)
    if (t.peer == peer && t.sends == sends) found.push_back(t.message);
  return found;
}

PlanPart part_of(const Plan& plan, const Topology& topology, const OwnRank& own) {
  return Cut{plan, topology, own}.run();
}

std::string message_text(const Message& m, const Plan& plan) {
  return fmt::format("{}[{}:{}, {}:{}] version {} from {} to {}",
                     plan.tensor(m.tensor).name, m.row, m.row + m.rows, m.col,
                     m.col + m.cols, m.version, plan.memories[m.from.index()],
                     plan.memories[m.to.index()]);
}

std::string shared_hash(const PlanPart& part) {
  Plan shared;
  shared.problem = part.plan.problem, shared.tensors = part.plan.tensors;
  shared.tile = part.plan.tile;
  std::string text = content_hash(shared) + part.plan.machine + part.plan.policy;
  for (const auto m : indices(part.plan.memories))
    text += fmt::format(" {}", part.own.ranks.of(MemoryId{m}).value);
  return digest_text(text);
}

}  // namespace tilerail
