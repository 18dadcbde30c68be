#include "backends/fluid/copy_routes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// Upper bound of the rate of a copy of these columns. Absent if the narrowest link
/// already keeps the rate below it.
std::optional<Rate> rate_cap(MemoryId src, MemoryId dst, const CopyShape& shape,
                             const Topology& topology, const CopyShapes& shapes) {
  Rate narrowest{std::numeric_limits<double>::infinity()}, cap = narrowest;
  const int parts = topology.parts(src, dst);
  for (const auto& use : topology.links_on(src, dst)) {
    const Link& link = topology.link(use.link);
    narrowest = std::min(narrowest, link.bandwidth * parts / use.parts);
    if (link.per_flow) cap = std::min(cap, *link.per_flow * parts / use.parts);
  }
  cap = std::min(cap, shapes.duplex(src, dst, shape.staged).value_or(cap));
  const double efficiency = strided_efficiency(topology, src, dst, shape);
  if (efficiency < 1) cap = std::min(cap, topology.pair_rate(src, dst) * efficiency);
  return cap < narrowest ? std::optional{cap} : std::nullopt;
}

}  // namespace

CopyRoutes::CopyRoutes(const Plan& plan, const Topology& topology,
                       const PlanKernelCosts& kernels)
    : index_(plan.ops.size(), none) {
  std::map<std::tuple<MemoryId, MemoryId, int64_t, int64_t, bool, double>, uint32_t>
      known;
  const CopyShapes shapes{plan, topology, kernels};
  const auto add = [&](MemoryId src, MemoryId dst, const CopyShape& shape) {
    const std::optional<Rate> cap = rate_cap(src, dst, shape, topology, shapes);
    const Rate alone = topology.pair_rate(src, dst);
    routes_.push_back({flows_.size(), topology.latency(src, dst),
                       std::min(alone, cap.value_or(alone))});
    flows_.push_back({src, dst, cap});
    return uint32_t(routes_.size() - 1);
  };
  struct Last {
    CopyShape shape{{-1, -1}};
    uint32_t route = none;
  };
  std::vector<Last> last(
      plan.queues.size());  // most copies are like their predecessor in the queue
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (op.kind != OpKind::copy) continue;
    const Queue& queue = plan.queue(op.queue);
    if (queue.src == queue.dst) continue;
    Last& like = last[op.queue.index()];
    const CopyShape shape = shapes.of(OpId{i});
    if (shape != like.shape) {
      const auto [bytes, pitch] = shape.columns;
      const auto [entry, is_new] = known.try_emplace(
          {queue.src, queue.dst, bytes, pitch, shape.staged, shape.again}, none);
      if (is_new) entry->second = add(queue.src, queue.dst, shape);
      like = {shape, entry->second};
    }
    index_[i] = like.route;
    if (const CopyRoute* route = of(OpId{i}))
      total_ += route->latency + copy_bytes(plan, op) / route->rate;
  }
}

}  // namespace tilerail
