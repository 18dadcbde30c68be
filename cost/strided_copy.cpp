#include "cost/strided_copy.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/machine/concurrent_rates.hpp"

namespace tilerail {

CopyColumns copy_columns(const Plan& plan, const Op& op) {
  CopyColumns columns;
  for (const View* view : {&op.a, &op.y}) {
    const Buffer& buffer = plan.buffer(view->buffer);
    if (view->cols > 1 && view->rows != buffer.ld)
      columns = {op.y.rows * buffer.element(), std::max(columns.pitch, buffer.ld * buffer.element())};
  }
  return columns;
}

double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst, CopyColumns columns,
                          std::span<const MemoryId> computing) {
  if (columns.bytes == 0) return 1;
  StridedEfficiency::Copy copy{Bytes{static_cast<double>(columns.bytes)}, Bytes{static_cast<double>(columns.pitch)}};
  copy.between_devices = !topology.is_host(src) && !topology.is_host(dst);
  copy.to_host = topology.is_host(dst);
  const MemoryId device = topology.is_host(src) ? dst : src;
  copy.computes = std::find(computing.begin(), computing.end(), device) != computing.end();
  return topology.description().strided.of(copy);
}

double duplex_efficiency(const Topology& topology, MemoryId src, MemoryId dst) {
  if (topology.is_host(src) == topology.is_host(dst) || !topology.has_route(dst, src)) return 1;
  const std::array<std::pair<MemoryId, MemoryId>, 2> both{{{src, dst}, {dst, src}}};
  return concurrent_rates(topology, both)[0] / topology.pair_rate(src, dst);
}

}  // namespace tilerail
