#pragma once

#include <cstddef>
#include <vector>

#include "model/published/workload.hpp"

namespace tilerail {

/// Subsets of the candidates, the whole set included, from the best metric down; of those equal to the best, the one
/// with the fewest devices is first. Up to `exhaustive_devices` candidates all subsets are predicted. Of more, a beam:
/// of each number of devices, the `workload_beam` best subsets are extended by every other device. A metric of energy
/// needs watts. Throws InputError when no device has routes to all operands. docs/model.md#selection compares the two.
inline constexpr std::size_t exhaustive_devices = 8, workload_beam = 16;
std::vector<Workload> ranked_workloads(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric);
/// The two searches by themselves, for comparison.
std::vector<Workload> ranked_of_all_subsets(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric);
std::vector<Workload> ranked_by_beam(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric);

}  // namespace tilerail
