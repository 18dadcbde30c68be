#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "calibration/measurements.hpp"
#include "model/machine/topology.hpp"

namespace tilerail::fit {

/// Two rates differ when they are further apart than this: more than what repeated measurements of one show.
constexpr double noise = 0.03;

/// A device that is busy for less of the time has power to spare.
constexpr double rested = 0.5;

/// What a copy costs between two ends: time = latency + bytes / bandwidth.
struct CopyCost {
  Seconds latency{0};
  Rate bandwidth{0};
};
/// Least squares of relative errors over single flows of several sizes; the latency is 0 where there is only one size.
CopyCost copy_cost(const std::vector<const TransferRun*>& runs);

/// The rate of copies of so many bytes one after another if none of them paid the latency.
inline Rate without_latency(Rate rate, Bytes bytes, Seconds latency) {
  return bytes / std::max(bytes / rate - latency, 0.5 * (bytes / rate));
}

/// What the parts of the fit share. Memory 0 is the host, memory 1 + i device i.
struct Context {
  const Measurements& measurements;
  HostPages pages;
  Topology::Description& description;

  size_t devices() const { return measurements.devices.size(); }
  const std::string& device(size_t i) const { return measurements.devices[i].name; }
  /// Runs of a kind on these pages; runs without a host flow count for both.
  std::vector<const TransferRun*> runs(const std::string& kind) const;
  std::vector<const TransferRun*> pairs(const std::string& src, const std::string& dst) const;
};

/// Fits links between the host and devices, and between devices (directly or through a switch), and copy engines.
void fit_links(Context& context);
/// Fits capacity groups to runs of several flows.
void fit_groups(Context& context);
/// Fits what 2-D copies cost.
void fit_columns(Context& context);
/// Fits what handing operations over costs.
void fit_costs(Context& context);
/// The rule that is nearest to the times of these runs, all of one type and with power to spare; without `shapes`.
TiledGemm fit_rule(const std::vector<const KernelRun*>& runs, double multiprocessors, Rate memory);
/// The largest power of two that divides the bytes of a column of A as it was measured. Shapes whose columns are no
/// multiples of `whole_columns` are slower, which the factors of alignment tell: they tell nothing of their neighbours.
int64_t alignment_of(const KernelRun& run);
constexpr int64_t whole_columns = 32;  // bytes
/// Fits kernel times.
KernelTimes fit_kernels(const Measurements& measurements);
/// How far the machine's figures are from the measurements that they were fitted to; absent where copies, or all types
/// of kernels, were measured too seldom to tell.
std::optional<Uncertainty> uncertainty_of(const Measurements& measurements, HostPages pages, const Topology& machine);

LinkId link_between(const Topology::Description& description, const std::string& from, const std::string& to);

}  // namespace tilerail::fit
