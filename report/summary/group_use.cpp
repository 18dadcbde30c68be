#include "report/summary/group_use.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace tilerail {
namespace {

/// The change when a copy starts (by = 1) or ends (by = -1).
struct Change {
  double at;
  int by;
  const GroupCopy* copy;
};

std::vector<Change> changes(const std::vector<GroupCopy>& copies) {
  std::vector<Change> result;
  for (const GroupCopy& copy : copies) {
    if (copy.end <= copy.start) continue;
    result.push_back({copy.start, 1, &copy});
    result.push_back({copy.end, -1, &copy});
  }
  std::ranges::sort(result, {}, &Change::at);
  return result;
}

}  // namespace

std::optional<double> group_utilisation(const CapacityGroup& group,
                                        const std::vector<GroupCopy>& copies,
                                        double makespan) {
  bool bounded = false;
  double used = 0, rate = 0,
         from = 0;   // used: time to move as much at the full bound
  int64_t unit = 1;  // parts of a whole copy
  for (const GroupCopy& copy : copies) unit = std::lcm(unit, int64_t{copy.of});
  int64_t flows = 0;  // in that unit
  int forward = 0, backward = 0;
  for (const Change& change : changes(copies)) {
    const double bound =
        flows == 0
            ? INFINITY
            : group.bound(double(flows) / double(unit), forward > 0, backward > 0).value;
    if (std::isfinite(bound)) bounded = true, used += rate / bound * (change.at - from);
    from = change.at;
    flows += unit / change.copy->of * change.copy->parts * change.by;
    if (change.copy->forward) forward += change.by;
    if (change.copy->backward) backward += change.by;
    const double of_copy = change.copy->bytes / (change.copy->end - change.copy->start);
    rate = flows == 0 ? 0 : rate + change.by * of_copy;
  }
  if (!bounded) return std::nullopt;
  return used / makespan;
}

}  // namespace tilerail
