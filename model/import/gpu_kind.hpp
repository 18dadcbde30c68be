#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/import/assumptions.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The data of one kind of GPU from a machine file, for another machine with such GPUs.
struct GpuKind {
  std::string machine;  // origin of the data
  KernelTimes kernels;
  Memory gpu;  // the first with these kernels: capacity, processor
  StridedEfficiency strided;
  IssueCost issue;
  std::vector<Source> sources;  // of kernels, 2-D copies and issue
};

/// The GPU model of kernels with this name, by the first word that names a GPU: "a100" or
/// "nvidia-a100-sxm4-40gb"; letters may follow, as in "v100s". Unknown names give a GPU
/// without a word.
assumptions::GpuModel gpu_model(std::string_view kernels);

/// The first PCIe generation with a nominal rate of 16 lanes of at least this rate, or
/// the last.
int pcie_generation(Rate rate);

}  // namespace tilerail
