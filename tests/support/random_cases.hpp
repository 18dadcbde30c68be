#pragma once

#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail::testing {

/// A random planning problem: machine, devices, policy and GEMM, small enough to be carried out element by element.
struct Case {
  std::vector<MemoryId> devices;
  Policy policy;
  GemmProblem problem;
  std::uint64_t seed = 0;
};

/// A host (memory 0) and GPUs (memories 1, 2, ...) of the given capacities in bytes on two PCIe switches, with NVLink
/// between neighbours.
Topology test_machine(const std::vector<std::int64_t>& capacities);

}  // namespace tilerail::testing
