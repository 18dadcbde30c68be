#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// The GPU whose thread hands over the operations of a queue and whose stream they use: where kernels run, where a copy
/// starts, or where it goes when it starts on a host.
MemoryId stream_owner(const Queue& queue, const Topology& topology);

/// By queue: the first queue that can share a stream with it without delaying anything. Queues of copies from
/// one GPU to others share one where the plan makes each of these copies wait for the one before it.
std::vector<QueueId> shared_streams(const Plan& plan, const Topology& topology);

}  // namespace tilerail
