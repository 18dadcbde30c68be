#include "cost/copy_times.hpp"

#include <algorithm>
#include <utility>

#include "model/base/indices.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "plan/op_kinds.hpp"

namespace tilerail {
namespace {

constexpr StridedEfficiency::Company nobody{0, 0};

double part(Seconds time, Seconds of) { return of > Seconds{0} ? std::min(1.0, time / of) : 0; }

/// Whether one end of a copy is a buffer on a host that copies between GPUs pass through.
bool is_staged(const Plan& plan, const Op& op, const Topology& topology) {
  const auto is_stage = [&](const View& view) {
    const Buffer& buffer = plan.buffer(view.buffer);
    return buffer.kind == Buffer::Kind::tile && topology.is_host(buffer.memory);
  };
  return is_stage(op.a) || is_stage(op.y);
}

}  // namespace

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

double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst, const CopyShape& shape) {
  const CopyColumns& columns = shape.columns;
  if (columns.bytes == 0) return 1;
  StridedEfficiency::Copy copy{Bytes{double(columns.bytes)}, Bytes{double(columns.pitch)}};
  copy.between_devices = !topology.is_host(src) && !topology.is_host(dst);
  copy.to_host = topology.is_host(dst);
  copy.again = shape.again, copy.company = shape.company;
  return topology.description().strided.of(copy);
}

Seconds flow_time(const Plan& plan, const Op& op, const Topology& topology, StridedEfficiency::Company company) {
  const Queue& queue = plan.queue(op.queue);
  const double efficiency =
      strided_efficiency(topology, queue.src, queue.dst, {copy_columns(plan, op, topology), false, 0, company});
  return copy_bytes(plan, op) / (efficiency * topology.pair_rate(queue.src, queue.dst));
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

CopyShapes::CopyShapes(const Plan& plan, const Topology& topology, const PlanKernelCosts& kernels)
    : plan_{plan}, topology_{topology}, reuse_{plan, topology} {
  const StridedEfficiency& strided = topology.description().strided;
  if (strided.beside == 1 && strided.forgotten == 0) return;
  times_.resize(topology.memories().size());
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (op.kind == OpKind::join) continue;
    const Queue& queue = plan.queue(op.queue);
    if (op.kind != OpKind::copy) {
      times_[queue.dst.index()].kernels += kernels.of(OpId{i}).time;
      continue;
    }
    const bool in = topology.is_host(queue.src);
    if (in == topology.is_host(queue.dst)) continue;
    Times& times = times_[(in ? queue.dst : queue.src).index()];
    (in ? times.in : times.out) += flow_time(plan, op, topology, nobody);
  }
}

StridedEfficiency::Company CopyShapes::company_of(const Queue& queue) const {
  const bool in = topology_.is_host(queue.src);
  if (in == topology_.is_host(queue.dst)) return nobody;
  if (times_.empty()) return {};
  const Times& times = times_[(in ? queue.dst : queue.src).index()];
  const Seconds copies = in ? times.in : times.out, back = in ? times.out : times.in;
  const double kernels = part(times.kernels, copies);
  return {std::max(kernels, part(back, copies)), kernels};
}

CopyShape CopyShapes::of(OpId copy) const {
  const Op& op = plan_.op(copy);
  const bool columns_matter = !topology_.description().strided.points.empty();
  return {columns_matter ? copy_columns(plan_, op, topology_) : CopyColumns{},
          plan_.runtime.duplex && is_staged(plan_, op, topology_), reuse_.of(copy), company_of(plan_.queue(op.queue))};
}

std::optional<Rate> CopyShapes::duplex(MemoryId src, MemoryId dst, bool staged) const {
  if (!plan_.runtime.duplex) return std::nullopt;
  const auto [known, is_new] = duplex_.try_emplace({src, dst, staged});
  if (is_new) known->second = duplex_rate(topology_, src, dst, plan_.devices, staged);
  return known->second;
}

}  // namespace tilerail
