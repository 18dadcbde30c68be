#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A kernel alone on its device: how long it runs and what share of the device it fills,
/// in (0, 1].
struct KernelCost {
  Seconds time{0};
  double share = 1;
  double slack = 1;         // how many times as long as well aligned operands take
  bool slows_down = false;  // under load: a GEMM whose result has several rows and
                            // columns, however it was asked for
  std::optional<Seconds> issue =
      {};  // of a host thread that hands it over; absent: what kernels cost

  /// On a device that its load makes `load_factor` times slower. What waits for its
  /// operands draws less power, so only the larger of the two factors counts.
  Seconds under_load(double load_factor) const {
    return slows_down ? time * std::max(1.0, load_factor / slack) : time;
  }
};

/// Whether kernels that fill so much of a device together leave room for one more; it may
/// take the sum above 1.
constexpr bool leaves_room(double filled) {
  return filled < 1 - 1e-9;
}  // sums of shares are rounded

/// Calls of a plan before the one that is predicted, without a pause between them, where
/// nobody says otherwise: the fourth is that in the middle of those that `tilerail run`
/// takes, a first one, one to warm up and three that count.
constexpr double usual_calls_before = 3;

/// Factor on the times of the kernels that slow down, on a device that a plan's kernels
/// keep busy for this share of the time, in a call that takes `time` and follows so many
/// others.
double load_factor(const Plan& plan, const Topology& topology, MemoryId gpu, double duty,
                   Seconds time, double calls_before);

/// What handing this plan over costs where it is one graph; null where threads hand over
/// its operations: those of an emulated library do, and a machine may not know what
/// graphs cost.
const GraphCost* graph_cost(const Plan& plan, const Topology& topology);

/// Of one kernel that does this much of a problem's routine; for axpy, k plays no part.
/// Throws InputError when there are no times for the data type.
Seconds product_time(const KernelTimes& kernels, const GemmProblem& problem, int64_t m,
                     int64_t n, int64_t k);

/// What kernels cost: the one function that the planner, the estimate and the simulator
/// ask. Tiles repeat, so each distinct shape is worked out once.
class KernelCosts {
 public:
  /// Of kernels that streams hand on or, `in_graph`, a graph.
  explicit KernelCosts(const Topology& topology, bool in_graph = false)
      : topology_{topology}, in_graph_{in_graph} {}

  /// Of a kernel on this GPU, whose views are of buffers of the plan. Valid as long as
  /// this object. Throws InputError when the GPU has no times for the data type.
  const KernelCost& of(const Plan& plan, const Op& op, MemoryId gpu);

 private:
  struct Shape {
    int64_t m, n, k;
    size_t kernels;  // of the topology, whose times count
    OpKind kind;
    DType dtype;
    Trans trans_a = Trans::no, trans_b = Trans::no;
    int reads = 0;
    uint64_t alignment = 0;  // bytes that all columns start at multiples of

    auto operator<=>(const Shape&) const = default;
  };
  Shape shape_of(const Plan& plan, const Op& op, MemoryId gpu) const;
  KernelCost cost_of(const Shape& shape, const Op& op) const;
  KernelCost gemm_cost(const Shape& shape) const;
  const KernelTimes& times(const Shape& shape) const {
    return topology_.description().kernels[shape.kernels];
  }

  const Topology& topology_;
  bool in_graph_;
  std::map<Shape, KernelCost> known_;
  const std::pair<const Shape, KernelCost>* last_ = nullptr;  // mostly the next one, too
};

/// Of everything in a plan that computes on a device: its kernels, and its copies within
/// a device whose memory bandwidth is known, which are kernels there. Memory: 8 bytes an
/// operation.
class PlanKernelCosts {
 public:
  /// Costs are those in a graph if the plan is one, or, with `as_graph`, could be. Throws
  /// InputError when a device has no times for the plan's data type.
  PlanKernelCosts(const Plan& plan, const Topology& topology, bool as_graph = false);

  bool computes(OpId op) const { return of_op_[op.index()]; }
  /// Of one that computes.
  const KernelCost& of(OpId op) const { return *of_op_[op.index()]; }

  /// Of all kernels one after another.
  Seconds total() const { return total_; }

 private:
  KernelCosts costs_;
  std::vector<const KernelCost*> of_op_;  // null: it does not compute
  Seconds total_;
};

}  // namespace tilerail
