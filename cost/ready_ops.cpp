#include "cost/ready_ops.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

ReadyOps::ReadyOps(const Plan& plan, std::vector<Seconds> issued)
    : graph_{plan}, waits_for_{graph_.waits_for()}, ready_{std::move(issued)} {
  for (const auto op : indices(waits_for_))
    if (waits_for_[op] == 0) queue_.push({ready_[op].value, op});
}

std::optional<ReadyOps::Ready> ReadyOps::next() {
  if (queue_.empty()) return std::nullopt;
  const auto [at, op] = queue_.top();
  queue_.pop();
  return Ready{OpId{op}, Seconds{at}};
}

void ReadyOps::ended(OpId op, Seconds end) {
  for (const OpId next : graph_.successors(op)) {
    Seconds& ready = ready_[next.index()];
    ready = std::max(ready, end);
    if (--waits_for_[next.index()] == 0) queue_.push({ready.value, next.index()});
  }
}

}  // namespace tilerail
