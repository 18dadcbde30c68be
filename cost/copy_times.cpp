#include "cost/copy_times.hpp"

#include <algorithm>
#include <array>

#include "model/base/indices.hpp"
#include "model/machine/concurrent_rates.hpp"
#include "plan/builder.hpp"

namespace tilerail {
namespace {

constexpr StridedEfficiency::Interference no_interference{0, 0};

double part(Seconds time, Seconds of) {
  return of > Seconds{0} ? std::min(1.0, time / of) : 0;
}

/// Data read by multiprocessors on both sides, as the factors of a product are, occupies
/// both halves of a GPU's L2 cache.
constexpr double halves_of_cache = 2;

/// Reads and writes of a device's kernels so far.
class CacheUse {
 public:
  void add(const Plan& plan, const Op& op) {
    const double halves = op.kind == OpKind::gemm ? halves_of_cache : 1;
    before_.push_back(total_);
    const auto operands = plan.operands_of(op);
    for (const auto i : indices(operands)) {
      const View& v = operands[i];
      const double bytes = double(v.rows * v.cols * plan.buffer(v.buffer).element());
      View& before = last_[i + 1 < operands.size() ? i : most_operands - 1];
      if (writes(op.kind, i))
        use(v, before, bytes);
      else if (reads(op, i))
        use(v, before, halves * bytes);
    }
  }

  size_t kernels() const { return before_.size(); }

  /// Bytes of the cache filled by all kernels after the first `count`. Operands shared
  /// with the preceding kernel are already cached, if that kernel is among them.
  double filled_since(size_t count) const {
    return count < kernels() ? total_ - before_[count] : 0;
  }

 private:
  void use(const View& view, View& before, double size) {
    const bool is_same = before.buffer == view.buffer && before.row == view.row &&
                         before.col == view.col && before.rows == view.rows;
    if (is_same)
      before_.back() -= size;
    else
      total_ += size;
    before = view;
  }

  double total_ = 0;
  std::vector<double> before_;  // by kernel: bytes of all earlier kernels, without
                                // operands shared with the preceding kernel
  std::array<View, most_operands>
      last_{};  // operands of the last kernel, the result last
};

/// The rows of some columns used by their last copy, in bytes from the top of a column,
/// and how many kernels of the device preceded it.
struct UsedRows {
  double from, to;
  size_t kernels;

  /// The share of the page-table entries of other rows of these columns that the used
  /// rows have in common. Columns are assumed to start anywhere within a line.
  double share(double first, double last) const {
    if (first >= from && last <= to) return 1;
    const double line = StridedEfficiency::line.value,
                 apart = std::max({0.0, first - to, from - last});
    return std::max(0.0, 1 - apart / line) / (1 + (last - first) / line);
  }
};

/// By operation: the share of page-table entries that a 2-D copy between a host and a
/// device finds in the device's cache because an earlier copy of the plan has just used
/// them. Empty if the machine has no rates of such copies.
/// docs/model.md#copies-in-two-dimensions
std::vector<float> pages_in_cache(const Plan& plan, const Topology& topology) {
  const StridedEfficiency& strided = topology.description().strided;
  if (strided.again.empty()) return {};
  std::vector<float> shares(plan.ops.size());
  std::vector<CacheUse> caches(topology.memories().size());
  std::map<std::tuple<MemoryId, BufferId, int64_t, int64_t>, UsedRows>
      used;  // by device, buffer and columns
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    const Queue& queue = plan.queue(op.queue);
    if (is_kernel(op.kind)) caches[queue.dst.index()].add(plan, op);
    const bool in = topology.is_host(queue.src);
    if (op.kind != OpKind::copy || in == topology.is_host(queue.dst)) continue;
    if (copy_columns(plan, op, topology).bytes == 0) continue;
    const MemoryId device = in ? queue.dst : queue.src;
    const CacheUse& cache = caches[device.index()];
    const View& view = plan.operands_of(op)[in ? 0 : 1];
    const int64_t element = plan.buffer(view.buffer).element();
    const UsedRows now{double(view.row * element),
                       double((view.row + view.rows) * element), cache.kernels()};
    const auto [known, is_new] =
        used.try_emplace({device, view.buffer, view.col, view.cols}, now);
    if (is_new) continue;
    const UsedRows before = std::exchange(known->second, now);
    if (cache.filled_since(before.kernels) < strided.cache.value)
      shares[i] = float(before.share(now.from, now.to));
  }
  return shares;
}

/// Whether this view is of a host bounce buffer of copies between GPUs.
bool is_stage(const View& view, const Plan& plan, const Topology& topology) {
  const Buffer& buffer = plan.buffer(view.buffer);
  return buffer.in_arena && topology.is_host(buffer.memory);
}

}  // namespace

CopyColumns copy_columns(const Plan& plan, const Op& op, const Topology& topology) {
  const View& result = plan.result(op);
  const Buffer &from = plan.buffer(plan.operands_of(op)[0].buffer),
               &to = plan.buffer(result.buffer);
  const bool from_host = topology.is_host(from.memory),
             to_host = topology.is_host(to.memory);
  CopyColumns columns;
  const auto add = [&](const Buffer& buffer) {
    if (result.cols > 1 && result.rows != buffer.ld)
      columns = {result.rows * buffer.element(),
                 std::max(columns.pitch, buffer.ld * buffer.element())};
  };
  if (from_host || !to_host) add(from);
  if (to_host || !from_host) add(to);
  return columns;
}

double strided_efficiency(const Topology& topology, MemoryId src, MemoryId dst,
                          const CopyShape& shape) {
  const CopyColumns& columns = shape.columns;
  if (columns.bytes == 0) return 1;
  const bool to_host = topology.is_host(dst),
             between_devices = !topology.is_host(src) && !to_host;
  return topology.description().strided.of({Bytes{double(columns.bytes)},
                                            Bytes{double(columns.pitch)}, between_devices,
                                            to_host, shape.again, shape.interference});
}

Seconds flow_time(const Plan& plan, const Op& op, const Topology& topology,
                  double efficiency) {
  const Queue& queue = plan.queue(op.queue);
  return copy_bytes(plan, op) / (efficiency * topology.pair_rate(queue.src, queue.dst));
}

std::optional<Rate> duplex_rate(const Topology& topology, MemoryId src, MemoryId dst,
                                std::span<const MemoryId> devices, bool staged) {
  if (topology.is_host(src) == topology.is_host(dst) || !topology.has_route(dst, src))
    return std::nullopt;
  const MemoryId host = topology.is_host(src) ? src : dst,
                 device = host == src ? dst : src;
  std::vector<std::pair<MemoryId, MemoryId>> flows{{src, dst}, {dst, src}};
  for (const MemoryId other : devices.first(staged ? 0 : devices.size()))
    if (other != device && topology.has_route(host, other) &&
        topology.has_route(other, host))
      flows.emplace_back(host, other), flows.emplace_back(other, host);
  return concurrent_rates(topology, flows)[0];
}

CopyShapes::CopyShapes(const Plan& plan, const Topology& topology,
                       const PlanKernelCosts& kernels)
    : plan_{plan}, topology_{topology}, again_{pages_in_cache(plan, topology)} {
  const StridedEfficiency& strided = topology.description().strided;
  if (strided.beside == 1 && strided.forgotten == 0) return;
  times_.resize(topology.memories().size());
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    const Queue& queue = plan.queue(op.queue);
    if (is_kernel(op.kind)) times_[queue.dst.index()].kernels += kernels.of(OpId{i}).time;
    const bool in = topology.is_host(queue.src);
    if (op.kind != OpKind::copy || in == topology.is_host(queue.dst)) continue;
    Times& times = times_[(in ? queue.dst : queue.src).index()];
    const CopyShape shape{copy_columns(plan, op, topology), false, 0, no_interference};
    (in ? times.in : times.out) +=
        flow_time(plan, op, topology, efficiency(OpId{i}, shape));
  }
}

StridedEfficiency::Interference CopyShapes::interference_of(const Queue& queue) const {
  const bool in = topology_.is_host(queue.src);
  if (in == topology_.is_host(queue.dst)) return no_interference;
  if (times_.empty()) return {};
  const Times& times = times_[(in ? queue.dst : queue.src).index()];
  const Seconds copies = in ? times.in : times.out, back = in ? times.out : times.in;
  const double kernels = part(times.kernels, copies);
  return {std::max(kernels, part(back, copies)), kernels};
}

CopyShape CopyShapes::of(OpId copy) const {
  const Op& op = plan_.op(copy);
  CopyShape shape;
  if (!topology_.description().strided.points.empty())
    shape.columns = copy_columns(plan_, op, topology_);
  if (plan_.runtime.duplex)
    shape.staged = std::ranges::any_of(plan_.operands_of(op), [&](const View& view) {
      return is_stage(view, plan_, topology_);
    });
  if (!again_.empty()) shape.again = double(again_[copy.index()]);
  shape.interference = interference_of(plan_.queue(op.queue));
  return shape;
}

double CopyShapes::efficiency(OpId copy, const CopyShape& shape) const {
  const QueueId id = plan_.op(copy).queue;
  const Queue& queue = plan_.queue(id);
  Efficiency& last = last_[id.index()];
  if (shape != last.shape)
    last = {shape, strided_efficiency(topology_, queue.src, queue.dst, shape)};
  return last.value;
}

std::optional<Rate> CopyShapes::duplex(MemoryId src, MemoryId dst, bool staged) const {
  if (!plan_.runtime.duplex) return std::nullopt;
  const auto [known, is_new] = duplex_.try_emplace({src, dst, staged});
  if (is_new) known->second = duplex_rate(topology_, src, dst, plan_.devices, staged);
  return known->second;
}

}  // namespace tilerail
