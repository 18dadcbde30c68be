#include "sched/choose/tile_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <optional>

#include "cost/estimate.hpp"
#include "model/base/threads.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/emulation.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/policy.hpp"
#include "sched/tasks/plan_checks.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {
namespace {

constexpr double margin = 0.01;

class TileSearch {
 public:
  explicit TileSearch(const Question& question)
      : question_{question},
        problem_{question.problem},
        policy_{question.policy},
        scheduler_{question},
        grid_{scheduler_.grid()} {}

  EstimatedPlan best() {
    EstimatedPlan best = any_tile(policy_) ? searched_tile() : estimated(given_tile());
    if (!any_tile(policy_)) note(best);
    best.tried = std::move(tried_);
    return best;
  }

  /// The tile on all devices.
  int64_t given_tile() const {
    const GemmProblem& p = problem_;
    if (policy_.choices.tile > 0) return policy_.choices.tile;
    if (policy_.tile_choice == TileChoice::emulated)
      if (const auto tiles =
              emulation_of(policy_.choices).tiles(question_, scheduler_, grid_);
          !tiles.empty())
        return tiles.front();
    return thesis_tile(p.m, p.n, depth(), grid_, scheduler_.largest_tile(),
                       p.of_vectors() ? vector_tiles : square_tiles);
  }

 private:
  /// Records a candidate unless its copies have no route.
  void note(const EstimatedPlan& plan) {
    if (std::isfinite(plan.candidate.seconds)) tried_.push_back(plan.candidate);
  }

  /// The depth k of one GPU: dot products divide k among GPUs.
  int64_t depth() const {
    return problem_.routine == Routine::dot ? largest_piece(problem_.k, grid_.rows)
                                            : problem_.k;
  }

  EstimatedPlan estimated(int64_t tile) const {
    Plan plan = scheduler_.plan(tile, grid_);
    const Estimate estimate =
        estimate_plan(plan, question_.topology, question_.resources);
    const std::string what = fmt::format(
        "tile={} grid={} gpus={}{}", tile, grid_.text(),
        gpus_text(question_.topology, plan.devices),
        policy_.choices.routing == Routing::link_map ? " routing=link-map" : "");
    return {std::move(plan),
            {what, estimate.makespan.value, Evaluator::estimate},
            estimate.busiest.value};
  }

  /// Plans candidate tiles from the largest down. Smaller tiles need more operations, all
  /// of which are issued, and more planning time. The search ends after `patience` tiles
  /// without a better plan (not counting plans of negligible planning time), when no
  /// better plan is possible, or when a tile with many kernels would follow a tile that
  /// was not better. Up to `patience` tiles are planned concurrently and independently;
  /// the result equals a sequential search.
  EstimatedPlan searched_tile() {
    constexpr size_t patience = 5;
    constexpr int64_t many_kernels = 2000;
    constexpr size_t few_operations = 500;  // negligible planning time
    const auto tiles = tile_candidates(problem_.m, problem_.n, depth(), grid_,
                                       scheduler_.largest_tile(), most_candidate_kernels);
    std::optional<EstimatedPlan> best;
    size_t left = tiles.size(), worse = 0;
    const auto many = [&](int64_t tile) {
      return kernel_count(problem_.m, problem_.n, depth(), grid_, tile) > many_kernels;
    };
    while (left > 0 && worse < patience && !(worse > 0 && many(tiles[left - 1]))) {
      std::vector<std::future<EstimatedPlan>> wave;
      do {
        const int64_t tile = tiles[--left];
        wave.push_back(in_background([&, tile] { return estimated(tile); }));
      } while (left > 0 && wave.size() < patience && !many(tiles[left - 1]));
      for (std::future<EstimatedPlan>& planned : wave) {
        EstimatedPlan plan = planned.get();
        if (worse == patience) continue;
        note(plan);
        if (plan.plan.ops.size() > few_operations) ++worse;
        if (!best || plan.beats(*best))
          best = std::move(plan), worse = is_unbeatable(*best) ? patience : 0;
      }
    }
    return std::move(*best);
  }

  /// Whether another order or cut of the same work on these devices cannot be faster.
  static bool is_unbeatable(const EstimatedPlan& plan) {
    return plan.busiest >= (1 - margin) * plan.candidate.seconds;
  }

  const Question question_;
  const GemmProblem& problem_;
  const Policy& policy_;
  const TileScheduler scheduler_;
  const Grid grid_;
  std::vector<PlanCandidate> tried_;
};

}  // namespace

std::string gpus_text(const Topology& topology, std::span<const MemoryId> gpus) {
  constexpr size_t most_named = 16;
  if (gpus.size() > most_named) return std::to_string(gpus.size());
  std::vector<std::string> names;
  for (const MemoryId gpu : gpus) names.emplace_back(topology.processor_name(gpu));
  return fmt::format("{}", fmt::join(names, ","));
}

namespace {

/// Whether partial sums of C, one per GPU, are small compared with A and B, so that
/// splitting k among GPUs may pay off.
bool sums_are_small(const Question& q) {
  const GemmProblem& p = q.problem;
  const auto elements = [](int64_t rows, int64_t cols) {
    return double(rows) * double(cols);
  };
  return p.has_product() && !p.of_vectors() &&
         elements(p.m, p.n) * double(q.devices.size()) <
             elements(p.m, p.k) + elements(p.k, p.n);
}

/// The policies to try, the given one first.
std::vector<Policy> open_policies(const Question& q) {
  std::vector<Policy> all{q.policy};
  if (may_change(q.policy, "routing") && relays_help(q.problem, q.resources, q.devices))
    all.push_back(with_relays(q.policy));
  if (may_change(q.policy, "grid") && q.devices.size() > 1 && q.policy.k_split == 1 &&
      sums_are_small(q)) {
    all.push_back(q.policy);
    all.back().k_split = one_part_a_gpu;
  }
  return all;
}

}  // namespace

bool EstimatedPlan::beats(const EstimatedPlan& best) const {
  return candidate.seconds < (1 - margin) * best.candidate.seconds;
}

Feasible<EstimatedPlan> best_estimated(const Question& question) {
  return feasible([&] {
    std::optional<EstimatedPlan> best;
    std::vector<PlanCandidate> tried;
    for (const Policy& policy : open_policies(question)) {
      EstimatedPlan found = TileSearch{question.by(policy)}.best();
      tried.insert(tried.end(), found.tried.begin(), found.tried.end());
      if (!best || found.beats(*best)) best = std::move(found);
    }
    check_routes(best->plan, question.topology);
    best->tried = std::move(tried);
    return *std::move(best);
  });
}

int64_t unsearched_tile(const Question& question) {
  return TileSearch{question}.given_tile();
}

}  // namespace tilerail
