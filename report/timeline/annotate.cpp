#include "report/timeline/annotate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cost/energy.hpp"
#include "model/base/error.hpp"
#include "plan/validate.hpp"
#include "report/timeline/labels.hpp"

namespace tilerail {
namespace {

const std::string& memory_name(const Plan& plan, MemoryId id) { return plan.memories[id.index()]; }

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
  return {queue_name(plan, queue), memory_name(plan, plan.device_of(op, topology)), memory_name(plan, queue.src),
          memory_name(plan, queue.dst), route_text(topology, queue.src, queue.dst)};
}

TimelineMetadata describe(const Plan& plan, const Topology& topology, const Timeline& timeline) {
  TimelineMetadata metadata;
  metadata.version = TILERAIL_REPORT_VERSION;
  metadata.plan_hash = timeline.plan_hash;
  metadata.machine = topology.name();
  metadata.policy = plan.policy;
  metadata.problem = problem_text(plan);
  metadata.backend = timeline.backend;
  metadata.tile = plan.tile;
  for (const MemoryId device : plan.devices) metadata.devices.push_back(memory_name(plan, device));
  for (const Memory& memory : topology.memories())
    if (memory.kind == NodeKind::host) metadata.hosts.push_back(memory.name);
  if (const auto energies = device_energies(plan, topology, timeline.ops))
    for (const Joules energy : *energies) metadata.energy_j.push_back(energy.value);
  if (is_simulation(timeline.backend)) metadata.interval = predicted_interval(plan, topology, timeline.ops);
  return metadata;
}

void check(const Plan& plan, const Topology& topology, const Timeline& timeline) {
  if (!names_memories_of(plan, topology)) {
    throw fault_of("plan",
                   fmt::format("its memories are those of machine '{}', not of '{}'", plan.machine, topology.name()));
  }
  if (timeline.ops.size() != plan.ops.size()) {
    throw fault_of("timeline", fmt::format("{} operations; the plan has {}", timeline.ops.size(), plan.ops.size()));
  }
  const std::string hash = content_hash(plan);
  if (timeline.plan_hash != hash) {
    throw fault_of("timeline", fmt::format("plan_hash '{}'; the plan's is '{}'", timeline.plan_hash, hash));
  }
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
  const std::string pair = fmt::format("{}->{}", memory_name(plan, queue.src), memory_name(plan, queue.dst));
  return queue.index == 0 ? pair : fmt::format("{} #{}", pair, queue.index + 1);
}

std::string problem_text(const Plan& plan) {
  const GemmProblem& p = plan.problem;
  return fmt::format("{} m={} n={} k={} dtype={} trans={}{} alpha={} beta={} place={}:{}:{}", to_string(p.routine), p.m,
                     p.n, p.k, to_string(p.dtype), to_string(p.trans_a), to_string(p.trans_b), p.alpha, p.beta,
                     memory_name(plan, p.place_a), memory_name(plan, p.place_b), memory_name(plan, p.place_c));
}

AnnotatedTimeline annotate(const Plan& plan, const Topology& topology, const Timeline& timeline) {
  check(plan, topology, timeline);
  AnnotatedTimeline result;
  result.metadata = describe(plan, topology, timeline);
  result.ops.reserve(plan.ops.size());
  std::vector<std::optional<uint32_t>> queues(plan.queues.size());  // index into result.queues
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
    for (const OpId dep : plan.deps_of(OpId{i})) ready = std::max(ready, timeline.ops[dep.index()].end);
    const OpTime time = timeline.ops[i];
    queue_end[q] = time.end;
    AnnotatedOp annotated{op.kind, *queues[q], labels.next(op, result.labels), 0, 0, ready, time.start, time.end};
    if (op.kind == OpKind::copy) annotated.bytes = int64_t(copy_bytes(plan, op).value);
    if (is_kernel(op.kind)) annotated.flops = op_flops(op).value;
    result.ops.push_back(annotated);
  }
  return result;
}

}  // namespace tilerail
