#include "model/published/workload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

std::vector<MemoryId> places(const WorkloadProblem& problem, bool WorkloadProblem::Operand::*counts) {
  std::vector<MemoryId> memories;
  for (const auto& operand : problem.operands)
    if (operand.*counts) memories.push_back(operand.place);
  return memories;
}

/// Equation 3.4 of the thesis: ((rows - 1) + (columns - 1)) / inputs * bytes of the inputs, for the most square grid of
/// so many devices and the operands that are only read.
Bytes extra_bytes(const WorkloadProblem& problem, size_t devices) {
  size_t rows = 1;
  for (size_t r = 1; r * r <= devices; ++r)
    if (devices % r == 0) rows = r;
  double inputs = 0;
  Bytes bytes{0};
  for (const auto& operand : problem.operands)
    if (operand.read && !operand.written) inputs += 1, bytes += operand.bytes;
  return inputs == 0 ? Bytes{} : double(rows - 1 + devices / rows - 1) / inputs * bytes;
}

}  // namespace

double WorkloadModel::Line::share_at(Seconds time) const {
  if (time < latency) return 0;
  return per_share > Seconds{0} ? (time - latency) / per_share : std::numeric_limits<double>::infinity();
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
             problem.max_hops,
             problem.hop_rule} {}

WorkloadModel::Device WorkloadModel::device(std::span<const size_t> active, size_t index) const {
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
      if (other != index) bandwidth += inverse(links_.per_byte(problem_.devices[other], self));
    bandwidth = bandwidth / double(active.size() - 1);
    const Bytes extra = extra_bytes(problem_, active.size());
    if (extra > Bytes{0}) device.in.per_share += extra / bandwidth;
  }
  return device;
}

Workload WorkloadModel::predict(std::span<const size_t> active) {
  links_.activate(active);
  std::vector<Device> devices;
  Seconds low{0}, high{0};
  for (const size_t index : active) {
    devices.push_back(device(active, index));
    high = std::max(high, devices.back().time(1));
  }
  if (!std::isfinite(high.value)) return {{active.begin(), active.end()}, {}, high, {}};
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
    const double share = std::isfinite(all) ? devices[d].share_at(high) / all : 1 / double(devices.size());
    if (share <= 0) continue;
    workload.active.push_back(active[d]), workload.shares.push_back(share);
    const Seconds time = devices[d].time(share);
    workload.time = std::max(workload.time, time);
    if (!problem_.watts.empty()) workload.energy += problem_.watts[active[d]] * time;
  }
  return workload;
}

}  // namespace tilerail
