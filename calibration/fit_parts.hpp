#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "calibration/measurements.hpp"
#include "model/machine/topology.hpp"

namespace tilerail::fit {

/// Rates differ if they are further apart than this; repeated measurements vary less.
constexpr double noise = 0.03;

/// A device that is busy for a smaller share of the time has power to spare.
constexpr double rested = 0.5;

/// Running mean of values; 0 without any.
struct Mean {
  double sum = 0;
  int count = 0;

  void add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / count : 0; }
};

inline constexpr const char* host = "host";

/// Cost of a copy between two ends: time = latency + bytes / bandwidth.
struct CopyCost {
  Seconds latency{0};
  Rate bandwidth{0};
};
using Transfers = std::vector<const TransferRun*>;
/// Least squares of relative errors over single flows of several sizes. The latency is 0
/// with only one size.
CopyCost copy_cost(const Transfers& runs);

/// The rate of back-to-back copies of this size, with the latency subtracted.
inline Rate without_latency(Rate rate, Bytes bytes, Seconds latency) {
  return bytes / std::max(bytes / rate - latency, 0.5 * (bytes / rate));
}

/// State shared by all parts of the fit. Memory 0 is the host, memory 1 + i device i.
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
/// Fits the cost of 2-D copies.
void fit_columns(Context& context);
/// Fits the cost of submitting operations.
void fit_costs(Context& context);
/// The rule that fits these runs best, without `shapes`. All runs have one type and power
/// to spare.
using Runs = std::vector<const KernelRun*>;
TiledGemm fit_rule(const Runs& runs, const TiledGemm::Device& device);
inline TiledGemm::Size size_of(const KernelRun& run) {
  return {double(run.m), double(run.n), double(run.k)};
}
/// The largest power of two that divides the bytes of a measured column of A. Shapes with
/// columns that are not multiples of `whole_columns` are slower (the alignment factors)
/// and are not evidence for neighbouring shapes.
int64_t alignment_of(const KernelRun& run);
constexpr int64_t whole_columns = 32;  // bytes
/// Whether operand 0, A, or 1, B, was transposed.
Trans trans_of(const KernelRun& run, size_t operand);
/// Predicted time of a run that is alone and has aligned columns.
Seconds gemm_time(const KernelTimes& kernels, const KernelRun& run);
KernelTimes fit_kernels(const Measurements& measurements);
/// Errors of the fitted machine relative to its measurements; absent if copies, or all
/// types of kernels, have too few measurements.
std::optional<Uncertainty> uncertainty_of(const Measurements& measurements,
                                          HostPages pages, const Topology& machine);

/// The vertex or link of this name in the description.
VertexId vertex_of(const Topology::Description& description, const std::string& name);
LinkId link_between(const Topology::Description& description, const std::string& from,
                    const std::string& to);

}  // namespace tilerail::fit
