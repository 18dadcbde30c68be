#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "plan/graph.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// The operations of a plan in the order in which they may start, which follows from when others end.
class ReadyOps {
 public:
  /// `issued`: by operation, when it has been handed over. Keeps a reference to `plan`.
  ReadyOps(const Plan& plan, std::vector<Seconds> issued);

  struct Ready {
    OpId op;
    Seconds at;
  };
  /// The one that may start first; of several the lowest. None when all have ended.
  std::optional<Ready> next();
  /// It was next, and has to wait until then for something else.
  void postpone(const Ready& ready, Seconds until) { queue_.push({until.value, ready.op.index()}); }
  /// Those that waited for it may start then.
  void ended(OpId op, Seconds end);

 private:
  using Item = std::pair<double, size_t>;  // seconds and operation

  PlanGraph graph_;
  std::vector<uint32_t> waits_for_;
  std::vector<Seconds> ready_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
};

}  // namespace tilerail
