#pragma once

#include <span>
#include <vector>

#include "model/kernels/energy.hpp"
#include "model/published/link_map.hpp"

namespace tilerail {

/// Parameters of a routine in PARALiA's model (thesis table 3.2).
struct WorkloadProblem {
  struct Operand {
    MemoryId place;
    Bytes bytes{0};
    bool read = false, written = false;
  };
  std::vector<Operand> operands;
  Flops flops{0};
  std::vector<MemoryId> devices;    // candidates
  std::vector<Seconds> exec_times;  // of the whole routine on each candidate alone
  std::vector<Watts> watts;         // of each candidate while it works; empty: unknown
  Bytes tile_bytes{0};              // of one transfer
  int max_hops = 1;
  HopRule hop_rule = HopRule::added;
  /// Factors of the time with 1, 2, ... devices in the model of PARALiA's library, which
  /// replaces equation 3.5; empty: equation 3.5.
  std::vector<double> library_factors = {};
};

/// Devices and their shares of the sub-kernels.
struct Workload {
  std::vector<size_t> active;  // indices of candidates, ascending
  std::vector<double> shares;  // of each active device, above 0; their sum is 1
  std::vector<Seconds> times;  // predicted for each active device
  Seconds time{0};             // the longest of them
  Joules energy{0};            // predicted if watts are known

  std::vector<MemoryId> devices(std::span<const MemoryId> candidates) const {
    std::vector<MemoryId> memories;
    for (const size_t index : active) memories.push_back(candidates[index]);
    return memories;
  }
  Outcome outcome(const WorkloadProblem& problem) const {
    return {problem.flops, time, energy};
  }
};

/// PARALiA's prediction for a routine on several devices, the full-overlap bound (thesis
/// 3.2.3). With share s of a device,
///   pred(s) = max(exec s,
///                 sum over read operands of t_link(bytes s) + extra s / b,
///                 sum over written operands of t_link(bytes s))            (3.5)
///   extra   = ((rows - 1) + (cols - 1)) / inputs * input bytes             (3.4)
///   b       = mean bandwidth from the other devices
///   t_link  = latency + bytes / shared bandwidth, along the route          (3.2)
/// on the most square grid. The thesis charges each device the whole `extra`. The
/// intention is the data that a device gets in addition to its own part of the inputs:
/// with equal shares, their sum over the devices is `extra`. Shares are such that all
/// devices end simultaneously, the limit of PARALiA's adjustment to within 5 %. With
/// `library_factors`, predictions are those of `library_workload` instead.
class WorkloadModel {
 public:
  /// Keeps references to both.
  WorkloadModel(const WorkloadProblem& problem, const LinkMap& map);

  /// Predicts these candidates (ascending indices). Omits candidates whose latency
  /// exceeds the time of the others. The time is infinite if a candidate has no route to
  /// an operand.
  Workload predict(std::span<const size_t> active);
  /// State of the last prediction.
  const SharedLinks& links() const { return links_; }

 private:
  /// latency + per_share * share, for each of the three overlapping components.
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

/// Subsets of the candidates, including the whole set, in descending order of the metric;
/// among subsets equal to the best, the one with the fewest devices is first: with
/// `library_factors`, subsets within 5 % are equal, as in PARALiA's library. Up to
/// `exhaustive_devices` candidates, all subsets are predicted. Above, beam search: for
/// each number of devices, the `workload_beam` best subsets are extended by every other
/// device. From `most_by_one` devices on, the `large_workload_beam` best subsets grow by
/// a quarter in one step, by the devices with the best single extensions. Energy metrics
/// need watts. Throws InputError if no device has routes to all operands.
/// docs/model.md#selection compares the two.
inline constexpr size_t exhaustive_devices = 8, workload_beam = 16, most_by_one = 16,
                        large_workload_beam = 2;
std::vector<Workload> ranked_workloads(const WorkloadProblem& problem, const LinkMap& map,
                                       const Metric& metric);
/// Both search methods separately, for comparison.
std::vector<Workload> ranked_of_all_subsets(const WorkloadProblem& problem,
                                            const LinkMap& map, const Metric& metric);
std::vector<Workload> ranked_by_beam(const WorkloadProblem& problem, const LinkMap& map,
                                     const Metric& metric);

}  // namespace tilerail
