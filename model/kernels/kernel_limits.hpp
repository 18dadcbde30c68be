#pragma once

#include <optional>

#include "model/kernels/kernel_times.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// What the kernels of a problem do not exceed on one kind of device, alone or side by
/// side, however they are cut. docs/model.md#bound
struct KernelLimits {
  std::optional<FlopRate>
      rate;  // of multiplications; absent where only memory bounds them, or nothing
  std::optional<Rate> memory;  // of operands that are read and written, each once
  Seconds shortest{0};         // of any kernel
  double unslowed = 1;  // share of `rate` that kernels reach which load does not slow
  const GemmCurve* loaded = {};  // whose load slows the others; null: none

  /// The most that such a device multiplies in a time of which it can be busy for the
  /// share `most_busy`, as a share of what `rate` would do in all of it. Load is not felt
  /// before `sustained_after`, and at first in part.
  double work(double most_busy, Seconds time) const;

 private:
  double work_under_load(double most_busy, bool at_first) const;
};

/// Of a problem that multiplies something, or scales C. What it points to lives as long
/// as the kernels. Throws InputError where it multiplies and there are no times for its
/// data type.
KernelLimits kernel_limits(const KernelTimes& kernels, const GemmProblem& problem);

}  // namespace tilerail
