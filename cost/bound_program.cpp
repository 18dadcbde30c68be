#include "cost/bound_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tilerail {
namespace {

constexpr double unlimited = LinearProgram::infinity;

/// What copies may start from, end at or pass through: the devices, all hosts, and what the matrices are on.
std::vector<MemoryId> taking_part(const GemmProblem& problem, const Topology& topology,
                                  std::span<const MemoryId> devices) {
  std::vector<MemoryId> memories{devices.begin(), devices.end()};
  memories.insert(memories.end(), topology.hosts().begin(), topology.hosts().end());
  for (const MemoryId place : {problem.place_a, problem.place_b, problem.place_c})
    if (topology.is_gpu(place)) memories.push_back(place);
  std::ranges::sort(memories);
  memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
  return memories;
}

}  // namespace

BoundProgram::BoundProgram(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                           Caches caches, Pace pace)
    : problem_{problem},
      topology_{topology},
      devices_{devices},
      pace_{pace},
      inputs_come_{caches == Caches::empty && !problem.scales_only()},
      memories_{taking_part(problem, topology, devices)},
      graph_{topology, memories_},
      need_{program_.add_variable(1)} {
  const double m = static_cast<double>(problem.m), n = static_cast<double>(problem.n);
  const double k = static_cast<double>(problem.k);
  product_ = !problem.scales_only();
  size_ = {product_ ? m * k : 0, product_ && problem.has_b() ? k * n : 0, m * n, m * n};
  const double largest = *std::ranges::max_element(size_);
  for (double& size : size_) size /= largest;
  unit_bytes_ = largest * static_cast<double>(element_size(problem.dtype));
  double fastest = 1;
  for (const Link& link : topology.links()) fastest = std::max(fastest, link.bandwidth.value);
  unit_seconds_ = unit_bytes_ / fastest;
  add_shares();
  add_regions();
  if (inputs_come_) {
    add_parts(a, problem.place_a, matrix_blocks(problem.rows_a(), problem.cols_a(), problem.place_a, topology));
    add_parts(b, problem.place_b, matrix_blocks(problem.rows_b(), problem.cols_b(), problem.place_b, topology));
  }
  const auto blocks_of_c = matrix_blocks(problem.m, problem.n, problem.place_c, topology);
  add_parts(c, problem.place_c, blocks_of_c);
  const bool stays = std::ranges::find(devices, problem.place_c) != devices.end();
  if (problem.beta != 0 && !stays) add_parts(old, problem.place_c, blocks_of_c);
  add_compute();
  add_links();
  add_groups();
  add_engines();
}

/// A device that has no time for the shortest kernel does nothing. Where the need of the rows so far is not above 1,
/// cuts that its solution does not keep to are added.
double BoundProgram::needed(double seconds) {
  time_ = seconds / unit_seconds_;
  bool possible = false;
  for (const Device& device : device_) {
    const bool works = device.computes && time_ >= device.idle + device.limits.shortest.value / unit_seconds_;
    program_.set_upper(device.share, works ? 1 : 0);
    possible = possible || works;
  }
  if (!possible) return share_ = unlimited;
  for (const Resource& r : resources_) program_.set_coefficient(r.row, need_, -available(r));
  set_reuse();
  const int most_rounds = devices_.size() <= most_with_cuts ? 200 : 8;
  for (int round = 0; round < most_rounds; ++round) {
    share_ = program_.solve();
    exact_ = program_.is_solved();
    if (share_ > 1 || !exact_ || !add_cuts()) return share_;
  }
  exact_ = false;
  return share_;
}

/// Of T, that a resource can be busy.
double BoundProgram::available(const Resource& r) const {
  if (!r.device) return time_;
  const Device& device = device_[*r.device];
  return r.multiplies ? work(device) : std::max(0.0, time_ - device.idle);
}

/// The time that its multiplications take at most with no load, of those that it can do in T.
double BoundProgram::work(const Device& device) const {
  if (!(time_ > device.idle)) return 0;
  const double busy = 1 - device.idle / time_;
  return time_ * (pace_ == Pace::sustained ? device.limits.sustained_work(busy)
                                           : device.limits.work(busy, Seconds{time_ * unit_seconds_}));
}

/// The share of T that goes to a resource. Its price is what the need would change by if it were busy for longer, so
/// the sum of price times available time is 1. Before and after that it is idle.
double BoundProgram::explained(const Resource& r) const {
  const double busy = r.device ? 1 - device_[*r.device].idle / time_ : 1;
  return share_ * std::abs(program_.price(r.row)) * available(r) * busy;
}

std::string BoundProgram::binding() const {
  std::map<std::string_view, double> of_kind;
  double latency = 1;
  for (const Resource& r : resources_) of_kind[r.kind] += explained(r), latency -= explained(r);
  const auto kind = std::ranges::max_element(of_kind, {}, [](const auto& entry) { return entry.second; });
  if (kind == of_kind.end() || !(kind->second > latency)) return "latency";
  const auto price = [&](const Resource& r) { return std::abs(program_.price(r.row)); };
  const Resource* most = nullptr;  // the one that is worth most
  int others = -1;
  for (const Resource& r : resources_) {
    if (r.kind != kind->first || explained(r) < 0.01 * kind->second) continue;
    ++others;
    constexpr double rounding = 1e-6;
    if (!most || price(r) > (1 + rounding) * price(*most)) most = &r;
  }
  return others > 0 ? fmt::format("{} and {} more", most->name, others) : most->name;
}

}  // namespace tilerail
