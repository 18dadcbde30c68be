#pragma once

#include <span>
#include <vector>

#include "model/published/workload.hpp"

namespace tilerail {

/// Grid rows and columns beyond the first, on the most square grid of these devices:
/// (rows - 1) + (columns - 1).
double further_parts(size_t devices);

/// Prediction of PARALiA's public library. It differs from equation 3.5: the longest time
/// of a link counts instead of sums over operands. With share s of a device,
///   bytes(operand's place -> device)  += operand s if read, the reverse if written
///   bytes(each other device -> device) += extra s / (devices - 1)
///   time(link) = latency + bytes / shared bandwidth
///   pred(s)    = factor max(exec s, times of all links from and to the device)
/// If hops are allowed: the longest links first, all bytes of a link (with bytes of
/// detours over it) go over another active device, and are added to both links of this
/// detour. A detour is as wide as `SharedLinks::bottleneck_worth` of its narrower link.
/// It replaces the best path so far, initially the link itself, if it is wider, or as
/// wide and shorter in time, and
/// * it is at least twice as wide as this path, or
/// * neither of its two links then takes longer than the longest link.
/// This includes links of hosts, which SharedLinks excludes because it has no times.
/// The shares are equal, or shares / pred of equal shares, `adjusted`, if these are
/// faster. `shared`: without hops, `active` is activated. docs/model.md#workload-model
Workload library_workload(const WorkloadProblem& problem, const SharedLinks& shared,
                          std::span<const size_t> active);

/// The workload with the shares that the library assigns for a metric, without devices
/// that get nothing: `adjusted` parts in proportion to s / t for perf, s^2 / (t W) for
/// pdp and s^3 / (t^2 W) for edp, with the share s, time t and watts W of each device. A
/// workload of equation 3.5 is not changed.
Workload deal_by_metric(Workload best, const Metric& metric,
                        const WorkloadProblem& problem);

/// Shares as the library uses them, for weights above 0. Weights become shares of their
/// sum; shares below 5 % become 0 (below half of an equal share for more than 10
/// devices); and from the first on, a share and later shares that differ from it by at
/// most 5 % per device are averaged: a library's protection against errors of
/// measurements, which also joins shares that are not similar.
std::vector<double> adjusted(std::vector<double> weights);

}  // namespace tilerail
