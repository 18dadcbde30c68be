#include "backends/sim/queue_routes.hpp"

#include <map>

namespace tilerail {
namespace {

std::optional<QueueRoutes::Route> route_of(const Queue& queue, const Topology& topology) {
  if (queue.kind == Queue::Kind::compute) return std::nullopt;
  if (queue.src != queue.dst)
    return QueueRoutes::Route{0, topology.latency(queue.src, queue.dst).value,
                              topology.pair_rate(queue.src, queue.dst).value, 1};
  if (topology.is_host(queue.src) || !topology.kernels_of(queue.src).memory_bandwidth) return std::nullopt;
  return QueueRoutes::Route{0, 0.0, topology.kernels_of(queue.src).memory_bandwidth->value, 2};
}

}  // namespace

QueueRoutes::QueueRoutes(const Plan& plan, const Topology& topology) {
  std::map<std::pair<MemoryId, MemoryId>, std::uint32_t> known;
  for (const Queue& queue : plan.queues) {
    of_queue_.push_back(route_of(queue, topology));
    if (!of_queue_.back()) continue;
    const auto [entry, is_new] = known.try_emplace({queue.src, queue.dst}, static_cast<std::uint32_t>(pairs_.size()));
    if (is_new) pairs_.emplace_back(queue.src, queue.dst);
    of_queue_.back()->index = entry->second;
  }
}

}  // namespace tilerail
