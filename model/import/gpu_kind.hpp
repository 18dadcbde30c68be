#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/import/assumptions.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The figures of one kind of GPU in a machine file, for another machine with such GPUs.
struct GpuKind {
  std::string machine;  // that it comes from
  KernelTimes kernels;
  Memory gpu;  // the first with these kernels: capacity, engines, watts
  StridedEfficiency strided;
  IssueCost issue;
  std::vector<Source> sources;  // of kernels, 2-D copies and issue
};

/// The GPUs with kernels of this name: by its first word that names a GPU, "a100" or
/// "nvidia-a100-sxm4-40gb"; letters may follow, "v100s". Of other names a GPU without a
/// word.
assumptions::GpuModel gpu_model(std::string_view kernels);

/// The first PCIe generation whose nominal rate of 16 lanes is at least this, or the
/// last.
int pcie_generation(Rate rate);

}  // namespace tilerail
