#include "backends/cuda/trace/activity_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "model/base/indices.hpp"

namespace tilerail::cuda {
namespace {

bool has_work(Views operands) {
  return operands.size() > 0 && operands.back().rows > 0 && operands.back().cols > 0;
}

double seconds_since(uint64_t time, uint64_t origin) {
  return (double(time) - double(origin)) * 1e-9;
}

}  // namespace

std::vector<OpTime> match_activities(const Plan& plan,
                                     std::span<const ActivityRecord> records,
                                     std::span<const LaunchMark> marks, uint64_t origin) {
  std::unordered_map<uint64_t, OpId> op_of;
  for (const LaunchMark& mark : marks) op_of.emplace(mark.launcher, mark.op);
  std::vector<OpTime> times(plan.ops.size());
  std::vector<bool> known(plan.ops.size(), false);
  for (const ActivityRecord& record : records) {
    const auto launched = op_of.find(record.launcher);
    if (launched == op_of.end()) continue;
    const size_t op = launched->second.index();
    const OpTime seen{seconds_since(record.start, origin),
                      seconds_since(record.end, origin)};
    times[op] = known[op] ? OpTime{std::min(times[op].start, seen.start),
                                   std::max(times[op].end, seen.end)}
                          : seen;
    known[op] = true;
  }
  for (const auto i : indices(plan.ops))
    if (!known[i] && has_work(plan.operands_of(plan.ops[i])))
      throw std::runtime_error{fmt::format(
          "the trace has no record of operation {}, in {} records and {} marks", i,
          records.size(), marks.size())};
  derive_idle_operations(plan, known, times);
  return times;
}

void derive_idle_operations(const Plan& plan, const std::vector<bool>& known,
                            std::vector<OpTime>& times) {
  std::vector<double> queue_end(plan.queues.size(), 0);
  for (const auto i : indices(plan.ops)) {
    double& queue = queue_end[plan.ops[i].queue.index()];
    if (!known[i]) {
      double end = queue;
      for (const OpId dep : plan.deps_of(OpId{i}))
        end = std::max(end, times[dep.index()].end);
      times[i] = {end, end};
    }
    queue = times[i].end;
  }
}

}  // namespace tilerail::cuda
