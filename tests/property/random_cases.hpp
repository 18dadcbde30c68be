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

/// A random planning problem: machine, devices, policy and GEMM, small enough for
/// element-wise execution.
struct Case {
  std::vector<MemoryId> devices;
  Policy policy;
  GemmProblem problem;
  uint64_t seed = 0;
};

/// A host (memory 0) and GPUs (memories 1, 2, ...) of the given capacities in bytes on
/// two PCIe switches, with NVLink between neighbours; then a second host and the memories
/// that represent both hosts. Without switches GPUs have routes to the hosts and their
/// neighbours only.
enum class Switches : uint8_t { two, none };
Topology test_machine(const std::vector<int64_t>& capacities,
                      Switches switches = Switches::two);

template <class T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

/// A preset with every third field changed, except tile, memory and warm. The tile is
/// drawn separately.
Policy random_policy();

/// Memories of a machine; `hosts` ends with the interleaved pages of several hosts.
struct Places {
  std::vector<MemoryId> hosts, gpus;
};
Places places_of(const Topology& machine);

/// A GEMM or, every third time, a routine of vectors, with extents below `most`,
/// sometimes 0. Matrices are in one of these memories, mostly a host, or in blocks over a
/// few. If there are several GPUs, each can have a copy of A and B.
GemmProblem random_problem(const Places& places, int64_t most);

Case random_case(int gpus, std::initializer_list<DType> dtypes);

/// GPUs that hold the matrices placed on them, and in addition everything (1 in 3) or
/// only a few tiles.
Topology random_machine(const Case& c, int gpus, Switches switches = Switches::two);

/// A machine of `hosts` hosts and `gpus` GPUs, with random figures.
Topology random_topology(int hosts, int gpus);

/// A problem of extents up to some thousands for such a machine, in few tiles.
Case random_case_in_few_tiles(const Topology& machine);

/// An f64 problem of extents below 6000 in tiles of 512 or more, on some GPUs of a real
/// machine.
Case random_case_on(const Topology& machine);

std::string describe(const Case& c);

}  // namespace tilerail::testing
