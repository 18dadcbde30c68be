#pragma once

#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// What a described machine says of one kind of GPU, for another machine with such GPUs.
struct GpuKind {
  std::string machine, file;  // that it comes from
  KernelTimes kernels;
  Memory gpu;  // the first with these kernels: capacity, engines, watts
  StridedEfficiency strided;
  IssueCost issue;
  std::vector<Source> sources;  // of kernels, 2-D copies and issue
};

}  // namespace tilerail
