#include "model/published/workload.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/published/library_workload.hpp"

namespace tilerail {
namespace {

std::vector<MemoryId> places(const WorkloadProblem& problem,
                             bool WorkloadProblem::Operand::*counts) {
  std::vector<MemoryId> memories;
  for (const auto& operand : problem.operands)
    if (operand.*counts) memories.push_back(operand.place);
  return memories;
}

/// Equation 3.4 of the thesis: ((rows - 1) + (columns - 1)) / inputs * bytes of the
/// inputs, for the read-only operands.
Bytes extra_bytes(const WorkloadProblem& problem, size_t devices) {
  double inputs = 0;
  Bytes bytes{0};
  for (const auto& operand : problem.operands)
    if (operand.read && !operand.written) inputs += 1, bytes += operand.bytes;
  return inputs == 0 ? Bytes{} : further_parts(devices) / inputs * bytes;
}

}  // namespace

double WorkloadModel::Line::share_at(Seconds time) const {
  if (time < latency) return 0;
  return per_share > Seconds{0} ? (time - latency) / per_share : INFINITY;
}

Seconds WorkloadModel::Device::time(double share) const {
  return share > 0 ? std::max({exec.at(share), in.at(share), out.at(share)}) : Seconds{0};
}

double WorkloadModel::Device::share_at(Seconds time) const {
  return std::min({exec.share_at(time), in.share_at(time), out.share_at(time)});
}

WorkloadModel::WorkloadModel(const WorkloadProblem& problem, const LinkMap& map)
    : problem_{problem},
      links_{map,
             problem.devices,
             places(problem, &WorkloadProblem::Operand::read),
             places(problem, &WorkloadProblem::Operand::written),
             problem.tile_bytes,
             problem.library_factors.empty() ? problem.max_hops : 0,
             problem.hop_rule} {}

WorkloadModel::Device WorkloadModel::device(std::span<const size_t> active,
                                            size_t index) const {
  const MemoryId self = problem_.devices[index];
  Device device;
  device.exec.per_share = problem_.exec_times[index];
  const auto add = [&](Line& line, MemoryId src, MemoryId dst, Bytes bytes) {
    line.latency += links_.latency(src, dst);
    line.per_share += bytes * links_.per_byte(src, dst);
  };
  for (const auto& operand : problem_.operands) {
    if (operand.place == self) continue;
    if (operand.read) add(device.in, operand.place, self, operand.bytes);
    if (operand.written) add(device.out, self, operand.place, operand.bytes);
  }
  if (active.size() > 1) {
    Rate bandwidth{0};
    for (const size_t other : active)
      if (other != index)
        bandwidth += inverse(links_.per_byte(problem_.devices[other], self));
    bandwidth = bandwidth / double(active.size() - 1);
    const Bytes extra = extra_bytes(problem_, active.size());
    if (extra > Bytes{0}) device.in.per_share += extra / bandwidth;
  }
  return device;
}

Workload WorkloadModel::predict(std::span<const size_t> active) {
  links_.activate(active);
  if (!problem_.library_factors.empty())
    return library_workload(problem_, links_, active);
  std::vector<Device> devices;
  Seconds low{0}, high{0};
  for (const size_t index : active) {
    devices.push_back(device(active, index));
    high = std::max(high, devices.back().time(1));
  }
  if (!std::isfinite(high.value))
    return {{active.begin(), active.end()}, {}, {}, high, {}};
  const auto done = [&](Seconds time) {
    double sum = 0;
    for (const Device& d : devices) sum += d.share_at(time);
    return sum;
  };
  constexpr double precision = 1e-9;
  while (high - low > precision * high) {
    const Seconds middle = (low + high) / 2;
    (done(middle) < 1 ? low : high) = middle;
  }
  Workload workload;
  const double all = done(high);
  for (const auto d : indices(devices)) {
    const double share =
        std::isfinite(all) ? devices[d].share_at(high) / all : 1 / double(devices.size());
    if (share <= 0) continue;
    workload.active.push_back(active[d]), workload.shares.push_back(share);
    const Seconds time = devices[d].time(share);
    workload.times.push_back(time);
    workload.time = std::max(workload.time, time);
    if (!problem_.watts.empty()) workload.energy += problem_.watts[active[d]] * time;
  }
  return workload;
}

namespace {

using Subset = std::vector<size_t>;

/// Predicted workloads and their metrics, in the order of prediction.
class Workloads {
 public:
  Workloads(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric)
      : problem_{problem}, metric_{metric}, model_{problem, map} {}

  /// Predicts a subset and returns its metric; 0 if a device has no route to an operand.
  double look_at(const Subset& subset) {
    Workload workload = model_.predict(subset);
    if (!std::isfinite(workload.time.value)) return 0;
    const double value =
        workload.time > Seconds{0} ? metric_.of(workload.outcome(problem_)) : 0;
    all_.emplace_back(value, std::move(workload));
    return value;
  }

  std::vector<Workload> ranked() {
    if (all_.empty())
      throw InfeasibleError{
          fault_of("devices", "none of them has routes to all operands", "at least one")};
    std::ranges::stable_sort(all_, [](auto& a, auto& b) { return a.first > b.first; });
    // The library takes 5 % for an error of measurement; else the precision of the
    // bisection of shares counts. Among equal workloads, prefer the fewest devices.
    const double equal = problem_.library_factors.empty() ? 1e-8 : 0.05;
    auto best = all_.begin();
    for (auto other = all_.begin();
         other != all_.end() && all_.front().first <= (1 + equal) * other->first; ++other)
      if (other->second.active.size() < best->second.active.size()) best = other;
    std::rotate(all_.begin(), best, best + 1);
    std::vector<Workload> workloads;
    for (auto& [value, workload] : all_) workloads.push_back(std::move(workload));
    return workloads;
  }

 private:
  const WorkloadProblem& problem_;
  const Metric& metric_;
  WorkloadModel model_;
  std::vector<std::pair<double, Workload>> all_;
};

}  // namespace

std::vector<Workload> ranked_of_all_subsets(const WorkloadProblem& problem,
                                            const LinkMap& map, const Metric& metric) {
  Workloads workloads{problem, map, metric};
  const size_t count = problem.devices.size();
  for (size_t size = 1; size <= count; ++size) {
    std::vector<bool> taken(count, false);
    std::fill_n(taken.begin(), size, true);
    do {
      Subset subset;
      for (size_t d = 0; d < count; ++d)
        if (taken[d]) subset.push_back(d);
      workloads.look_at(subset);
    } while (std::prev_permutation(taken.begin(), taken.end()));
  }
  return workloads.ranked();
}

namespace {

struct Extension {
  double value;
  size_t subset;  // index in the beam
  size_t device;  // the added device
};

Subset with(Subset subset, size_t device) {
  subset.insert(std::ranges::upper_bound(subset, device), device);
  return subset;
}

/// All extensions of the beam by one device, without duplicates, best first.
std::vector<Extension> extensions(const std::vector<Subset>& beam, size_t count,
                                  Workloads& workloads) {
  std::vector<Extension> all;
  std::set<Subset> known;
  for (size_t s = 0; s < beam.size(); ++s)
    for (size_t d = 0; d < count; ++d) {
      if (std::ranges::binary_search(beam[s], d)) continue;
      const auto [larger, is_new] = known.insert(with(beam[s], d));
      if (is_new) all.push_back({workloads.look_at(*larger), s, d});
    }
  std::ranges::stable_sort(all, std::greater{}, &Extension::value);
  return all;
}

/// The best subsets of the beam, each extended by the devices with the best single
/// extensions.
std::vector<Subset> with_several(std::vector<Subset> beam,
                                 std::span<const Extension> best, size_t several) {
  beam.resize(std::min(large_workload_beam, beam.size()));
  for (size_t s = 0; s < beam.size(); ++s) {
    const size_t size = beam[s].size() + several;
    for (const Extension& each : best)
      if (each.subset == s && beam[s].size() < size)
        beam[s] = with(std::move(beam[s]), each.device);
  }
  return beam;
}

/// The best extensions.
std::vector<Subset> with_one(const std::vector<Subset>& beam,
                             std::span<const Extension> best) {
  std::vector<Subset> larger;
  for (const Extension& each : best.first(std::min(workload_beam, best.size())))
    larger.push_back(with(beam[each.subset], each.device));
  return larger;
}

}  // namespace

std::vector<Workload> ranked_by_beam(const WorkloadProblem& problem, const LinkMap& map,
                                     const Metric& metric) {
  Workloads workloads{problem, map, metric};
  const size_t count = problem.devices.size();
  std::vector<Subset> beam{{}};
  for (size_t size = 0, step = 1; size + step < count; size += step) {
    const std::vector<Extension> best = extensions(beam, count, workloads);
    step = size < most_by_one ? 1 : size / 4;
    beam = step == 1 ? with_one(beam, best) : with_several(std::move(beam), best, step);
  }
  Subset all(count);
  std::iota(all.begin(), all.end(), 0);
  workloads.look_at(all);
  return workloads.ranked();
}

std::vector<Workload> ranked_workloads(const WorkloadProblem& problem, const LinkMap& map,
                                       const Metric& metric) {
  return problem.devices.size() <= exhaustive_devices
             ? ranked_of_all_subsets(problem, map, metric)
             : ranked_by_beam(problem, map, metric);
}

}  // namespace tilerail
