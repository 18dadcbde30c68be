#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/kernels/energy.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "sched/policy/grid.hpp"
#include "sched/policy/policy.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// A policy's wishes, resolved for one problem on one machine: nothing is left open. docs/model.md#decisions
struct Decisions {
  std::vector<MemoryId> devices;
  std::vector<double> shares;  // of C, that devices compute; one a device
  Grid grid;
  Distribution distribution = Distribution::blocks;
  std::int64_t tile = 0;
  TileRows tile_rows = TileRows::side;
  TileDepth tile_depth = TileDepth::side;
  SmallTiles small_tiles = SmallTiles::none;
  Ragged ragged = Ragged::own;
  Routing routing = Routing::initial;
  bool relays = false;  // routes over other GPUs were preferred to those of the wish
  int max_hops = 0;
  HopRule hop_rule = HopRule::added;
  bool batch = false;
  int chunks = 1;
  std::int64_t min_chunk_bytes = 0;
  Sends sends = Sends::free;
  PeerCopies peer_copies = PeerCopies::direct;
  CopyRates copy_rates = CopyRates::alone;
  bool lazy = false;  // C is fetched after its kernels
  WriteBacks write_backs = WriteBacks::in_order;
  Order order = Order::fifo;
  Agent agent = Agent::none;
  bool caching = true, in_place = true, warm = false, overlap = true;
  int input_buffers = 0;
  int compute_streams = 1;
  MemoryChoice memory = MemoryChoice::cubes;
  double memory_fraction = 0.8;
  bool single_issuer = false, graph = true;
  double task_us = 0, request_us = 0, peer_us = 0, gpu_us = 0;
};

/// Throws the InputError of a field that asks for a metric of energy on a machine that does not know the watts.
[[noreturn]] void refuse_without_watts(std::string_view field, const Metric& metric, const Topology& topology);

/// Whether no matrix is on a GPU, but for copies that each has.
bool homes_on_hosts(const GemmProblem& problem, const Topology& topology);

/// Whether peer-copies=staged-home can stage anything: a matrix is on a GPU, and some GPUs have no links of their own.
bool stages_homes(const GemmProblem& problem, const Topology& topology);

/// The one place where wishes become decisions. `tile` and `grid` are those of a candidate plan.
Decisions decide(const Question& question, std::int64_t tile, Grid grid);

/// What becomes of a tile after its use, as the decision "tiles" has it.
constexpr std::string_view tiles_fit = "all fit", tiles_evicted = "evicted", tiles_in_cubes = "cubes",
                           tiles_not_kept = "not kept";

/// The wishes of a plan that relays: tiles go over other GPUs where that is faster, and everything that would work
/// against it is set to what goes with it, unless the user overrode it. Source: PARALiA (thesis 3.2).
Policy with_relays(Policy policy);

/// The policy that wishes just what was decided, but for devices, grid and shares; and the decisions, but for these,
/// that are such a policy's.
Policy wish_for(const Decisions& decisions);
Decisions by_wish(Decisions decisions, const Policy& wish);

/// As the plan file has them: key and value, in the order of the policy's fields.
std::vector<PlanDecision> to_text(const Decisions& decisions, const Topology& topology);

}  // namespace tilerail
