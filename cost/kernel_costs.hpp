#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Cost of a kernel alone on its device: its time and the share of the device that it
/// fills, in (0, 1].
struct KernelCost {
  Seconds time{0};
  double share = 1;
  double slack = 1;  // time relative to well aligned operands
  bool slows_down =
      false;  // under load: a GEMM whose result has several rows and columns
  std::optional<Seconds> issue =
      {};  // host thread's time to submit it; absent: the default of kernels
  bool is_estimate = false;  // from GEMMs, because this kind has not been measured

  /// Time on a device slowed down by `load_factor`. A kernel stalled by badly aligned
  /// operands draws less power, so only the larger of the two factors counts.
  Seconds under_load(double load_factor) const {
    return slows_down ? time * std::max(1.0, load_factor / slack) : time;
  }
};

/// Whether kernels that fill this share of a device leave room for one more; the sum may
/// then exceed 1.
constexpr bool leaves_room(double filled) {
  return filled < 1 - 1e-9;
}  // sums of shares are rounded

/// Default number of preceding calls, without a pause between them: the predicted call is
/// the fourth, the middle one of the three that `tilerail run` counts after a first call
/// and a warm-up.
constexpr double usual_calls_before = 3;

/// The product whose kernel times and watts a plan has: its problem's, or without
/// transposes.
GemmProblem typical_product(const Plan& plan);

/// Factor on the times of kernels that slow down, on a device that the plan's kernels
/// keep busy for the share `duty`, in a call that takes `time` and follows `calls_before`
/// others.
double load_factor(const Plan& plan, const Topology& topology, MemoryId gpu, double duty,
                   Seconds time, double calls_before);

/// Costs of submitting this plan as one graph; null if threads submit its operations: for
/// an emulated library, or on a machine without costs of graphs.
const GraphCost* graph_cost(const Plan& plan, const Topology& topology);

/// Time of one kernel for a part (m, n, k) of a problem's routine; axpy ignores k. Throws
/// InputError without times for the data type.
Seconds product_time(const KernelTimes& kernels, const GemmProblem& problem, int64_t m,
                     int64_t n, int64_t k);

/// Costs of kernels, shared by planner, estimate and simulator. Each distinct shape is
/// computed once, as tiles repeat.
class KernelCosts {
 public:
  /// Costs of kernels submitted to streams or, with `in_graph`, as a graph.
  explicit KernelCosts(const Topology& topology, bool in_graph = false)
      : topology_{topology}, in_graph_{in_graph} {}

  /// Cost of a kernel with these operands, in buffers of `plan`, on this GPU. The result
  /// is valid as long as this object. Throws InputError if the GPU has no times for the
  /// data type.
  const KernelCost& of(const Plan& plan, const Op& op, Views operands, MemoryId gpu);

  /// The kinds of kernels so far whose costs are estimates.
  std::set<std::string_view> estimated() const;

 private:
  struct Shape {
    int64_t m, n, k;
    size_t kernels;  // index of the topology's kernel times
    OpKind kind;
    DType dtype;
    Trans trans_a = Trans::no, trans_b = Trans::no;
    int reads = 0;           // in elements of the result
    Flops flops{0};          // of kernels on tiles
    uint64_t alignment = 0;  // in bytes: all columns start at multiples of it

    auto operator<=>(const Shape&) const = default;
  };
  Shape shape_of(const Plan& plan, const Op& op, Views operands, MemoryId gpu) const;
  KernelCost cost_of(const Shape& shape) const;
  KernelCost tile_cost(const Shape& shape) const;
  KernelCost gemm_cost(const Shape& shape) const;
  const KernelTimes& times(const Shape& shape) const {
    return topology_.description().kernels[shape.kernels];
  }

  const Topology& topology_;
  bool in_graph_;
  std::map<Shape, KernelCost> known_;
  const std::pair<const Shape, KernelCost>* last_ =
      nullptr;  // consecutive queries mostly repeat
};

/// Costs of everything in a plan that computes on a device: kernels, and copies within a
/// device with a known memory bandwidth, which run as kernels. Memory: 8 bytes per
/// operation.
class PlanKernelCosts {
 public:
  /// Uses the costs in a graph if the plan is one or, with `as_graph`, could be one.
  /// Throws InputError if a device has no times for the plan's data type.
  PlanKernelCosts(const Plan& plan, const Topology& topology, bool as_graph = false);

  bool computes(OpId op) const { return of_op_[op.index()]; }
  /// `op` must compute.
  const KernelCost& of(OpId op) const { return *of_op_[op.index()]; }

  /// Sum of the times of all kernels.
  Seconds total() const { return total_; }

 private:
  KernelCosts costs_;
  std::vector<const KernelCost*> of_op_;  // null: it does not compute
  Seconds total_;
};

}  // namespace tilerail
