#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/intervals.hpp"
#include "model/kernels/energy.hpp"
#include "report/trace/tracks.hpp"

namespace tilerail {
namespace {

constexpr size_t worst_count = 10;
constexpr double rounding = 1e-12;  // s; smaller differences are none

/// Throws unless both have the same operations on the same queues. The hashes are equal, so that a difference means
/// that a file was changed.
void require_same_plan(const AnnotatedTimeline& predicted, const AnnotatedTimeline& measured) {
  const std::string &p = predicted.metadata.plan_hash, &m = measured.metadata.plan_hash;
  if (p != m) {
    throw fault_of("plan_hash", fmt::format("predicted '{}', measured '{}'", p, m), "timelines of one plan");
  }
  if (predicted.ops.size() != measured.ops.size()) {
    throw fault_of("ops", fmt::format("predicted {}, measured {}", predicted.ops.size(), measured.ops.size()),
                   "timelines of one plan");
  }
  for (const auto i : indices(predicted.ops)) {
    const AnnotatedOp &a = predicted.ops[i], &b = measured.ops[i];
    if (a.kind == b.kind && a.bytes == b.bytes && predicted.queue_of(a).name == measured.queue_of(b).name) continue;
    throw InputError{"op", std::to_string(i),
                     fmt::format("is predicted as {} on '{}', and measured as {} on '{}'", to_string(a.kind),
                                 predicted.queue_of(a).name, to_string(b.kind), measured.queue_of(b).name),
                     "timelines of one plan"};
  }
}

bool is_simulation(const TimelineMetadata& metadata) { return tilerail::is_simulation(metadata.backend); }

/// Two measurements, or two simulations, may be laid over each other.
void require_order(const TimelineMetadata& predicted, const TimelineMetadata& measured) {
  if (is_simulation(measured) && !is_simulation(predicted))
    throw fault_of(
        "measured",
        fmt::format("its backend is '{}', and that of predicted is '{}'", measured.backend, predicted.backend),
        "the prediction first");
}

/// The sums of one timeline.
struct Totals {
  double kernels = 0, copies = 0, waiting = 0, idle = 0;
  std::map<std::string, double> queues, links;
};

/// Without the parts of the bytes that cross them.
std::vector<std::string> links_of(const std::string& route) {
  std::vector<std::string> links;
  for (size_t begin = 0; begin < route.size();) {
    const size_t end = std::min(route.find(';', begin), route.size());
    links.push_back(route.substr(begin, std::min(end, route.find(' ', begin)) - begin));
    begin = end + 1;
  }
  return links;
}

Totals totals_of(const AnnotatedTimeline& timeline) {
  Totals totals;
  std::vector<double> busy(timeline.queues.size(), 0);
  std::vector<IntervalSet<double>> copies(timeline.queues.size());
  for (const AnnotatedOp& op : timeline.ops) {
    if (op.kind == OpKind::copy) totals.copies += op.duration();
    if (is_kernel(op.kind)) totals.kernels += op.duration();
    totals.waiting += std::max(0.0, op.start - op.ready);
    busy[op.queue] += op.duration();
    if (op.kind == OpKind::copy) copies[op.queue].add({op.start, op.end});
  }
  const double makespan = timeline.makespan();
  std::map<std::string, IntervalSet<double>> link_times;
  for (const auto q : indices(busy)) {
    totals.idle += std::max(0.0, makespan - busy[q]);
    totals.queues[timeline.queues[q].name] = busy[q];
    for (const std::string& link : links_of(timeline.queues[q].route)) link_times[link] += copies[q];
  }
  for (const auto& [link, times] : link_times) totals.links[link] = length(times);
  return totals;
}

/// Figures of everything that one of the timelines names, in the natural order of names.
std::vector<Comparison::Named> merged(const std::map<std::string, double>& predicted,
                                      const std::map<std::string, double>& measured) {
  std::map<std::string, Figures> all;
  for (const auto& [name, value] : predicted) all[name].predicted = value;
  for (const auto& [name, value] : measured) all[name].measured = value;
  std::vector<Comparison::Named> result;
  for (const auto& [name, figures] : all) result.push_back({name, figures});
  std::ranges::sort(result, natural_less, &Comparison::Named::name);
  return result;
}

/// The operations with the largest `size(op)` above rounding, largest first; ties by lowest number.
template <class Size>
std::vector<uint32_t> largest(size_t ops, Size size) {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < ops; ++i) {
    if (size(i) > rounding) numbers.push_back(i);
  }
  const auto before = [&](uint32_t a, uint32_t b) { return size(a) != size(b) ? size(a) > size(b) : a < b; };
  const auto kept = ptrdiff_t(std::min(worst_count, numbers.size()));
  std::ranges::partial_sort(numbers, numbers.begin() + kept, before);
  numbers.resize(size_t(kept));
  return numbers;
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void compare_energy(Comparison& result, const TimelineMetadata& predicted, const TimelineMetadata& measured) {
  if (predicted.energy_j.empty()) return;
  const double energy = sum_of(predicted.energy_j);
  if (!measured.counted_energy_j.empty()) result.counted_energy = {energy, sum_of(measured.counted_energy_j)};
  if (measured.energy_j.empty()) return;
  result.energy = {energy, sum_of(measured.energy_j)};
  const auto delay = [](double joules, double seconds) { return energy_delay(Joules{joules}, Seconds{seconds}); };
  result.energy_delay = {delay(result.energy->predicted, result.makespan.predicted),
                         delay(result.energy->measured, result.makespan.measured)};
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
  result.plan_hash = predicted.metadata.plan_hash;
  result.problem = predicted.metadata.problem;
  result.policy = predicted.metadata.policy;
  result.of_prediction = is_simulation(predicted.metadata) && !is_simulation(measured.metadata);
  if (!result.of_prediction)
    result.sides = predicted.metadata.machine == measured.metadata.machine
                       ? files
                       : std::array{predicted.metadata.machine, measured.metadata.machine};
  result.predicted_machine = predicted.metadata.machine;
  result.measured_machine = measured.metadata.machine;
  result.predicted_backend = predicted.metadata.backend;
  result.measured_backend = measured.metadata.backend;
  result.ops = int64_t(predicted.ops.size());
  result.makespan = {predicted.makespan(), measured.makespan()};
  if (result.of_prediction) result.interval = predicted.metadata.interval;
  compare_energy(result, predicted.metadata, measured.metadata);
  result.kernels = {p.kernels, m.kernels};
  result.copies = {p.copies, m.copies};
  result.waiting = {p.waiting, m.waiting};
  result.idle = {p.idle, m.idle};
  result.queues = merged(p.queues, m.queues);
  result.links = merged(p.links, m.links);

  const auto difference = [&](uint32_t i) {
    const AnnotatedOp &a = predicted.ops[i], &b = measured.ops[i];
    return Comparison::OpDifference{
        i, a.kind, predicted.queue_of(a).name, predicted.label_of(a), {a.start, b.start}, {a.duration(), b.duration()}};
  };
  const auto by_duration = [&](uint32_t i) {
    return std::abs(predicted.ops[i].duration() - measured.ops[i].duration());
  };
  const auto by_start = [&](uint32_t i) { return std::abs(predicted.ops[i].start - measured.ops[i].start); };
  for (const uint32_t i : largest(predicted.ops.size(), by_duration)) result.worst_durations.push_back(difference(i));
  for (const uint32_t i : largest(predicted.ops.size(), by_start)) result.worst_shifts.push_back(difference(i));
  return result;
}

}  // namespace tilerail
