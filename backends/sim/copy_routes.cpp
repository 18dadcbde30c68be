#include "backends/sim/copy_routes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace tilerail {
namespace {

constexpr std::int64_t contiguous = 0;  // in place of the bytes of a column

bool is_contiguous(const Plan& plan, const View& view) {
  return view.cols <= 1 || view.rows == plan.buffer(view.buffer).ld;
}

/// Bytes of one column when that matters to the rate.
std::int64_t column_of(const Plan& plan, const Op& op, const Topology& topology) {
  if (topology.description().strided.points.empty()) return contiguous;
  if (is_contiguous(plan, op.a) && is_contiguous(plan, op.y)) return contiguous;
  return op.y.rows * element_size(plan.problem.dtype);
}

/// Absent where no copy reaches it: below the narrowest link.
std::optional<Rate> rate_cap(MemoryId src, MemoryId dst, std::int64_t column, const Topology& topology) {
  Rate narrowest{std::numeric_limits<double>::infinity()}, cap = narrowest;
  for (LinkId id : topology.route(src, dst)) {
    narrowest = std::min(narrowest, topology.link(id).bandwidth);
    cap = std::min(cap, topology.link(id).per_flow.value_or(cap));
  }
  if (column != contiguous) {
    const double efficiency = topology.description().strided.at(Bytes{static_cast<double>(column)});
    cap = std::min(cap, topology.pair_rate(src, dst) * efficiency);
  }
  return cap < narrowest ? std::optional{cap} : std::nullopt;
}

std::optional<Rate> memory_bandwidth(MemoryId memory, const Topology& topology) {
  return topology.is_host(memory) ? std::nullopt : topology.kernels_of(memory).memory_bandwidth;
}

}  // namespace

CopyRoutes::CopyRoutes(const Plan& plan, const Topology& topology) : index_(plan.ops.size(), none) {
  std::map<std::tuple<MemoryId, MemoryId, std::int64_t>, std::uint32_t> known;
  const auto add = [&](const CopyRoute& route, const FlowRoute& flow) {
    routes_.push_back(route);
    flows_.push_back(flow);
    routes_.back().flow = flows_.size() - 1;
  };
  const auto add_local = [&](MemoryId memory) {
    const auto bandwidth = memory_bandwidth(memory, topology);
    if (!bandwidth) return false;
    add({0, 0.0, bandwidth->value / 2, 2}, {memory, memory, std::nullopt});
    return true;
  };
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    if (op.kind != OpKind::copy) continue;
    const auto [kind, src, dst, number] = plan.queue(op.queue);
    const std::int64_t column = src == dst ? contiguous : column_of(plan, op, topology);
    const auto [entry, is_new] = known.try_emplace({src, dst, column}, static_cast<std::uint32_t>(routes_.size()));
    if (is_new && src == dst && !add_local(src)) entry->second = none;
    if (is_new && src != dst) {
      const auto cap = rate_cap(src, dst, column, topology);
      const Rate alone = std::min(topology.pair_rate(src, dst), cap.value_or(Rate{1e300}));
      add({0, topology.latency(src, dst).value, alone.value, 1}, {src, dst, cap});
    }
    index_[i] = entry->second;
  }
}

}  // namespace tilerail
