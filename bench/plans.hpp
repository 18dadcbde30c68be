#pragma once

#include <cstdint>
#include <string>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail::bench {

/// A machine of topologies/, by name.
Topology machine(const std::string& name);

/// About `ops` operations in the pattern of a tiled GEMM on all GPUs, without a planner:
/// every GPU runs chains of 16 GEMMs of 512 x 512 x 512, eight chains at a time; every
/// fourth GEMM waits for a tile from the host, every fourth for one from the next GPU; a
/// chain ends with a write-back.
Plan synthetic_plan(const Topology& topology, int64_t ops);

/// A planned cubic f64 GEMM of about `ops` operations in tiles of 512 on all GPUs,
/// matrices on the host.
Plan planned_gemm(const Topology& topology, const std::string& policy, int64_t ops);

}  // namespace tilerail::bench
