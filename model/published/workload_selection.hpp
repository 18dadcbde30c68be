#pragma once

#include <cstddef>
#include <vector>

#include "model/published/workload.hpp"

namespace tilerail {

/// How sets of devices are compared: with the predicted time longer by a part of itself for each device after the
/// first, and metrics as equal that differ by less than a part. With 0.05 for both, four devices that take 10 ms count
/// with 11.5 ms, and two that count with 12 ms are as good.
struct SelectionRule {
  double further_device = 0, equal = 1e-8;  // bisection leaves shares uncertain
};
/// As PARALiA's library does; thesis 3.2.3 compares predictions as they are.
inline constexpr SelectionRule library_selection{.further_device = 0.05, .equal = 0.05};

/// Subsets of the candidates, the whole set included, from the best metric down; of those equal to the best, the one
/// with the fewest devices is first. Up to `exhaustive_devices` candidates all subsets are predicted. Of more, a beam:
/// of each number of devices, the `workload_beam` best subsets are extended by every other device. From `most_by_one`
/// devices on, the `large_workload_beam` best ones grow by a quarter at once, by the devices that are best one by one.
/// A metric of energy needs watts. Throws InputError when no device has routes to all operands. docs/model.md#selection
/// compares the two.
inline constexpr size_t exhaustive_devices = 8, workload_beam = 16, most_by_one = 16, large_workload_beam = 2;
std::vector<Workload> ranked_workloads(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric,
                                       const SelectionRule& rule = {});
/// The two searches by themselves, for comparison.
std::vector<Workload> ranked_of_all_subsets(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric,
                                            const SelectionRule& rule = {});
std::vector<Workload> ranked_by_beam(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric,
                                     const SelectionRule& rule = {});

}  // namespace tilerail
