#include "sched/tasks/workspace.hpp"

#include <algorithm>
#include <utility>

namespace tilerail {
namespace {

Clock::Options for_devices(Clock::Options options, std::size_t devices) {
  options.devices = devices;
  return options;
}

std::vector<Arena> arenas_of(const PlanSetup& setup, std::int64_t slot_bytes) {
  std::vector<Arena> arenas;
  for (std::size_t d = 0; d < setup.devices.size(); ++d)
    arenas.emplace_back(setup.builder, setup.devices[d], setup.topology.memory(setup.devices[d]).name,
                        setup.capacities[d], slot_bytes);
  return arenas;
}

}  // namespace

Plan plan_by(const Decisions& decisions, const GemmProblem& problem, const Topology& topology, std::string policy) {
  Plan plan = empty_plan(problem, topology);
  plan.policy = std::move(policy);
  plan.tile = decisions.tile;
  plan.devices = decisions.devices;
  plan.single_issuer = decisions.single_issuer;
  const auto seconds = [](double microseconds) { return Seconds{microseconds * 1e-6}; };
  plan.runtime = {seconds(decisions.task_us), seconds(decisions.request_us), seconds(decisions.peer_us),
                  seconds(decisions.call_us)};
  plan.origin.decisions = to_text(decisions, topology);
  return plan;
}

Workspace::Workspace(const PlanSetup& setup, Clock::Options clock, std::int64_t slot_bytes)
    : clock_{setup.resources, setup.topology, for_devices(clock, setup.devices.size())},
      arenas_{arenas_of(setup, slot_bytes)},
      context_{setup.problem, setup.topology, setup.decisions, setup.devices,  setup.builder,  clock_,
               setup.costs,   arenas_,        setup.matrix_a,  setup.matrix_b, setup.matrix_c, setup.links} {}

void Workspace::note_peaks(Plan& plan) const {
  for (std::size_t d = 0; d < arenas_.size(); ++d) {
    std::int64_t& peak = plan.peak_bytes[context_.devices[d].index()];
    peak = std::max(peak, arenas_[d].peak());
  }
}

}  // namespace tilerail
