#include "cost/strided_copy.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/machine/concurrent_rates.hpp"

namespace tilerail {

CopyColumns copy_columns(const Plan& plan, const Op& op, const Topology& topology) {
  const auto on_host = [&](const View& view) { return topology.is_host(plan.buffer(view.buffer).memory); };
  const bool with_host = on_host(op.a) != on_host(op.y);
  CopyColumns columns;
  for (const View* view : {&op.a, &op.y}) {
    const Buffer& buffer = plan.buffer(view->buffer);
    if (with_host && !on_host(*view)) continue;
    if (view->cols > 1 && view->rows != buffer.ld)
      columns = {op.y.rows * buffer.element(), std::max(columns.pitch, buffer.ld * buffer.element())};
  }
  return columns;
}

double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst, CopyColumns columns, double again,
                          StridedEfficiency::Company company) {
  if (columns.bytes == 0) return 1;
  StridedEfficiency::Copy copy{Bytes{static_cast<double>(columns.bytes)}, Bytes{static_cast<double>(columns.pitch)}};
  copy.between_devices = !topology.is_host(src) && !topology.is_host(dst);
  copy.to_host = topology.is_host(dst);
  copy.again = again, copy.company = company;
  return topology.description().strided.of(copy);
}

bool is_stage(const Buffer& buffer, const Topology& topology) {
  return buffer.kind == Buffer::Kind::tile && topology.is_host(buffer.memory);
}

bool is_staged(const Plan& plan, const Op& op, const Topology& topology) {
  return is_stage(plan.buffer(op.a.buffer), topology) || is_stage(plan.buffer(op.y.buffer), topology);
}

std::optional<Rate> duplex_rate(const Topology& topology, MemoryId src, MemoryId dst, std::span<const MemoryId> devices,
                                bool staged) {
  if (topology.is_host(src) == topology.is_host(dst) || !topology.has_route(dst, src)) return std::nullopt;
  const MemoryId host = topology.is_host(src) ? src : dst, device = host == src ? dst : src;
  std::vector<std::pair<MemoryId, MemoryId>> flows{{src, dst}, {dst, src}};
  for (const MemoryId other : devices.first(staged ? 0 : devices.size()))
    if (other != device && topology.has_route(host, other) && topology.has_route(other, host))
      flows.emplace_back(host, other), flows.emplace_back(other, host);
  return concurrent_rates(topology, flows)[0];
}

}  // namespace tilerail
