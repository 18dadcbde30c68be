#pragma once

#include <span>
#include <vector>

#include "model/kernels/energy.hpp"
#include "model/published/link_map.hpp"

namespace tilerail {

/// What PARALiA's model knows of a routine (thesis table 3.2).
struct WorkloadProblem {
  struct Operand {
    MemoryId place;
    Bytes bytes{0};
    bool read = false, written = false;
  };
  std::vector<Operand> operands;
  Flops flops{0};
  std::vector<MemoryId> devices;    // candidates
  std::vector<Seconds> exec_times;  // of the whole routine on each of them alone
  std::vector<Watts> watts;         // that each draws while it works; empty: not known
  Bytes tile_bytes{0};              // of one transfer
  int max_hops = 1;
  HopRule hop_rule = HopRule::added;
};

/// Devices and their shares of the sub-kernels.
struct Workload {
  std::vector<size_t> active;  // indices of candidates, ascending
  std::vector<double> shares;  // one each, above 0; their sum is 1
  Seconds time{0};             // predicted
  Joules energy{0};            // predicted where watts are known

  std::vector<MemoryId> devices(std::span<const MemoryId> candidates) const {
    std::vector<MemoryId> memories;
    for (const size_t index : active) memories.push_back(candidates[index]);
    return memories;
  }
  Outcome outcome(const WorkloadProblem& problem) const {
    return {problem.flops, time, energy};
  }
};

/// PARALiA's prediction of a routine on several devices, the full-overlap bound
/// (thesis 3.2.3). With share s of a device,
///   pred(s) = max( exec s,  sum over read of t_link(bytes s) + extra s / b,  sum over
///   written of t_link(bytes s) ) (3.5) extra   = ((rows - 1) + (cols - 1)) / inputs *
///   input bytes,   b = mean bandwidth from the other devices (3.4) t_link  = latency +
///   bytes / shared bandwidth, along the route (3.2)
/// on the most square grid. The thesis charges each device with all of `extra`. Meant is
/// what a device gets beyond its own part of the inputs: with equal shares, the sum of
/// that over the devices is `extra`. Shares are such that all devices end together, which
/// is where PARALiA's adjusting to within 5 % leads.
class WorkloadModel {
 public:
  /// Keeps references to both.
  WorkloadModel(const WorkloadProblem& problem, const LinkMap& map);

  /// Predicts these candidates (ascending indices). Those that latency alone keeps busy
  /// for longer than the others need are left out. An infinite time where one has no way
  /// to an operand.
  Workload predict(std::span<const size_t> active);
  /// As last predicted.
  const SharedLinks& links() const { return links_; }

 private:
  /// latency + per_share * share, for each of the three that overlap.
  struct Line {
    Seconds latency{0}, per_share{0};
    double share_at(Seconds time) const;
    Seconds at(double share) const { return latency + per_share * share; }
  };
  struct Device {
    Line exec, in, out;
    Seconds time(double share) const;
    double share_at(Seconds time) const;
  };
  Device device(std::span<const size_t> active, size_t index) const;

  const WorkloadProblem& problem_;
  SharedLinks links_;
};

/// How sets of devices are compared: with the predicted time longer by a part of itself
/// for each device after the first, and metrics as equal that differ by less than a part.
/// With 0.05 for both, four devices that take 10 ms count with 11.5 ms, and two that
/// count with 12 ms are as good.
struct SelectionRule {
  double further_device = 0, equal = 1e-8;  // bisection leaves shares uncertain
};
/// As PARALiA's library does; thesis 3.2.3 compares predictions as they are.
inline constexpr SelectionRule library_selection{.further_device = 0.05, .equal = 0.05};

/// Subsets of the candidates, the whole set included, from the best metric down; of those
/// equal to the best, the one with the fewest devices is first. Up to
/// `exhaustive_devices` candidates all subsets are predicted. Of more, a beam: of each
/// number of devices, the `workload_beam` best subsets are extended by every other
/// device. From `most_by_one` devices on, the `large_workload_beam` best ones grow by a
/// quarter at once, by the devices that are best one by one. A metric of energy needs
/// watts. Throws InputError when no device has routes to all operands.
/// docs/model.md#selection compares the two.
inline constexpr size_t exhaustive_devices = 8, workload_beam = 16, most_by_one = 16,
                        large_workload_beam = 2;
std::vector<Workload> ranked_workloads(const WorkloadProblem& problem, const LinkMap& map,
                                       const Metric& metric,
                                       const SelectionRule& rule = {});
/// The two searches by themselves, for comparison.
std::vector<Workload> ranked_of_all_subsets(const WorkloadProblem& problem,
                                            const LinkMap& map, const Metric& metric,
                                            const SelectionRule& rule = {});
std::vector<Workload> ranked_by_beam(const WorkloadProblem& problem, const LinkMap& map,
                                     const Metric& metric,
                                     const SelectionRule& rule = {});

}  // namespace tilerail
