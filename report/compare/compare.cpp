#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr size_t worst_count = 10;
constexpr double rounding = 1e-12;  // s; smaller differences are ignored

/// Throws unless both have the same operations on the same queues. The hashes are equal,
/// so a difference means an edited file.
void require_same_plan(const AnnotatedTimeline& predicted,
                       const AnnotatedTimeline& measured) {
  const std::string &p = predicted.metadata.plan_hash, &m = measured.metadata.plan_hash;
  if (p != m) {
    throw fault_of("plan_hash", fmt::format("predicted '{}', measured '{}'", p, m),
                   "timelines of one plan");
  }
  if (predicted.ops.size() != measured.ops.size()) {
    throw fault_of("ops",
                   fmt::format("predicted {}, measured {}", predicted.ops.size(),
                               measured.ops.size()),
                   "timelines of one plan");
  }
  for (const auto i : indices(predicted.ops)) {
    const AnnotatedOp &a = predicted.ops[i], &b = measured.ops[i];
    if (a.kind == b.kind && a.bytes == b.bytes &&
        predicted.queue_of(a).name == measured.queue_of(b).name)
      continue;
    throw InputError{"op", std::to_string(i),
                     fmt::format("is predicted as {} on '{}', and measured as {} on '{}'",
                                 to_string(a.kind), predicted.queue_of(a).name,
                                 to_string(b.kind), measured.queue_of(b).name),
                     "timelines of one plan"};
  }
}

/// Accepts two measurements or two simulations.
void require_order(const TimelineMetadata& predicted, const TimelineMetadata& measured) {
  if (is_simulation(measured.backend) && !is_simulation(predicted.backend))
    throw fault_of("measured",
                   fmt::format("its backend is '{}', but predicted has '{}'",
                               measured.backend, predicted.backend),
                   "the prediction first");
}

/// Sums over one timeline.
struct Totals {
  double kernels = 0, copies = 0, waiting = 0, idle = 0;
};

Totals totals_of(const AnnotatedTimeline& timeline) {
  Totals totals;
  std::vector<double> busy(timeline.queues.size(), 0);
  for (const AnnotatedOp& op : timeline.ops) {
    if (op.kind == OpKind::copy) totals.copies += op.duration();
    if (is_kernel(op.kind)) totals.kernels += op.duration();
    totals.waiting += std::max(0.0, op.start - op.ready);
    busy[op.queue] += op.duration();
  }
  const double makespan = timeline.makespan();
  for (const double of_queue : busy) totals.idle += std::max(0.0, makespan - of_queue);
  return totals;
}

/// The operations with the largest differences of durations beyond rounding; ties by
/// lowest number.
std::vector<Comparison::OpDifference> worst_durations(const AnnotatedTimeline& predicted,
                                                      const AnnotatedTimeline& measured) {
  const auto duration = [&](uint32_t i) {
    return Figures{predicted.ops[i].duration(), measured.ops[i].duration()};
  };
  const auto size = [&](uint32_t i) { return std::abs(duration(i).difference()); };
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < predicted.ops.size(); ++i)
    if (size(i) > rounding) numbers.push_back(i);
  std::ranges::stable_sort(numbers, std::ranges::greater{}, size);
  numbers.resize(std::min(worst_count, numbers.size()));
  std::vector<Comparison::OpDifference> worst;
  for (const uint32_t i : numbers) {
    const AnnotatedOp& op = predicted.ops[i];
    worst.push_back(
        {i, op.kind, predicted.queue_of(op).name, predicted.label_of(op), duration(i)});
  }
  return worst;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void compare_energy(Comparison& result, const TimelineMetadata& predicted,
                    const TimelineMetadata& measured) {
  if (predicted.energy_j.empty()) return;
  const double energy = sum_of(predicted.energy_j);
  if (!measured.counted_energy_j.empty())
    result.counted_energy = {energy, sum_of(measured.counted_energy_j)};
  if (!measured.energy_j.empty()) result.energy = {energy, sum_of(measured.energy_j)};
}

}  // namespace

std::optional<double> Figures::error() const {
  if (measured == 0) return predicted == 0 ? std::optional<double>{0} : std::nullopt;
  return (predicted - measured) / measured;
}

Comparison compare(const AnnotatedTimeline& predicted, const AnnotatedTimeline& measured,
                   const std::array<std::string, 2>& files) {
  require_same_plan(predicted, measured);
  require_order(predicted.metadata, measured.metadata);
  const Totals p = totals_of(predicted), m = totals_of(measured);
  Comparison result;
  result.predicted = predicted.metadata;
  result.measured = measured.metadata;
  result.of_prediction = is_simulation(predicted.metadata.backend) &&
                         !is_simulation(measured.metadata.backend);
  if (!result.of_prediction)
    result.sides =
        predicted.metadata.machine == measured.metadata.machine
            ? files
            : std::array{predicted.metadata.machine, measured.metadata.machine};
  result.ops = int64_t(predicted.ops.size());
  result.makespan = {predicted.makespan(), measured.makespan()};
  if (result.of_prediction) result.interval = predicted.metadata.interval;
  compare_energy(result, predicted.metadata, measured.metadata);
  result.kernels = {p.kernels, m.kernels};
  result.copies = {p.copies, m.copies};
  result.waiting = {p.waiting, m.waiting};
  result.idle = {p.idle, m.idle};
  result.worst_durations = worst_durations(predicted, measured);
  return result;
}

}  // namespace tilerail
