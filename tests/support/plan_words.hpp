#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail::testing {

/// One word per operation: its kind, its memories, and its matrix or tile.
inline std::vector<std::string> words(const Plan& plan) {
  std::vector<std::string> all;
  for (const Op& op : plan.ops) {
    const Queue& q = plan.queue(op.queue);
    const auto name = [&](MemoryId m) { return plan.memories[m.index()]; };
    switch (op.kind) {
      case OpKind::copy:
        all.push_back(name(q.src) + ">" + name(q.dst));
        break;
      case OpKind::gemm:
        all.push_back("gemm@" + name(q.dst) +
                      (plan.value(op.beta) == 0   ? " b0"
                       : plan.value(op.beta) == 1 ? " b1"
                                                  : " b"));
        break;
      case OpKind::axpby:
        all.push_back("axpby@" + name(q.dst));
        break;
      default:
        all.push_back(std::string{to_string(op.kind)});
    }
  }
  return all;
}

inline int count(const Plan& plan, OpKind kind) {
  return int(std::count_if(plan.ops.begin(), plan.ops.end(),
                           [&](const Op& op) { return op.kind == kind; }));
}

inline double moved(const Plan& plan, MemoryId src, MemoryId dst) {
  double bytes = 0;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::copy && plan.queue(op.queue).src == src &&
        plan.queue(op.queue).dst == dst)
      bytes += copy_bytes(plan, op).value;
  return bytes;
}

}  // namespace tilerail::testing
