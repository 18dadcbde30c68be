// What devices can do in a time, and what their shares of the work touch: the rows of BoundProgram for devices and sets
// of devices.
#include <algorithm>
#include <cmath>
#include <set>

#include "cost/bound_program.hpp"

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

/// Sets of at least two of so many devices and not all of them, which follow from their number alone: every set of few;
/// else those that are neighbours in their order, or every other one; none of many.
std::vector<std::vector<std::size_t>> sets_of(std::size_t count, std::size_t most_with_cuts) {
  constexpr std::size_t few = 5;
  std::set<std::vector<std::size_t>> sets;
  if (count > most_with_cuts) return {};
  const auto add = [&](auto&& is_in) {
    std::vector<std::size_t> set;
    for (std::size_t d = 0; d < count; ++d)
      if (is_in(d)) set.push_back(d);
    if (set.size() > 1 && set.size() < count) sets.insert(std::move(set));
  };
  if (count <= few) {
    for (std::size_t bits = 0; bits < std::size_t{1} << count; ++bits)
      add([&](std::size_t d) { return (bits >> d & 1) == 1; });
    return {sets.begin(), sets.end()};
  }
  for (std::size_t size = 2; size < count; ++size)
    for (std::size_t first = 0; first + size <= count; ++first)
      add([&](std::size_t d) { return d >= first && d < first + size; });
  for (const std::size_t rest : {0, 1}) add([&](std::size_t d) { return d % 2 == rest; });
  return {sets.begin(), sets.end()};
}

}  // namespace

/// It computes where it is known how fast; a plan that may choose leaves others out.
BoundProgram::Device BoundProgram::device_of(MemoryId memory) const {
  const KernelTimes& kernels = topology_.kernels_of(memory);
  Device device{};
  device.node = topology_.memory(memory).node.index();
  device.computes = !product_ || problem_.routine == Routine::axpy ||
                    kernels.knows(problem_.dtype, problem_.trans_a, problem_.trans_b);
  if (!device.computes) return device;
  device.limits = kernel_limits(kernels, problem_);
  if (device.limits.rate) device.all = problem_.flops() / *device.limits.rate / Seconds{unit_seconds_};
  return device;
}

/// No kernel starts before some of what it reads is there, and C leaves after it. A product may be added to C later.
void BoundProgram::set_idle() {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const std::size_t node = device_[d].node;
    double first = 0;
    if (inputs_come_) first = latency(problem_.place_a, node, false);
    if (inputs_come_ && problem_.has_b()) first = std::max(first, latency(problem_.place_b, node, false));
    if (!(product_ && problem_.has_b()) && problem_.beta != 0)
      first = std::max(first, latency(problem_.place_c, node, false));
    device_[d].idle = (first + latency(problem_.place_c, node, true)) / unit_seconds_;
  }
}

/// The least from the nearest block of a matrix, or from the farthest part of interleaved pages; with `back` to them.
double BoundProgram::latency(MemoryId place, std::size_t node, bool back) {
  double least = unlimited;
  for (const MemoryId home : homes_of(place, topology_)) {
    double farthest = 0;
    for (const MemoryId part : topology_.parts_of(home)) {
      const auto [known, is_new] = latencies_.try_emplace({part, back});
      if (is_new) known->second = graph_.latencies(topology_.memory(part).node.index(), back);
      farthest = std::max(farthest, known->second[node]);
    }
    least = std::min(least, farthest);
  }
  return least == unlimited ? 0 : least;
}

/// Every multiplication is somebody's. An element of A takes part in n of them, one of B in m, one of C in k: a share
/// w of the multiplications touches a share w of each matrix at least.
void BoundProgram::add_shares() {
  Terms all, read;
  for (const MemoryId memory : devices_) {
    Device& device = device_.emplace_back(device_of(memory));
    device.share = program_.add_variable(0, device.computes ? 1 : 0);
    all.push_back({device.share, 1});
    for (const Matrix matrix : {a, b, c, old}) device.holds[matrix] = program_.add_variable(0, 1);
    for (const Matrix matrix : {a, b, c})
      program_.add_row(0, unlimited, {{device.holds[matrix], 1}, {device.share, -1}});
    read.push_back({device.holds[old], 1});
  }
  set_idle();
  program_.add_row(1, 1, all);
  if (problem_.beta != 0) program_.add_row(1, unlimited, read);
}

void BoundProgram::add_regions() {
  for (std::size_t d = 0; d < devices_.size(); ++d) regions_.push_back({{d}});
  if (!product_ || !problem_.has_b()) return;
  for (auto& devices : sets_of(devices_.size(), most_with_cuts)) regions_.push_back({std::move(devices)});
}

/// The share of the multiplications that its devices can do in T.
double BoundProgram::most(const Region& region) const {
  double share = 0;
  for (const std::size_t d : region.devices)
    if (device_[d].computes) share += device_[d].all > 0 ? work(device_[d]) / device_[d].all : 1;
  constexpr double least = 1e-9;
  return std::clamp(share, least, 1.0);
}

/// Loomis and Whitney: a share w of the multiplications touches shares x, y, z of A, B, C with x y z >= w^2, hence
///   (x0 y0 z0)^(1/3) (x / x0 + y / y0 + z / z0) >= 3 w / W^(1/3)    for any x0, y0, z0 and w <= W
/// (the means' inequality, and w^(2/3) >= w / W^(1/3)). W is what the devices could multiply in T; nothing else of the
/// row follows from T or the machine.
void BoundProgram::set_reuse() {
  for (const Region& region : regions_)
    for (const std::size_t row : region.rows)
      for (const std::size_t d : region.devices)
        program_.set_coefficient(row, device_[d].share, -3 / std::cbrt(most(region)));
}

/// Of the rows whose x0 / z0 and y0 / z0 are powers of the root of two, that which the solution breaks most.
bool BoundProgram::add_reuse(Region& region, const std::array<Touched, 3>& touched) {
  constexpr double steps = 2, most_steps = 24, least = 1e-12;
  double share = 0;
  for (const std::size_t d : region.devices) share += program_.value(device_[d].share);
  const double asked = 3 * share / std::cbrt(most(region));
  const auto nearest = [&](Matrix matrix) {
    const double ratio = std::max(least, touched[matrix].value) / std::max(least, touched[c].value);
    return std::clamp(std::round(steps * std::log2(ratio)), -most_steps, most_steps);
  };
  std::array<double, 3> best{};
  double has = asked - precise;
  for (const double i : {-1, 0, 1})
    for (const double j : {-1, 0, 1}) {
      const double x = std::exp2((nearest(a) + i) / steps), y = std::exp2((nearest(b) + j) / steps);
      const double mean = std::cbrt(x * y);
      const std::array factors{mean / x, mean / y, mean};
      const double sum = factors[a] * touched[a].value + factors[b] * touched[b].value + factors[c] * touched[c].value;
      if (sum < has) has = sum, best = factors;
    }
  if (best[c] == 0) return false;
  Terms terms;
  double there = 0;  // what needs no terms
  for (const Matrix matrix : {a, b, c}) {
    if (touched[matrix].terms.empty()) there += best[matrix] * touched[matrix].value;
    for (const auto& [variable, coefficient] : touched[matrix].terms)
      terms.push_back({variable, best[matrix] * coefficient});
  }
  for (const std::size_t d : region.devices) terms.push_back({device_[d].share, -3 / std::cbrt(most(region))});
  region.rows.push_back(program_.add_row(-there, unlimited, terms));
  return true;
}

}  // namespace tilerail
