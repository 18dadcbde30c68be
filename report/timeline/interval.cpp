#include "report/timeline/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cost/copy_times.hpp"
#include "cost/kernel_costs.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "report/timeline/critical_path.hpp"

namespace tilerail {
namespace {

double makespan_of(std::span<const OpTime> times) {
  double last = 0;
  for (const OpTime& time : times) last = std::max(last, time.end);
  return last;
}

/// By memory: whether the device's load slows its kernels down.
std::vector<bool> slowed_down(const Plan& plan, const Topology& topology,
                              std::span<const OpTime> times) {
  const PlanKernelCosts costs{plan, topology};
  std::vector<double> filled(topology.memories().size(), 0);
  for (const auto i : indices(plan.ops))
    if (is_kernel(plan.ops[i].kind))
      filled[plan.queue(plan.ops[i].queue).dst.index()] +=
          (times[i].end - times[i].start) * costs.of(OpId{i}).share;
  const double makespan = makespan_of(times);
  std::vector<bool> slowed(filled.size(), false);
  for (const MemoryId gpu : plan.devices)
    slowed[gpu.index()] =
        makespan > 0 && load_factor(plan, topology, gpu, filled[gpu.index()] / makespan,
                                    Seconds{makespan}, usual_calls_before) > 1;
  return slowed;
}

/// Interpolates between the half widths of measured and of other shapes, by nearness to
/// the measured shapes.
double width_of(const Uncertainty::Kernels& known, const Op& op, Views operands,
                const KernelTimes& kernels) {
  if (op.kind != OpKind::gemm) return known.measured_shapes;
  const GemmCurve& curve = kernels.curve(known.dtype, op.trans_a, op.trans_b);
  if (!curve.tiled) return known.measured_shapes;
  const View& y = operands.back();
  const double near = curve.tiled->nearness(
      {double(y.rows), double(y.cols), double(gemm_depth(op, operands))});
  return near * known.measured_shapes + (1 - near) * known.other_shapes;
}

}  // namespace

double PathUncertainty::half_width() const {
  return std::sqrt(kernels * kernels + load * load + copies * copies + columns * columns +
                   issue * issue);
}

std::optional<PathUncertainty> path_uncertainty(const Plan& plan,
                                                const Topology& topology,
                                                std::span<const OpTime> times) {
  const std::optional<Uncertainty>& known = topology.description().uncertainty;
  if (!known) return std::nullopt;
  const auto kernels = known->of_kernels(plan.dtype());
  if (!kernels) return std::nullopt;
  std::vector<bool> slowed(topology.memories().size(), false);
  if (known->load > 0) slowed = slowed_down(plan, topology, times);
  PathUncertainty sum;
  const EngineUse engines{plan, topology, times};
  const std::vector<OpId> ops = critical_path(plan, times, engines);
  for (const auto i : indices(ops)) {
    const Op& op = plan.op(ops[i]);
    const OpTime& time = times[ops[i].index()];
    const double before = i + 1 < ops.size() ? times[ops[i + 1].index()].end : 0;
    const EngineUse::Pause pause = engines.pause(ops[i], before, time.start);
    const double seconds = time.end - time.start + std::max(0.0, pause.waiting);
    sum.issue += pause.issue * known->issue;
    if (is_kernel(op.kind)) {
      const MemoryId gpu = plan.queue(op.queue).dst;
      sum.kernels += seconds * width_of(*kernels, op, plan.operands_of(op),
                                        topology.kernels_of(gpu));
      if (slowed[gpu.index()]) sum.load += seconds * known->load;
    } else if (op.kind == OpKind::copy) {
      sum.copies += seconds * known->copies;
      if (copy_columns(plan, op, topology).bytes > 0)
        sum.columns += seconds * known->columns;
    }
  }
  return sum;
}

std::optional<PredictedInterval> predicted_interval(const Plan& plan,
                                                    const Topology& topology,
                                                    std::span<const OpTime> times) {
  const auto uncertainty = path_uncertainty(plan, topology, times);
  if (!uncertainty) return std::nullopt;
  const double makespan = makespan_of(times), half_width = uncertainty->half_width();
  return PredictedInterval{std::max(0.0, makespan - half_width), makespan + half_width};
}

std::string interval_text(const PredictedInterval& interval) {
  const std::string wide =
      interval.is_wide() ? fmt::format(", wider than +-{:g}%: too wide to be useful",
                                       100 * PredictedInterval::widest)
                         : "";
  return fmt::format("{} to {} in {:g}% of cases{}", seconds_text(interval.low),
                     seconds_text(interval.high), 100 * Uncertainty::level, wide);
}

}  // namespace tilerail
