#include "sched/policy/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cost/energy.hpp"
#include "sched/policy/effect_facts.hpp"

namespace tilerail {
namespace {

constexpr Reason one_gpu = "one GPU is given", nothing_to_multiply = "there is nothing to multiply",
                 once = "every tile is used once", no_chain = "no tile is sent in a chain",
                 no_link_map = "routing is not link-map", evicted = "tiles do not all fit in memory",
                 to_select = "select is none", even_dot = "a dot product is cut into even parts",
                 in_place = "C is where it is computed", costs_nothing = "it is 0";

Reason why_not_selected(const Facts& f) { return f.one_gpu() ? one_gpu : f.product() ? nullptr : nothing_to_multiply; }

/// Tiles of one size are cut anew.
Reason why_not_cut(const Facts& f) {
  if (!f.product()) return nothing_to_multiply;
  return f.problem.routine != Routine::gemm ? "only tiles of matrix products are cut" : nullptr;
}

Reason why_not_shaped(const Facts& f) {
  if (const Reason why = why_not_cut(f)) return why;
  if (!f.policy.caching && !f.varies("caching")) return "without caching tiles are squares";
  return f.evicts() ? evicted : nullptr;
}

Reason why_no_hops(const Facts& f) { return !f.by_link_map() ? no_link_map : f.one_gpu() ? one_gpu : nullptr; }

struct Rule {
  std::string_view key;
  Reason (*without_effect)(const Facts&);
};

constexpr std::array rules{
    Rule{"devices",
         [](const Facts& f) -> Reason {
           if (f.policy.device_choice == DeviceChoice::first) return nullptr;
           return f.one_gpu() ? one_gpu : f.selects() ? "select chooses the GPUs" : nullptr;
         }},
    Rule{"select", [](const Facts& f) { return why_not_selected(f); }},
    Rule{"select-by", [](const Facts& f) { return !f.policy.select ? to_select : why_not_selected(f); }},
    Rule{"select-ms",
         [](const Facts& f) {
           if (!f.policy.select) return to_select;
           if (!f.selects()) return why_not_selected(f);
           return f.policy.select_by == SelectBy::model ? "no plans are judged to select GPUs" : nullptr;
         }},
    Rule{"ways", [](const Facts& f) -> Reason { return f.policy.judge_ops == 0 ? "effort is fast" : nullptr; }},
    Rule{"effort", [](const Facts&) -> Reason { return nullptr; }},
    Rule{"grid",
         [](const Facts& f) {
           return f.one_gpu() ? one_gpu : f.problem.routine != Routine::gemm ? "a vector has no columns" : nullptr;
         }},
    Rule{"k-split",
         [](const Facts& f) -> Reason {
           if (f.one_gpu()) return one_gpu;
           if (!f.product()) return nothing_to_multiply;
           if (f.problem.of_vectors()) return "only the k of products with a matrix is split";
           if (!f.policy.caching) return "without caching no sum stays on a GPU";
           return f.gpus_reach_others() ? nullptr : "no GPU can send its sums to another";
         }},
    Rule{"distribution",
         [](const Facts& f) -> Reason {
           if (f.one_gpu()) return one_gpu;
           if (f.takes_from_one_queue() && !f.cuts_blocks() && !f.varies("agent"))
             return "GPUs take tiles of C from one queue";
           return f.dot() ? even_dot : nullptr;
         }},
    Rule{"shares",
         [](const Facts& f) -> Reason {
           if (f.one_gpu()) return one_gpu;
           if (f.dot()) return even_dot;
           if (!f.product()) return nothing_to_multiply;
           if (f.selects() && f.policy.select_by == SelectBy::model) return "select-by=model gives the shares";
           return f.share_equally() && !f.balances() ? "the GPUs are alike" : nullptr;
         }},
    Rule{"tile-choice",
         [](const Facts& f) -> Reason {
           if (f.policy.tile > 0) return "a tile is given";
           const bool searches =
               f.policy.tile_choice == TileChoice::search || preset(f.policy.preset).tile_choice == TileChoice::search;
           return f.product() || searches ? nullptr : nothing_to_multiply;
         }},
    Rule{"tile", [](const Facts&) -> Reason { return nullptr; }},
    Rule{"tile-rows", [](const Facts& f) { return why_not_shaped(f); }},
    Rule{"tile-depth", [](const Facts& f) { return why_not_shaped(f); }},
    Rule{"small-tiles", why_not_cut},
    Rule{"ragged", why_not_cut},
    Rule{"routing",
         [](const Facts& f) -> Reason {
           if ((f.policy.relays && f.can_relay()) || (f.link_map() && !f.one_gpu())) return nullptr;
           if (f.used_once()) return once;
           if (!f.policy.caching) return "without caching a tile comes from its home";
           const bool asks = f.policy.order == Order::eta || f.policy.order == Order::eta_all || f.varies("order");
           return f.one_gpu() && !asks ? "tiles come from their home alone" : nullptr;
         }},
    Rule{"relays",
         [](const Facts& f) -> Reason {
           if (f.problem.routine != Routine::gemm) return "vectors go straight";
           if (overrides(f.policy, "routing")) return "routing is given";
           if (!f.policy.relays && !preset(f.policy.preset).relays) return "the preset has none";
           if (f.varies("routing")) return nullptr;
           return f.can_relay() ? nullptr : "no transfer is faster over another GPU";
         }},
    Rule{"max-hops", why_no_hops},
    Rule{"hop-rule", why_no_hops},
    Rule{"batch",
         [](const Facts& f) -> Reason {
           if (f.one_gpu()) return one_gpu;
           if (f.used_once()) return once;
           if ((f.policy.grid == GridChoice::automatic || f.varies("grid")) && f.problem.routine == Routine::gemm)
             return nullptr;
           if (!f.policy.caching) return "without caching every GPU fetches for itself";
           return f.evicts() ? evicted : nullptr;
         }},
    Rule{"chunks",
         [](const Facts& f) -> Reason {
           if (f.staged()) return nullptr;
           return !f.in_pieces() ? no_chain : f.never_in_pieces() ? "tiles are smaller than two chunks" : nullptr;
         }},
    Rule{"min-chunk-bytes",
         [](const Facts& f) {
           return !f.in_pieces() ? no_chain : f.policy.chunks == 1 && !f.varies("chunks") ? "chunks is 1" : nullptr;
         }},
    Rule{"sends",
         [](const Facts& f) -> Reason {
           if (f.one_gpu()) return one_gpu;
           return f.only_candidate() && !f.sends_in_several_queues() ? "no GPU sends to several" : nullptr;
         }},
    Rule{"peer-copies",
         [](const Facts& f) -> Reason {
           if (!f.copies_between_gpus()) return one_gpu;
           return f.chose_homes_or_none() && !f.stages_homes()
                      ? "no matrix is on a GPU, or the GPUs have links of their own"
                      : nullptr;
         }},
    Rule{"copy-rates", [](const Facts&) -> Reason { return nullptr; }},
    Rule{"c-tiles",
         [](const Facts& f) -> Reason {
           if (f.problem.beta == 0 || !f.product() || f.at_home()) return "C is not fetched";
           return f.problem.of_vectors() ? "a vector is fetched before its kernels" : nullptr;
         }},
    Rule{"write-backs",
         [](const Facts& f) { return f.at_home() ? in_place
                                     : f.dot()   ? "a dot product writes one number"
                                                 : nullptr; }},
    Rule{"order",
         [](const Facts& f) -> Reason {
           if (f.used_once()) return once;
           if (f.asks_in_own_order() && !f.varies("agent")) return "the agent has an order of its own";
           return f.evicts() ? evicted : nullptr;
         }},
    Rule{"agent",
         [](const Facts& f) { return f.product() && !f.problem.of_vectors() ? nullptr : "no matrix is multiplied"; }},
    Rule{"caching", [](const Facts& f) { return f.used_once() ? once : nullptr; }},
    Rule{"in-place",
         [](const Facts& f) { return f.computes_at_home() ? nullptr : "no matrix is on a GPU that computes"; }},
    Rule{"warm",
         [](const Facts& f) {
           return f.used_once() ? once : f.policy.caching ? nullptr : "without caching nothing is kept";
         }},
    Rule{"input-buffers",
         [](const Facts& f) { return f.policy.caching && !f.varies("caching") ? "tiles are kept" : nullptr; }},
    Rule{"overlap",
         [](const Facts& f) {
           const bool one_by_one = f.only_candidate() && !f.copies() && f.one_stream();
           return one_by_one ? "kernels run one after another, and nothing is copied" : nullptr;
         }},
    Rule{"compute-streams",
         [](const Facts& f) -> Reason {
           if (f.dot()) return "a dot product has one stream a GPU";
           const bool one_tile = f.only_candidate() && f.one_stream() && f.policy.compute_streams > 1;
           return one_tile ? "no GPU has several tiles" : nullptr;
         }},
    Rule{"memory",
         [](const Facts& f) -> Reason {
           if (f.used_once()) return once;
           if (!f.on_hosts() || !f.policy.caching) return "tiles are evicted all the same";
           return f.all_fit() ? "all tiles fit in memory" : nullptr;
         }},
    Rule{"memory-fraction",
         [](const Facts& f) {
           const bool less = f.policy.memory_fraction <= preset(f.policy.preset).memory_fraction;
           return less && f.policy.tile > 0 && f.all_fit() ? "all tiles fit in memory" : nullptr;
         }},
    Rule{"issue", [](const Facts& f) { return f.one_thread_issues() ? "one thread issues everything" : nullptr; }},
    Rule{"graph",
         [](const Facts& f) {
           return f.only_candidate() && !f.gains_as_graph() ? "the plan gains nothing as a graph" : nullptr;
         }},
    Rule{"task-us", [](const Facts& f) { return f.policy.task_us == 0 ? costs_nothing : nullptr; }},
    Rule{"request-us", [](const Facts& f) { return f.policy.request_us == 0 ? costs_nothing : nullptr; }},
    Rule{"peer-us",
         [](const Facts& f) {
           return f.policy.peer_us == 0 ? costs_nothing : f.copies_between_gpus() ? nullptr : one_gpu;
         }},
    Rule{"gpu-us", [](const Facts& f) { return f.policy.gpu_us == 0 ? costs_nothing : nullptr; }},
};

const Rule& rule_of(std::string_view key) {
  const auto* const rule = std::ranges::find(rules, key, &Rule::key);
  if (rule == rules.end()) throw std::logic_error{fmt::format("field '{}' has no rule", key)};
  return *rule;
}

}  // namespace

bool equally_fast(const Question& asked) {
  return std::ranges::all_of(asked.devices, [&](MemoryId device) {
    return asked.topology.memory(device).kernels == asked.topology.memory(asked.devices[0]).kernels;
  });
}

bool share_equally(const Question& asked) {
  const auto draws = [&](MemoryId device) -> std::optional<Watts> {
    const auto watts = device_watts(asked.problem, asked.topology, device);
    return watts ? std::optional{watts->sustained()} : std::nullopt;
  };
  const Shares shares = asked.policy.shares;
  return equally_fast(asked) && (shares == Shares::equal || shares == Shares::by_speed ||
                                 std::ranges::all_of(asked.devices, [&](MemoryId device) {
                                   return draws(device) == draws(asked.devices[0]);
                                 }));
}

namespace {

/// A tile that is longer than the problem acts as one that is as long. Sets the tile of the plan to that, and returns a
/// note about it.
std::optional<std::string> shortened_tile(const Question& asked, Plan& plan) {
  const GemmProblem& p = asked.problem;
  const std::int64_t longest = std::max({p.m, p.n, p.k}), given = asked.policy.tile;
  if (!overrides(asked.policy, "tile") || given <= longest || plan.ops.empty()) return std::nullopt;
  plan.tile = longest;
  return fmt::format("tile: no side of the problem is longer than {}, which is the tile instead of {}", longest, given);
}

}  // namespace

bool may_matter(const Question& asked, std::string_view key) {
  return !rule_of(key).without_effect(Facts{asked, nullptr});
}

void explain_effects(const Question& asked, Plan& plan) {
  const Facts facts{asked, &plan};
  const auto why_without = [&](std::string_view key) -> Reason {
    return plan.ops.empty() ? "there is nothing to do" : rule_of(key).without_effect(facts);
  };
  std::vector<std::string> named;
  for (const auto& [key, value] : asked.policy.overridden)
    if (const Reason why = why_without(key)) named.push_back(fmt::format("{}: {}", key, why));
  if (auto shortened = shortened_tile(asked, plan)) named.push_back(std::move(*shortened));
  std::vector<PlanDecision> decided;
  for (const PlanDecision& decision : plan.origin.decisions)
    if (decision.key == "devices" || decision.key == "tiles" || !why_without(decision.key)) decided.push_back(decision);
  plan.origin.without_effect = std::move(named), plan.origin.decisions = std::move(decided);
}

}  // namespace tilerail
