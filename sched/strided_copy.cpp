#include "sched/strided_copy.hpp"

#include <algorithm>

namespace tilerail {

CopyColumns copy_columns(const Plan& plan, const Op& op) {
  const std::int64_t element = element_size(plan.problem.dtype);
  CopyColumns columns;
  for (const View* view : {&op.a, &op.y}) {
    const std::int64_t ld = plan.buffer(view->buffer).ld;
    if (view->cols > 1 && view->rows != ld) columns = {op.y.rows * element, std::max(columns.pitch, ld * element)};
  }
  return columns;
}

double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst, CopyColumns columns, double duty) {
  if (columns.bytes == 0) return 1;
  const bool between_devices = !topology.is_host(src) && !topology.is_host(dst);
  return topology.description().strided.of({Bytes{static_cast<double>(columns.bytes)},
                                            Bytes{static_cast<double>(columns.pitch)}, between_devices, duty});
}

}  // namespace tilerail
