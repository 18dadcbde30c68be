#pragma once

#include "model/machine/rank.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Checks structure: ids in range, dependencies and queues in order, views inside
/// buffers, kernel operands on the queue's GPU, copies between the queue's memories,
/// matching shapes, operands of the problem's type, tiles inside the stated peak. Throws
/// InputError with the operation.
void validate(const Plan& plan);
/// Whether the plan's memories are the topology's. The memory of replicas on each GPU may
/// be missing.
bool names_memories_of(const Plan& plan, const Topology& topology);
/// Checks that a valid plan fits the machine: its memories are the topology's, its copies
/// have routes, and its matrices and tiles fit into the memories (plan/memory_needs.hpp).
/// Throws InputError.
void require_fit(const Plan& plan, const Topology& topology);
/// Both checks. Each operation must be in a memory of the rank; copies from and to other
/// ranks have no place there.
void validate(const Plan& plan, const Topology& topology, const OwnRank& own = {});

/// Requirements of backends that run a valid plan on real memory. Throws InputError with
/// the first operation without a kernel, or the first whose output overlaps its inputs.
void require_kernels(const Plan& plan, bool on_cuda = false);

}  // namespace tilerail
