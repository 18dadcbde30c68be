#include "report/timeline/annotate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <compare>
#include <map>

#include "cost/energy.hpp"
#include "model/base/indices.hpp"
#include "model/machine/layout_text.hpp"

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
  metadata.problem = problem_text(plan, topology);
  metadata.backend = timeline.backend;
  metadata.tile = plan.tile;
  for (const MemoryId device : plan.devices)
    metadata.devices.push_back(topology.processor_name(device));
  for (const Memory& memory : topology.memories())
    if (memory.kind == VertexKind::host) metadata.hosts.push_back(memory.name);
  if (const auto energies = device_energies(plan, topology, timeline.ops))
    for (const Joules energy : *energies) metadata.energy_j.push_back(energy.value);
  if (is_simulation(timeline.backend))
    metadata.interval = predicted_interval(plan, topology, timeline.ops);
  return metadata;
}

/// Labels operations by the region of a tensor that a copy moves or a kernel updates:
/// half-open, in rows and columns of the stored matrix.
class RegionLabels {
 public:
  RegionLabels(const Plan& plan, StringTable& labels) : plan_{plan}, labels_{labels} {}

  uint32_t of(const Op& op) {
    if (op.kind == OpKind::join) return labels_.intern("");
    const View& view = plan_.result(op);
    const Buffer& b = plan_.buffer(view.buffer);
    const Region region{b.tensor, b.row + view.row, b.col + view.col, view.rows,
                        view.cols};
    const auto [known, is_new] = known_.try_emplace(region);
    if (is_new)
      known->second = labels_.intern(
          fmt::format("{}[{}:{},{}:{}]", plan_.tensor(b.tensor).name, region.row,
                      region.row + region.rows, region.col, region.col + region.cols));
    return known->second;
  }

 private:
  struct Region {
    TensorId tensor;
    int64_t row, col, rows, cols;
    auto operator<=>(const Region&) const = default;
  };

  const Plan& plan_;
  StringTable& labels_;
  std::map<Region, uint32_t> known_;
};

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

namespace {

std::string text_of(const GemmProblem& p) {
  return fmt::format("{} m={} n={} k={} dtype={} trans={}{} alpha={} beta={}",
                     to_string(p.routine), p.m, p.n, p.k, to_string(p.dtype),
                     to_string(p.trans_a), to_string(p.trans_b), p.alpha, p.beta);
}

std::string text_of(const FactorProblem& p) {
  return fmt::format("{} m={} n={} dtype={}", FactorProblem::names[size_t(p.kind)], p.m,
                     p.n, to_string(p.dtype));
}

}  // namespace

std::string problem_text(const Plan& plan, const Topology& topology) {
  std::vector<std::string> places;
  for (const Tensor& tensor : plan.tensors)
    places.push_back(layout_text(tensor.layout, topology));
  return fmt::format("{} place={}",
                     std::visit([](const auto& p) { return text_of(p); }, plan.problem),
                     fmt::join(places, ":"));
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
  RegionLabels labels{plan, result.labels};
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
    AnnotatedOp annotated{op.kind, *queues[q], labels.of(op), 0,
                          0,       ready,      time.start,    time.end};
    if (op.kind == OpKind::copy) annotated.bytes = int64_t(copy_bytes(plan, op).value);
    annotated.flops = op_flops(op, plan.operands_of(op)).value;
    result.ops.push_back(annotated);
  }
  return result;
}

}  // namespace tilerail
