#include "backends/fluid/engine_limits.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace tilerail {
namespace {

enum class Role { h2d, d2h, peer, total };

std::optional<int> limit_of(const Engines& engines, Role role) {
  switch (role) {
    case Role::h2d:
      return engines.h2d;
    case Role::d2h:
      return engines.d2h;
    case Role::peer:
      return engines.peer;
    case Role::total:
      return engines.total;
  }
  return std::nullopt;
}

}  // namespace

EngineLimits::EngineLimits(const Plan& plan, const Topology& topology) {
  std::map<std::pair<MemoryId, Role>, int> known;
  const auto limit = [&](MemoryId memory, Role role) {
    const auto count = limit_of(topology.memory(memory).engines, role);
    if (!count) return none;
    const auto [entry, is_new] = known.try_emplace({memory, role}, int(limits_.size()));
    if (is_new) limits_.push_back({*count, {}});
    return entry->second;
  };
  for (const Queue& queue : plan.queues) {
    int role = none;
    if (queue.kind == Queue::Kind::copy && queue.src != queue.dst) {
      const bool from_host = topology.is_host(queue.src), to_host = topology.is_host(queue.dst);
      if (from_host && !to_host) role = limit(queue.dst, Role::h2d);
      if (!from_host) role = limit(queue.src, to_host ? Role::d2h : Role::peer);
    }
    const MemoryId device = topology.is_host(queue.dst) ? queue.src : queue.dst;
    of_queue_.push_back({role, limit(device, Role::total)});
  }
}

bool EngineLimits::take_or_wait(OpId op, QueueId queue) {
  const auto& mine = of_queue_[queue.index()];
  for (int i : mine) {
    if (i == none || limits_[i].free > 0) continue;
    auto& line = limits_[i].waiting;
    line.push_back(op);
    std::push_heap(line.begin(), line.end(), std::greater<>{});
    return false;
  }
  for (int i : mine)
    if (i != none) --limits_[i].free;
  return true;
}

void EngineLimits::give_back(QueueId queue) {
  for (int i : of_queue_[queue.index()])
    if (i != none) ++limits_[i].free;
}

void EngineLimits::pass_on(QueueId queue, std::vector<OpId>& retry) {
  for (int i : of_queue_[queue.index()]) {
    if (i == none || limits_[i].free == 0 || limits_[i].waiting.empty()) continue;
    auto& line = limits_[i].waiting;
    std::pop_heap(line.begin(), line.end(), std::greater<>{});
    retry.push_back(line.back());
    line.pop_back();
  }
}

}  // namespace tilerail
