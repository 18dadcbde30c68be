#include "sched/policy/decisions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cost/energy.hpp"
#include "model/base/error.hpp"
#include "model/kernels/energy.hpp"
#include "model/machine/machine_facts.hpp"
#include "sched/policy/effects.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/made_decisions.hpp"

namespace tilerail {
namespace {

/// Kernels that fill a GPU run one after another, in whatever stream they are. Where one leaves room, as many streams
/// as it takes to fill the GPU.
int streams_for(const Question& q, std::int64_t tile, Grid grid) {
  if (q.policy.compute_streams > 0) return q.policy.compute_streams;
  double least = 1;
  const GemmProblem& p = q.problem;
  const bool all_rows = q.policy.tile_rows == TileRows::all && p.routine == Routine::gemm && p.has_product();
  const std::int64_t rows = all_rows ? p.m / grid.rows : std::min(tile, p.m), cols = std::min(tile, p.n),
                     depth = std::min(tile, p.k);
  for (const MemoryId device : q.devices) {
    const KernelTimes& kernels = q.topology.kernels_of(device);
    least = std::min(least, p.routine == Routine::gemv && p.alpha != 0 && depth > 0
                                ? kernels.gemm_occupancy(rows, cols, depth, p.dtype, p.trans_a, p.trans_b)
                                : kernels.occupancy(rows, cols));
  }
  if (least == 0) return 1;  // of an empty result
  return std::clamp(static_cast<int>(std::ceil(1 / least)), 1, most_automatic_streams);
}

/// That the parts of the GPUs follow.
const Metric& metric_of(Shares shares) {
  const std::string_view name = shares == Shares::by_edp ? "edp" : shares == Shares::by_pdp ? "pdp" : "perf";
  return *std::ranges::find(metrics, name, &Metric::name);
}

/// In proportion to that metric of each device alone, by kernels of this tile; equal where they are alike.
std::vector<double> shares_for(const Question& q, std::int64_t tile) {
  if (!q.shares.empty()) return {q.shares.begin(), q.shares.end()};
  const GemmProblem& p = q.problem;
  if (q.policy.shares == Shares::equal || p.scales_only() || p.routine == Routine::dot || share_equally(q))
    return std::vector<double>(q.devices.size(), 1.0);
  const Metric& metric = metric_of(q.policy.shares);
  std::vector<Outcome> alone;
  for (const MemoryId device : q.devices) {
    const Seconds time = q.topology.kernels_of(device).gemm_time(std::min(tile, p.m), std::min(tile, p.n),
                                                                 std::min(tile, p.k), p.dtype, p.trans_a, p.trans_b);
    const auto watts = device_watts(p, q.topology, device);
    if (metric.needs_energy && !watts) refuse_without_watts("shares", metric, q.topology);
    alone.push_back({p.flops(), time, (watts ? watts->sustained() : Watts{1}) * time});
  }
  return parts_by(metric, alone);
}

/// c-tiles=auto, as the papers do it: where C shares its home with A or B, what is fetched first is not C.
bool lazy_for(const Question& q) {
  const GemmProblem& p = q.problem;
  const bool shares_home = p.place_c == p.place_a || p.place_c == p.place_b;
  return q.policy.c_tiles == CTiles::lazy || (q.policy.c_tiles == CTiles::automatic && shares_home);
}

std::string shares_text(const std::vector<double>& shares) {
  return all_equal(shares) ? std::string{"equal"} : fmt::format("{:.4g}", fmt::join(shares, ":"));
}

}  // namespace

void refuse_without_watts(std::string_view field, const Metric& metric, const Topology& topology) {
  throw InputError{field, metric.name, fmt::format("needs watts, which machine '{}' does not have", topology.name()),
                   "'watts' of each GPU"};
}

bool homes_on_hosts(const GemmProblem& p, const Topology& topology) {
  return std::ranges::all_of(std::array{p.place_a, p.place_b, p.place_c},
                             [&](MemoryId place) { return topology.is_host(place) || topology.has_copies(place); });
}

bool stages_homes(const GemmProblem& p, const Topology& topology) {
  return !homes_on_hosts(p, topology) && !gpus_have_own_links(topology);
}

Decisions decide(const Question& q, std::int64_t tile, Grid grid) {
  const Policy& wish = q.policy;
  Decisions d;
  d.devices.assign(q.devices.begin(), q.devices.end());
  d.shares = shares_for(q, tile);
  d.grid = grid;
  d = by_wish(std::move(d), wish);
  d.tile = tile;
  if (wish.routing != Routing::link_map) d.max_hops = 0;
  if (wish.peer_copies == PeerCopies::staged_home && !stages_homes(q.problem, q.topology))
    d.peer_copies = PeerCopies::direct;
  d.lazy = lazy_for(q);
  d.compute_streams = streams_for(q, tile, grid);
  return d;
}

Policy with_relays(Policy policy) {
  const auto set = [&](std::string_view key, auto& field, auto value) {
    if (!overrides(policy, key)) field = value;
  };
  policy.relays = true;
  set("routing", policy.routing, Routing::link_map);
  set("distribution", policy.distribution, Distribution::cyclic_2d);
  set("batch", policy.batch, false);
  set("sends", policy.sends, Sends::free);
  set("order", policy.order, Order::fifo);
  set("write-backs", policy.write_backs, WriteBacks::own_queues);
  set("compute-streams", policy.compute_streams, most_automatic_streams);
  return policy;
}

Policy wish_for(const Decisions& d) {
  Policy said;
  said.distribution = d.distribution, said.tile = d.tile, said.tile_rows = d.tile_rows;
  said.tile_depth = d.tile_depth, said.small_tiles = d.small_tiles, said.ragged = d.ragged;
  said.routing = d.routing, said.relays = d.relays;
  said.max_hops = d.max_hops, said.hop_rule = d.hop_rule, said.batch = d.batch, said.chunks = d.chunks,
  said.min_chunk_bytes = d.min_chunk_bytes;
  said.sends = d.sends, said.peer_copies = d.peer_copies, said.copy_rates = d.copy_rates,
  said.c_tiles = d.lazy ? CTiles::lazy : CTiles::eager;
  said.write_backs = d.write_backs, said.order = d.order, said.agent = d.agent, said.caching = d.caching,
  said.in_place = d.in_place, said.warm = d.warm, said.overlap = d.overlap, said.input_buffers = d.input_buffers;
  said.compute_streams = d.compute_streams, said.memory = d.memory, said.memory_fraction = d.memory_fraction;
  said.single_issuer = d.single_issuer, said.graph = d.graph;
  said.task_us = d.task_us, said.request_us = d.request_us, said.peer_us = d.peer_us;
  said.gpu_us = d.gpu_us;
  return said;
}

Decisions by_wish(Decisions d, const Policy& wish) {
  d.distribution = wish.distribution, d.tile = wish.tile, d.tile_rows = wish.tile_rows;
  d.tile_depth = wish.tile_depth, d.small_tiles = wish.small_tiles, d.ragged = wish.ragged;
  d.routing = wish.routing, d.relays = wish.relays;
  d.max_hops = wish.max_hops, d.hop_rule = wish.hop_rule, d.batch = wish.batch, d.chunks = wish.chunks,
  d.min_chunk_bytes = wish.min_chunk_bytes;
  d.sends = wish.sends, d.peer_copies = wish.peer_copies, d.copy_rates = wish.copy_rates,
  d.lazy = wish.c_tiles == CTiles::lazy;
  d.write_backs = wish.write_backs, d.order = wish.order, d.agent = wish.agent, d.caching = wish.caching,
  d.in_place = wish.in_place, d.warm = wish.warm, d.overlap = wish.overlap, d.input_buffers = wish.input_buffers;
  d.compute_streams = wish.compute_streams, d.memory = wish.memory, d.memory_fraction = wish.memory_fraction;
  d.single_issuer = wish.single_issuer, d.graph = wish.graph;
  d.task_us = wish.task_us, d.request_us = wish.request_us, d.peer_us = wish.peer_us;
  d.gpu_us = wish.gpu_us;
  return d;
}

std::vector<PlanDecision> to_text(const Decisions& d, const Topology& topology) {
  const Policy said = wish_for(d);  // writes it as users do
  std::vector<std::string> names;
  for (const MemoryId device : d.devices) names.push_back(topology.memory(device).name);
  std::vector<PlanDecision> text{{"devices", fmt::format("{}", fmt::join(names, ","))}};
  for (const PolicyField& field : fields_of(said)) {
    if (field.key == "grid")
      text.push_back({"grid", d.grid.text()});
    else if (field.key == "shares")
      text.push_back({"shares", shares_text(d.shares)});
    else if (!is_of_the_search(field.key))
      text.push_back({field.key, field.value});
  }
  return text;
}

}  // namespace tilerail
