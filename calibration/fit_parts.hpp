#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "calibration/measurements.hpp"
#include "model/machine/topology.hpp"

namespace tilerail::fit {

/// Two rates differ when they are further apart than this: more than what repeated
/// measurements of one show.
constexpr double noise = 0.03;

/// A device that is busy for less of the time has power to spare.
constexpr double rested = 0.5;

/// The mean of values that come one by one; 0 without any.
struct Mean {
  double sum = 0;
  int count = 0;

  void add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / count : 0; }
};

inline constexpr const char* host = "host";

/// What a copy costs between two ends: time = latency + bytes / bandwidth.
struct CopyCost {
  Seconds latency{0};
  Rate bandwidth{0};
};
using Transfers = std::vector<const TransferRun*>;
/// Least squares of relative errors over single flows of several sizes; the latency is 0
/// where there is only one size.
CopyCost copy_cost(const Transfers& runs);

/// The rate of copies of so many bytes one after another if none of them paid the
/// latency.
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
  /// Runs of these kinds on these pages; runs without a host flow count for both.
  Transfers runs(std::initializer_list<std::string_view> kinds) const;
  Transfers pairs(const std::string& src, const std::string& dst) const;
};

/// Fits links between the host and devices, and between devices (directly or through a
/// switch), and copy engines.
void fit_links(Context& context);
/// Fits capacity groups to runs of several flows.
void fit_groups(Context& context);
/// Fits what 2-D copies cost.
void fit_columns(Context& context);
/// Fits what handing operations over costs.
void fit_costs(Context& context);
/// The rule that is nearest to the times of these runs, all of one type and with power to
/// spare; without `shapes`.
using Runs = std::vector<const KernelRun*>;
TiledGemm fit_rule(const Runs& runs, const TiledGemm::Device& device);
inline TiledGemm::Size size_of(const KernelRun& run) {
  return {double(run.m), double(run.n), double(run.k)};
}
/// The largest power of two that divides the bytes of a column of A as it was measured.
/// Shapes whose columns are no multiples of `whole_columns` are slower, which the factors
/// of alignment tell: they tell nothing of their neighbours.
int64_t alignment_of(const KernelRun& run);
constexpr int64_t whole_columns = 32;  // bytes
/// Whether operand 0, A, or 1, B, was transposed.
Trans trans_of(const KernelRun& run, size_t operand);
/// What the kernel times say of a run alone with aligned columns.
Seconds gemm_time(const KernelTimes& kernels, const KernelRun& run);
/// Fits kernel times.
KernelTimes fit_kernels(const Measurements& measurements);
/// How far the machine's figures are from the measurements that they were fitted to;
/// absent where copies, or all types of kernels, were measured too seldom to tell.
std::optional<Uncertainty> uncertainty_of(const Measurements& measurements,
                                          HostPages pages, const Topology& machine);

/// A node, and a link, that the description has.
NodeId node_of(const Topology::Description& description, const std::string& name);
LinkId link_between(const Topology::Description& description, const std::string& from,
                    const std::string& to);

}  // namespace tilerail::fit
