#include "report/timeline/annotate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <compare>
#include <map>

#include "cost/energy.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

const std::string& memory_name(const Plan& plan, MemoryId id) {
  return plan.memories[id.index()];
}

std::string route_text(const Topology& topology, MemoryId src, MemoryId dst) {
  std::string text;
  const int parts = topology.parts(src, dst);
  for (const auto& use : topology.links_on(src, dst)) {
    if (!text.empty()) text += ';';
    text += topology.link(use.link).name;
    if (use.parts != parts) text += fmt::format(" {}/{}", use.parts, parts);
  }
  return text;
}

AnnotatedQueue describe(const Plan& plan, const Topology& topology, const Op& op) {
  const Queue& queue = plan.queue(op.queue);
  return {queue_name(plan, queue), memory_name(plan, plan.device_of(op, topology)),
          memory_name(plan, queue.src), memory_name(plan, queue.dst),
          route_text(topology, queue.src, queue.dst)};
}

TimelineMetadata describe(const Plan& plan, const Topology& topology,
                          const Timeline& timeline) {
  TimelineMetadata metadata;
  metadata.version = TILERAIL_REPORT_VERSION;
  metadata.plan_hash = timeline.plan_hash;
  metadata.machine = topology.name();
  metadata.policy = plan.policy;
  metadata.problem = problem_text(plan);
  metadata.backend = timeline.backend;
  metadata.tile = plan.tile;
  for (const MemoryId device : plan.devices)
    metadata.devices.push_back(memory_name(plan, device));
  for (const Memory& memory : topology.memories())
    if (memory.kind == NodeKind::host) metadata.hosts.push_back(memory.name);
  if (const auto energies = device_energies(plan, topology, timeline.ops))
    for (const Joules energy : *energies) metadata.energy_j.push_back(energy.value);
  if (is_simulation(timeline.backend))
    metadata.interval = predicted_interval(plan, topology, timeline.ops);
  return metadata;
}

/// Labels each operation with the region of the user's matrices that a copy moves or a
/// kernel updates. Tracks tiles through the plan: a copy keeps the origin of its data,
/// and a kernel's result belongs to the rows of op(A) and the columns of op(B). One pass
/// in issue order suffices, because every write visible to an operation has a lower id.
class RegionLabels {
 public:
  explicit RegionLabels(const Plan& plan);

  /// Label of the next operation; call it for each one in order. Regions are half-open,
  /// in rows and columns of the stored matrix.
  uint32_t next(const Op& op, StringTable& labels);

 private:
  /// Element (r, c) of a buffer is element (r + row, c + col) of the matrix.
  struct Origin {
    Buffer::Kind matrix;
    int64_t row, col;
  };
  struct Region {
    Buffer::Kind matrix;
    int64_t row, col, rows, cols;
    auto operator<=>(const Region&) const = default;
  };

  std::optional<Region> region_of(const View& view) const;
  void remember(const View& view, const std::optional<Region>& region);
  std::optional<Region> result_of(const Op& op) const;

  const Plan& plan_;
  std::vector<std::optional<Origin>> origins_;  // by BufferId
  std::map<Region, uint32_t> known_;
};

bool is_matrix(const Buffer& buffer) { return buffer.kind != Buffer::Kind::tile; }

char letter(Buffer::Kind kind) {
  return kind == Buffer::Kind::matrix_a   ? 'A'
         : kind == Buffer::Kind::matrix_b ? 'B'
                                          : 'C';
}

RegionLabels::RegionLabels(const Plan& plan)
    : plan_{plan}, origins_(plan.buffers.size()) {
  for (const auto i : indices(plan.buffers)) {
    if (is_matrix(plan.buffers[i])) origins_[i] = Origin{plan.buffers[i].kind, 0, 0};
  }
}

std::optional<RegionLabels::Region> RegionLabels::region_of(const View& view) const {
  const std::optional<Origin>& origin = origins_[view.buffer.index()];
  if (!origin) return std::nullopt;
  return Region{origin->matrix, origin->row + view.row, origin->col + view.col, view.rows,
                view.cols};
}

void RegionLabels::remember(const View& view, const std::optional<Region>& region) {
  if (is_matrix(plan_.buffer(view.buffer))) return;
  origins_[view.buffer.index()].reset();
  if (region)
    origins_[view.buffer.index()] =
        Origin{region->matrix, region->row - view.row, region->col - view.col};
}

std::optional<RegionLabels::Region> RegionLabels::result_of(const Op& op) const {
  const auto operands = plan_.operands_of(op);
  const View& y = operands.back();
  if (is_matrix(plan_.buffer(y.buffer))) return region_of(y);
  if (op.kind == OpKind::copy) return region_of(operands[0]);
  if (op.kind == OpKind::axpby) {
    if (reads(op, 1))
      if (const auto own = region_of(y)) return own;
    auto region = reads(op, 0) ? region_of(operands[0]) : std::nullopt;
    if (region)
      region->matrix =
          Buffer::Kind::matrix_c;  // the result is y, even if its rows follow from x
    return region;
  }
  if (op.kind != OpKind::gemm) return region_of(y);
  const auto a = region_of(operands[0]), b = region_of(operands[1]);
  if (!a || !b) return region_of(y);
  return Region{Buffer::Kind::matrix_c, op.trans_a == Trans::no ? a->row : a->col,
                op.trans_b == Trans::no ? b->col : b->row, y.rows, y.cols};
}

uint32_t RegionLabels::next(const Op& op, StringTable& labels) {
  if (op.kind == OpKind::join) return labels.intern("");
  const std::optional<Region> region = result_of(op);
  remember(plan_.result(op), region);
  if (!region) return labels.intern("");
  const auto found = known_.find(*region);
  if (found != known_.end()) return found->second;
  const uint32_t label = labels.intern(
      fmt::format("{}[{}:{},{}:{}]", letter(region->matrix), region->row,
                  region->row + region->rows, region->col, region->col + region->cols));
  known_.emplace(*region, label);
  return label;
}

}  // namespace

double AnnotatedTimeline::makespan() const {
  double last = 0;
  for (const AnnotatedOp& op : ops) last = std::max(last, op.end);
  return last;
}

std::string queue_name(const Plan& plan, const Queue& queue) {
  if (queue.kind == Queue::Kind::compute)
    return fmt::format("{} compute {}", memory_name(plan, queue.dst), queue.index);
  const std::string pair =
      fmt::format("{}->{}", memory_name(plan, queue.src), memory_name(plan, queue.dst));
  return queue.index == 0 ? pair : fmt::format("{} #{}", pair, queue.index + 1);
}

std::string problem_text(const Plan& plan) {
  const GemmProblem& p = plan.problem;
  return fmt::format(
      "{} m={} n={} k={} dtype={} trans={}{} alpha={} beta={} place={}:{}:{}",
      to_string(p.routine), p.m, p.n, p.k, to_string(p.dtype), to_string(p.trans_a),
      to_string(p.trans_b), p.alpha, p.beta, memory_name(plan, p.place_a),
      memory_name(plan, p.place_b), memory_name(plan, p.place_c));
}

AnnotatedTimeline annotate(const Plan& plan, const Topology& topology,
                           const Timeline& timeline) {
  assert(timeline.ops.size() == plan.ops.size());
  AnnotatedTimeline result;
  result.metadata = describe(plan, topology, timeline);
  result.ops.reserve(plan.ops.size());
  std::vector<std::optional<uint32_t>> queues(
      plan.queues.size());  // index into result.queues
  std::vector<double> queue_end(plan.queues.size(), 0);
  RegionLabels labels{plan};
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    const size_t q = op.queue.index();
    if (!queues[q]) {
      queues[q] = uint32_t(result.queues.size());
      result.queues.push_back(describe(plan, topology, op));
    }
    double ready = queue_end[q];
    for (const OpId dep : plan.deps_of(OpId{i}))
      ready = std::max(ready, timeline.ops[dep.index()].end);
    const OpTime time = timeline.ops[i];
    queue_end[q] = time.end;
    AnnotatedOp annotated{op.kind,    *queues[q], labels.next(op, result.labels),
                          0,          0,          ready,
                          time.start, time.end};
    if (op.kind == OpKind::copy) annotated.bytes = int64_t(copy_bytes(plan, op).value);
    annotated.flops = op_flops(op, plan.operands_of(op)).value;
    result.ops.push_back(annotated);
  }
  return result;
}

}  // namespace tilerail
