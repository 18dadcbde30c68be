#include "report/summary/critical_parts.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/base/indices.hpp"
#include "report/timeline/critical_path.hpp"

namespace tilerail {
namespace {

using Part = std::pair<TimeUse, std::string>;  // kind and name

const char* waited_for(Engine::Kind engine) {
  switch (engine) {
    case Engine::Kind::compute:
      return "kernels";
    case Engine::Kind::workers:
      return "workers";
    default:
      return "copies";
  }
}

/// Of equal ones the group: it bounds what its links carry together.
Part busiest_on_route(const Queue& queue, const Topology& topology, const Summary& used) {
  Part busiest{TimeUse::memory, topology.memory(queue.src).name};
  double most = -1;
  const auto consider = [&](TimeUse kind, const std::string& name, double utilisation) {
    if (utilisation > most) busiest = {kind, name}, most = utilisation;
  };
  for (const Topology::GroupUse& use : topology.groups_on(queue.src, queue.dst)) {
    const Summary::GroupUse& group = used.groups[use.group.index()];
    if (group.utilisation) consider(TimeUse::group, group.name, *group.utilisation);
  }
  for (const LinkId link : topology.route(queue.src, queue.dst))
    consider(TimeUse::link, used.links[link.index()].name, used.links[link.index()].utilisation);
  return busiest;
}

}  // namespace

std::vector<Summary::PathPart> critical_parts(const Plan& plan, const Topology& topology,
                                              const AnnotatedTimeline& timeline, const Summary& used) {
  std::vector<OpTime> times;
  times.reserve(timeline.ops.size());
  for (const AnnotatedOp& op : timeline.ops) times.push_back({op.start, op.end});
  const EngineUse engines{plan, topology, times};
  const std::vector<OpId> path = critical_path(plan, times, engines);
  std::map<Part, double> parts;
  for (const auto i : indices(path)) {
    const Op& op = plan.op(path[i]);
    const OpTime& time = times[path[i].index()];
    const Part part =
        op.kind == OpKind::copy ? busiest_on_route(plan.queue(op.queue), topology, used) : Part{TimeUse::kernels, ""};
    parts[part] += time.end - time.start;
    const Engine engine = engine_of(plan, op, topology);
    const double before = i + 1 < path.size() ? times[path[i + 1].index()].end : 0;
    const EngineUse::Pause pause = engines.pause(path[i], before, time.start);
    parts[{TimeUse::waiting, waited_for(engine.kind)}] += pause.waiting - pause.room;
    parts[{TimeUse::waiting, waited_for(Engine::Kind::compute)}] += pause.room;
    parts[{TimeUse::issue, ""}] += pause.issue;
  }
  std::vector<Summary::PathPart> result;
  for (const auto& [part, seconds] : parts)
    if (seconds != 0) result.push_back({part.first, part.second, seconds});
  std::ranges::stable_sort(result, std::ranges::greater{}, &Summary::PathPart::seconds);
  return result;
}

}  // namespace tilerail
