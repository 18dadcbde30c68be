#pragma once

#include <rapidcheck.h>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail::testing {

/// A random planning problem: machine, devices, policy and GEMM, small enough to be
/// carried out element by element.
struct Case {
  std::vector<MemoryId> devices;
  Policy policy;
  GemmProblem problem;
  uint64_t seed = 0;
};

/// A host (memory 0) and GPUs (memories 1, 2, ...) of the given capacities in bytes on
/// two PCIe switches, with NVLink between neighbours; then a second host and the memories
/// that stand for both. Without switches GPUs have routes to the hosts and their
/// neighbours only.
enum class Switches : uint8_t { two, none };
Topology test_machine(const std::vector<int64_t>& capacities,
                      Switches switches = Switches::two);

template <class T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

/// A preset with every third field changed. Left alone: what is drawn to go with the
/// problem and the machine, and how long the judging of plans may take.
Policy random_policy();

/// A GEMM, or every third time a routine of vectors, with extents below `most`, 0 now and
/// then, and matrices on the host, one of so many GPUs, or what else the machine has
/// behind these: so many memories. Of A and B each GPU may have a copy, where there are
/// several.
GemmProblem random_problem(int gpus, int others, int64_t most);

Case random_case(int gpus, std::initializer_list<DType> dtypes);

/// GPUs that hold the matrices placed on them, and beside those everything (1 in 3) or
/// only a few tiles.
Topology random_machine(const Case& c, int gpus, Switches switches = Switches::two);

/// A machine of so many hosts and GPUs, whose every figure is drawn.
Topology random_topology(int hosts, int gpus);

/// A problem of extents up to some thousands for such a machine, in few tiles.
Case random_case_in_few_tiles(const Topology& machine);

/// An f64 problem of extents below 6000 in tiles of 512 or more, on some GPUs of a real
/// machine.
Case random_case_on(const Topology& machine);

std::string describe(const Case& c);

}  // namespace tilerail::testing
