#include "study/error_split.hpp"

#include <vector>

#include "model/base/indices.hpp"
#include "report/timeline/critical_path.hpp"

namespace tilerail::study {

ErrorSplit split_error(const Plan& plan, const Topology& topology,
                       const Timeline& predicted, const Timeline& measured) {
  ErrorSplit split;
  const EngineUse use_predicted{plan, topology, predicted.ops},
      use_measured{plan, topology, measured.ops};
  const std::vector<OpId> path = critical_path(plan, measured.ops, use_measured);
  if (path.empty()) return split;
  split.waiting = predicted.makespan().value - predicted.ops[path.front().index()].end;
  for (const auto i : indices(path)) {
    const Op& op = plan.op(path[i]);
    const OpTime &p = predicted.ops[path[i].index()], &m = measured.ops[path[i].index()];
    (op.kind == OpKind::copy ? split.copy : split.kernel) +=
        (p.end - p.start) - (m.end - m.start);
    const auto end_before = [&](const Timeline& t) {
      return i + 1 < path.size() ? t.ops[path[i + 1].index()].end : 0;
    };
    const EngineUse::Pause in_p =
        use_predicted.pause(path[i], end_before(predicted), p.start);
    const EngineUse::Pause in_m =
        use_measured.pause(path[i], end_before(measured), m.start);
    split.waiting += in_p.waiting - in_m.waiting;
    split.issue += in_p.issue - in_m.issue;
  }
  return split;
}

}  // namespace tilerail::study
