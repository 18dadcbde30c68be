#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cost/graph_gain.hpp"
#include "plan/shared_streams.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/fields.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {

/// Why a field of a policy cannot matter; null where it can.
using Reason = const char*;

/// What the rules of sched/policy/effects.cpp ask about.
class Facts {
 public:
  Facts(const Question& asked, const Plan* plan)
      : problem{asked.problem}, policy{asked.policy}, asked_{asked}, plan_{plan} {}

  const GemmProblem& problem;
  const Policy& policy;

  bool one_gpu() const { return asked_.devices.size() == 1; }
  bool product() const { return problem.has_product(); }
  bool dot() const { return problem.routine == Routine::dot && product(); }
  bool used_once() const { return problem.of_vectors() || !product(); }
  bool selects() const { return policy.select && product() && !one_gpu(); }
  /// Whether this plan was the only one that was made: another candidate might not be like it.
  bool only_candidate() const {
    if (!plan_ || asked_.judged) return false;
    const std::size_t tried = plan_->origin.candidates.size();
    return !selects() && (tried == 0 || (tried == 1 && one_gpu()));
  }
  bool evicts() const { return only_candidate() && decided("tiles") == tiles_evicted; }
  bool at_home() const { return one_gpu() && asked_.devices[0] == problem.place_c && policy.in_place; }
  bool computes_at_home() const {
    return std::ranges::any_of(std::array{problem.place_a, problem.place_b, problem.place_c}, [&](MemoryId place) {
      return std::ranges::find(asked_.devices, place) != asked_.devices.end();
    });
  }
  bool copies_between_gpus() const { return may_copy_between_gpus(problem, asked_.topology, asked_.devices); }
  bool on_hosts() const { return homes_on_hosts(problem, asked_.topology); }
  /// Whether some candidate may have another value of the field than the policy.
  bool varies(std::string_view key) const { return asked_.varies(key); }
  /// Whether some tile may go to several GPUs in one chain.
  bool chains() const {
    return (policy.batch || varies("batch")) && policy.caching && !one_gpu() && !evicts() && product() &&
           problem.routine == Routine::gemm;
  }
  /// Whether GPUs ask for tasks by rules that have an order of their own.
  bool asks_in_own_order() const {
    return (policy.agent == Agent::xkblas || policy.agent == Agent::blasx) && problem.routine == Routine::gemm;
  }
  /// Whether all GPUs take tiles of C from one queue.
  bool takes_from_one_queue() const { return policy.agent == Agent::blasx && problem.routine == Routine::gemm; }
  /// Whether tiles of C are cut at the borders of blocks, as this distribution or that of the preset has them.
  bool cuts_blocks() const {
    return std::ranges::any_of(std::array{policy.distribution, preset(policy.preset).distribution}, [](Distribution d) {
      return d == Distribution::blocks || d == Distribution::proportional;
    });
  }
  /// Whether routes of a link map may be taken.
  bool by_link_map() const { return policy.routing == Routing::link_map || relays() || varies("routing"); }
  /// Whether a tile may go to other GPUs in pieces: in a chain, or on its way over one.
  bool in_pieces() const {
    const bool over_another = policy.hop_rule == HopRule::bottleneck && policy.max_hops > 0 && by_link_map();
    return chains() || (over_another && !one_gpu() && product());
  }
  /// Whether a tile may go from GPU to GPU over a host.
  bool staged() const {
    return (policy.peer_copies == PeerCopies::staged || (plan_ && decided("peer-copies") == "staged") ||
            (policy.peer_copies == PeerCopies::staged_home && stages_homes())) &&
           copies_between_gpus();
  }
  /// Whether copies from and to the home of a tile may be staged where the policy wants just that.
  bool stages_homes() const { return tilerail::stages_homes(problem, asked_.topology); }
  /// Whether the user chose between staging just that, as the preset may, and nothing.
  bool chose_homes_or_none() const {
    return overrides(policy, "peer-copies") && policy.peer_copies != PeerCopies::staged &&
           preset(policy.preset).peer_copies != PeerCopies::staged;
  }
  /// Whether the way over another GPU may be taken where the policy wants that.
  bool can_relay() const {
    if (!can_relay_) can_relay_ = relays_help(problem, asked_.resources, asked_.devices);
    return *can_relay_;
  }
  bool relays() const { return policy.relays && !overrides(policy, "routing") && can_relay(); }
  /// Whether the preset or the user wants tiles to go over other GPUs, whatever that does to time.
  bool link_map() const {
    return varies("routing") || policy.routing == Routing::link_map ||
           preset(policy.preset).routing == Routing::link_map;
  }
  /// Whether there is a route between two of the GPUs.
  bool gpus_reach_others() const {
    return std::ranges::any_of(asked_.devices, [&](MemoryId from) {
      return std::ranges::any_of(asked_.devices,
                                 [&](MemoryId to) { return from != to && asked_.topology.has_route(from, to); });
    });
  }
  bool chooses_gpus() const { return selects() || policy.device_choice == DeviceChoice::search; }
  bool share_equally() const { return tilerail::share_equally(asked_); }
  /// Whether the search may shift work from one GPU to another.
  bool balances() const { return varies("distribution"); }
  bool gains_as_graph() const { return tilerail::gains_as_graph(*plan_, asked_.topology); }
  bool copies() const {
    return std::ranges::any_of(plan_->queues, [](const Queue& queue) { return queue.kind == Queue::Kind::copy; });
  }
  /// Whether a GPU has one stream of kernels.
  bool one_stream() const {
    return std::ranges::none_of(
        plan_->queues, [](const Queue& queue) { return queue.kind == Queue::Kind::compute && queue.index > 0; });
  }
  /// Whether some GPU sends to others in several queues.
  bool sends_in_several_queues() const {
    std::map<MemoryId, int> queues;
    for (const Queue& queue : plan_->queues)
      if (queue.kind == Queue::Kind::copy && !asked_.topology.is_host(queue.src) && !asked_.topology.is_host(queue.dst))
        ++queues[queue.src];
    return std::ranges::any_of(queues, [](const auto& of_source) { return of_source.second > 1; });
  }
  bool one_thread_issues() const {
    if (!plan_ || (!one_gpu() && !only_candidate())) return false;
    std::set<MemoryId> owners;
    for (const Queue& queue : plan_->queues) owners.insert(stream_owner(queue, asked_.topology));
    return owners.size() <= 1;
  }
  /// Whether no tile has the bytes of two chunks.
  bool never_in_pieces() const {
    if (!only_candidate() || shapes_tiles()) return false;
    const double tile = static_cast<double>(plan_->tile);
    return tile * tile * static_cast<double>(element_size(problem.dtype)) <
           2 * static_cast<double>(policy.min_chunk_bytes);
  }
  /// Whether tiles may be others than squares.
  bool shapes_tiles() const {
    return policy.tile_rows != TileRows::side || policy.tile_depth != TileDepth::side || varies("tile-rows");
  }
  bool all_fit() const { return only_candidate() && decided("tiles") == tiles_fit; }

 private:
  std::string_view decided(std::string_view key) const {
    const auto found = std::ranges::find(plan_->origin.decisions, key, &PlanDecision::key);
    return found == plan_->origin.decisions.end() ? std::string_view{} : found->value;
  }

  const Question& asked_;
  const Plan* plan_;                       // null: whatever it will be
  mutable std::optional<bool> can_relay_;  // which takes long to find out
};

}  // namespace tilerail
