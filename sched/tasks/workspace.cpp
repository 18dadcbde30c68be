#include "sched/tasks/workspace.hpp"

#include <algorithm>
#include <utility>

#include "cost/issue_times.hpp"
#include "model/base/indices.hpp"
#include "sched/policy/emulation.hpp"

namespace tilerail {
namespace {

Clock::Options for_devices(Clock::Options options, size_t devices) {
  options.devices = devices;
  return options;
}

/// Slots for tiles of A, and of B, by device; empty if all tiles share the memory, also
/// if a device has too few slots. At least two slots are reserved for C and for tiles
/// added to it.
std::vector<int64_t> slots_of_inputs(const PlanSetup& setup, int64_t slot_bytes) {
  std::vector<int64_t> slots;
  if (setup.decisions.choices.caching || setup.decisions.choices.input_buffers == 0 ||
      slot_bytes == 0)
    return slots;
  for (const int64_t capacity : setup.capacities.first(setup.devices.size()))
    slots.push_back(std::min<int64_t>(setup.decisions.choices.input_buffers,
                                      (capacity / slot_bytes - 2) / 2));
  if (std::ranges::any_of(slots, [](int64_t count) { return count < 1; })) slots.clear();
  return slots;
}

std::vector<Arena> arenas_of(const PlanSetup& setup, int64_t slot_bytes) {
  const std::vector<int64_t> inputs = slots_of_inputs(setup, slot_bytes);
  std::vector<Arena> arenas;
  for (const auto d : indices(setup.devices)) {
    const int64_t begin = inputs.empty() ? 0 : 2 * inputs[d] * slot_bytes;
    arenas.emplace_back(setup.builder, setup.devices[d],
                        setup.topology.memory(setup.devices[d]).name,
                        setup.capacities[d] - begin, slot_bytes, begin);
  }
  return arenas;
}

std::vector<InputArenas> inputs_of(const PlanSetup& setup, int64_t slot_bytes) {
  const std::vector<int64_t> slots = slots_of_inputs(setup, slot_bytes);
  std::vector<InputArenas> inputs;
  for (const auto d : indices(slots)) {
    const int64_t bytes = slots[d] * slot_bytes;
    const std::string& name = setup.topology.memory(setup.devices[d]).name;
    inputs.push_back({{setup.builder, setup.devices[d], name, bytes, slot_bytes},
                      {setup.builder, setup.devices[d], name, bytes, slot_bytes, bytes}});
  }
  return inputs;
}

}  // namespace

Plan plan_by(const Decisions& decisions, const Problem& problem, const Topology& topology,
             std::string policy) {
  Plan plan = empty_plan(problem, topology);
  plan.policy = std::move(policy);
  plan.tile = decisions.choices.tile;
  plan.devices = decisions.devices;
  plan.single_issuer = decisions.choices.single_issuer;
  plan.graph = decisions.choices.graph;
  plan.runtime = emulation_of(decisions.choices).costs(decisions.devices.size());
  if (!may_copy_between_gpus(problem, topology, decisions.devices))
    plan.runtime.peer = Seconds{0};
  plan.origin.decisions = to_text(decisions, topology);
  return plan;
}

void settle_graph(Plan& plan, const Topology& topology) {
  if (!plan.graph || gains_as_graph(plan, topology)) return;
  plan.graph = false;
  for (PlanDecision& decision : plan.origin.decisions)
    if (decision.key == "graph") decision.value = "off";
}

Workspace::Workspace(const PlanSetup& setup, Clock::Options clock, int64_t slot_bytes)
    : router_{setup.resources, setup.devices, setup.decisions.choices.peer_copies,
              setup.links},
      clock_{setup.resources, setup.topology, for_devices(clock, setup.devices.size())},
      arenas_{arenas_of(setup, slot_bytes)},
      inputs_{inputs_of(setup, slot_bytes)},
      context_{setup.topology, setup.decisions, setup.devices, setup.builder, router_,
               clock_,         setup.costs,     arenas_,       setup.tensors, &copier_} {
  if (!inputs_.empty()) context_.inputs = &inputs_;
}

void Workspace::note_peaks(Plan& plan) const {
  std::vector<int64_t> tiles(plan.memories.size(), 0);
  for (const auto d : indices(arenas_)) {
    const size_t memory = context_.devices[d].index();
    tiles[memory] = arenas_[d].peak();
    if (!inputs_.empty())
      tiles[memory] = std::max({tiles[memory], inputs_[d].a.peak(), inputs_[d].b.peak()});
    plan.peak_bytes[memory] = std::max(plan.peak_bytes[memory], tiles[memory]);
  }
  copier_.note_peaks(plan, tiles);
}

}  // namespace tilerail
