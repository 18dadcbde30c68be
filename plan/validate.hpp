#pragma once

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Checks structure: ids in range, dependencies and queues in order, views inside
/// buffers, kernel operands on the queue's GPU, copies between the queue's memories,
/// matching shapes, operands of the problem's type, tiles inside the stated peak. Throws
/// InputError naming the operation.
void validate(const Plan& plan);
/// Whether the plan names the memories of the topology. The one of which each GPU has a
/// copy may be left out.
bool names_memories_of(const Plan& plan, const Topology& topology);
/// Of a valid plan: that its memories are the topology's, its copies have routes and its
/// matrices and tiles fit into the memories (plan/memory_needs.hpp). Throws InputError.
void require_fit(const Plan& plan, const Topology& topology);
/// Both.
void validate(const Plan& plan, const Topology& topology);

/// What a backend requires of a valid plan before it runs it on real memory. Throws
/// InputError naming the first operation without a kernel, or the first one whose output
/// overlaps its inputs.
void require_kernels(const Plan& plan);

}  // namespace tilerail
