#include "sched/policy/decisions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "cost/energy.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/machine/machine_facts.hpp"
#include "sched/policy/emulation.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/made_decisions.hpp"

namespace tilerail {
namespace {

/// Kernels that fill a GPU run in sequence in any stream. If one leaves room, as many
/// streams as fill the GPU.
int streams_for(const Question& q, int64_t tile, Grid grid) {
  if (q.policy.choices.compute_streams > 0) return q.policy.choices.compute_streams;
  double least = 1;
  const GemmProblem& p = q.problem;
  const bool all_rows = q.policy.choices.tile_rows == TileRows::all &&
                        p.routine == Routine::gemm && p.has_product();
  const int64_t rows = all_rows ? p.m / grid.rows : std::min(tile, p.m),
                cols = std::min(tile, p.n), depth = std::min(tile, p.k);
  for (const MemoryId device : q.devices) {
    const KernelTimes& kernels = q.topology.kernels_of(device);
    least = std::min(least, p.routine == Routine::gemv && p.alpha != 0 && depth > 0
                                ? kernels.gemm_occupancy(rows, cols, depth, p.dtype,
                                                         p.trans_a, p.trans_b)
                                : kernels.occupancy(rows, cols));
  }
  if (least == 0) return 1;  // empty result
  return std::clamp(int(std::ceil(1 / least)), 1, most_automatic_streams);
}

/// The metric that determines the shares.
const Metric& metric_of(Shares shares) {
  const std::string_view name = shares == Shares::by_edp   ? "edp"
                                : shares == Shares::by_pdp ? "pdp"
                                                           : "perf";
  return *std::ranges::find(metrics, name, &Metric::name);
}

/// Whether the policy's rule gives all devices equal shares of C.
bool share_equally(const Question& q) {
  const auto draws = [&](MemoryId device) -> std::optional<Watts> {
    const auto watts = device_watts(q.problem, q.topology, device);
    return watts ? std::optional{watts->sustained()} : std::nullopt;
  };
  const auto draws_as_the_first = [&](MemoryId device) {
    return draws(device) == draws(q.devices[0]);
  };
  return equally_fast(q) && (q.policy.shares == Shares::by_speed ||
                             std::ranges::all_of(q.devices, draws_as_the_first));
}

/// Shares in proportion to the metric of each device alone, for kernels of this tile;
/// equal for equivalent devices.
std::vector<double> shares_for(const Question& q, int64_t tile) {
  if (!q.shares.empty()) return {q.shares.begin(), q.shares.end()};
  const GemmProblem& p = q.problem;
  const bool nothing_to_share = p.scales_only() || !(p.flops().value > 0);
  if (q.policy.shares == Shares::equal || nothing_to_share || p.routine == Routine::dot ||
      share_equally(q))
    return std::vector<double>(q.devices.size(), 1.0);
  const Metric& metric = metric_of(q.policy.shares);
  std::vector<Outcome> alone;
  for (const MemoryId device : q.devices) {
    const Seconds kernel = q.topology.kernels_of(device).gemm_time(
        std::min(tile, p.m), std::min(tile, p.n), std::min(tile, p.k), p.dtype, p.trans_a,
        p.trans_b);
    const Seconds time = kernel / q.topology.memory(device).workers();
    const auto watts = device_watts(p, q.topology, device);
    if (metric.needs_energy && !watts) refuse_without_watts("shares", metric, q.topology);
    constexpr Seconds second{1};
    alone.push_back({p.flops() * (second / time), second,
                     (watts ? watts->sustained() : Watts{1}) * second});
  }
  return parts_by(metric, alone);
}

/// c-tiles=auto, as in the papers: if C shares its home with A or B, C is not fetched
/// first. Never for halves: a single kernel rounds product and C_in together, and after
/// several C_in is added when their sum is rounded.
bool fetches_c_last(const Question& q) {
  const GemmProblem& p = q.problem;
  const bool shares_home = p.place_c == p.place_a || p.place_c == p.place_b;
  return !p.rounds() && (q.policy.choices.c_tiles == CTiles::lazy ||
                         (q.policy.choices.c_tiles == CTiles::automatic && shares_home));
}

std::string shares_text(const std::vector<double>& shares) {
  return all_equal(shares) ? std::string{"equal"}
                           : fmt::format("{:.4g}", fmt::join(shares, ":"));
}

}  // namespace

void refuse_without_watts(std::string_view field, const Metric& metric,
                          const Topology& topology) {
  throw InfeasibleError{
      field, metric.name,
      fmt::format("needs watts, which machine '{}' does not have", topology.name()),
      "'watts' of each GPU"};
}

bool equally_fast(const Question& q) {
  return std::ranges::all_of(q.devices, [&](MemoryId device) {
    const auto what = [&](MemoryId id) {
      return std::pair{q.topology.processor(id).kernels, q.topology.memory(id).workers()};
    };
    return what(device) == what(q.devices[0]);
  });
}

bool homes_on_hosts(const GemmProblem& p, const Topology& topology) {
  return std::ranges::all_of(homes_of(p),
                             [&](MemoryId home) { return topology.is_host(home); });
}

bool stages_homes(const GemmProblem& p, const Topology& topology) {
  return !homes_on_hosts(p, topology) && !gpus_have_own_links(topology);
}

Decisions decide(const Question& q, int64_t tile, Grid grid) {
  const Choices& options = q.policy.choices;
  Decisions d{{q.devices.begin(), q.devices.end()}, shares_for(q, tile), grid, options};
  const int64_t longest = std::max({q.problem.m, q.problem.n, q.problem.k, int64_t{1}});
  d.choices.tile = std::min(tile, longest);
  if (options.peer_copies == PeerCopies::staged_home &&
      !stages_homes(q.problem, q.topology))
    d.choices.peer_copies = PeerCopies::direct;
  d.choices.c_tiles = fetches_c_last(q) ? CTiles::lazy : CTiles::eager;
  d.choices.compute_streams = streams_for(q, tile, grid);
  return d;
}

Policy with_relays(Policy policy) {
  for (const auto& [key, value] : {std::pair{"routing", "link-map"},
                                   {"batch", "off"},
                                   {"sends", "free"},
                                   {"write-backs", "own-queues"}})
    if (!overrides(policy, key)) set_value(policy, key, value);
  return policy;
}

std::vector<PlanDecision> to_text(const Decisions& d, const Topology& topology) {
  Policy said, idle;
  said.choices = d.choices;
  idle.choices.emulation = emulation_of(d.choices).idle();
  std::vector<std::string> names;
  for (const MemoryId device : d.devices)
    names.push_back(topology.processor_name(device));
  std::vector<PlanDecision> text{{"devices", fmt::format("{}", fmt::join(names, ","))}};
  for (const std::string_view key : decision_keys(said, idle)) {
    if (key == "grid")
      text.push_back({"grid", d.grid.text()});
    else if (key == "shares")
      text.push_back({"shares", shares_text(d.shares)});
    else
      text.push_back({std::string{key}, value_of(said, key)});
  }
  return text;
}

}  // namespace tilerail
