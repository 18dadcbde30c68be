#pragma once

#include <optional>

#include "model/kernels/kernel_times.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// Upper limits for the kernels of a problem on one kind of device, alone or concurrent,
/// for every tiling. docs/model.md#bound
struct KernelLimits {
  std::optional<FlopRate>
      rate;  // of multiplications; absent if only memory or nothing limits them
  std::optional<Rate> memory;  // of operand reads and writes, each operand once
  Seconds shortest{0};         // of any kernel
  double unslowed = 1;  // share of `rate` reached by kernels that load does not slow down
  const GemmCurve* loaded = {};  // curve with the slowdown of other kernels; null: none

  /// Upper limit of the work in a time in which the device is busy for at most the share
  /// `most_busy`, as a share of the work at `rate` in the whole time. The slowdown starts
  /// after `sustained_after`, first in part.
  double work(double most_busy, Seconds time) const;

 private:
  double work_under_load(double most_busy, bool at_first) const;
};

/// For a problem with multiplications or a scaling of C. The result refers to `kernels`,
/// which must outlive it. Throws InputError for multiplications without times of their
/// data type.
KernelLimits kernel_limits(const KernelTimes& kernels, const GemmProblem& problem);

}  // namespace tilerail
