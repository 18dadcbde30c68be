#include "sched/choose/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <optional>

#include "cost/estimate.hpp"
#include "model/base/threads.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/selection.hpp"
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

/// The minimum gain for which a plan with smaller tiles, fewer GPUs or relays replaces
/// the best plan so far: estimates are not more accurate.
constexpr double margin = 0.01;

struct EstimatedPlan {
  Plan plan;
  PlanCandidate candidate = {};
  double makespan = 0, busiest = 0, kernels = 0;  // estimates, in seconds

  bool cheap() const { return plan.ops.size() <= 500; }  // negligible planning time
  bool beats(const EstimatedPlan& best) const {
    return makespan < (1 - margin) * best.makespan;
  }
  /// Whether another order or cut of the same work on these devices cannot be faster.
  bool unbeatable() const { return busiest >= (1 - margin) * makespan; }
};

class Search {
 public:
  explicit Search(const Question& question)
      : question_{question},
        problem_{question.problem},
        topology_{question.topology},
        policy_{question.policy} {}

  Plan plan() {
    if (!any_tile() &&
        policy_.device_choice != DeviceChoice::search) {  // nothing to choose from
      const TileScheduler all{question_};
      Plan only = all.plan(given_tile(all, all.grid()), all.grid());
      only.origin.reasons = {{PlanReason::only_candidate}};
      return only;
    }
    return explained(best());
  }

  /// The best plan of this policy, or of another policy that improves on all earlier
  /// ones.
  Plan plan_or_by(const std::vector<Policy>& others) {
    EstimatedPlan fastest = best();
    for (const Policy& other : others) {
      Search search{question_.by(other)};
      EstimatedPlan found = search.best();
      tried_.insert(tried_.end(), search.tried_.begin(), search.tried_.end());
      if (found.beats(fastest)) fastest = std::move(found);
    }
    return explained(std::move(fastest));
  }

  int64_t unsearched_tile() const {
    const TileScheduler scheduler{question_};
    return given_tile(scheduler, scheduler.grid());
  }

 private:
  Plan explained(EstimatedPlan best) const {
    PlanOrigin& origin = best.plan.origin;
    origin.evaluator = Evaluator::estimate, origin.candidates = tried_;
    if (tried_.empty()) return std::move(best.plan);  // an invalid plan
    const auto fastest = std::ranges::min_element(tried_, {}, &PlanCandidate::seconds),
               taken = std::ranges::find(tried_, best.candidate);
    const auto reason = tried_.size() == 1                  ? PlanReason::only_candidate
                        : fastest->seconds < taken->seconds ? PlanReason::too_little_gain
                                                            : PlanReason::fastest;
    origin.reasons = {{reason, size_t(taken - tried_.begin()), tried_.size(),
                       size_t(fastest - tried_.begin())}};
    return std::move(best.plan);
  }

  EstimatedPlan best() {
    const std::span<const MemoryId> devices = question_.devices;
    const bool any_number = policy_.device_choice == DeviceChoice::search;
    const TileScheduler all{question_};
    const Grid grid = all.grid();
    EstimatedPlan best = any_tile() ? searched_tile(all, grid)
                                    : estimated(all, given_tile(all, grid), grid);
    if (!any_tile()) note(best);
    for (size_t count = devices.size() / 2; any_number && count > 0; count /= 2) {
      if (best.plan.ops.empty() ||
          kernels_like_fastest(count) >= (1 - margin) * best.makespan ||
          too_few(count, best))
        break;
      for (const std::vector<MemoryId>& subset : device_subsets(problem_, devices, count))
        if (supplied_devices(problem_, topology_, subset).size() == count &&
            !try_fewer(subset, best))
          break;
    }
    for (const std::vector<MemoryId>& set : supplied_sets(question_))
      if (any_number) try_fewer(set, best);
    return best;
  }

  /// Records a candidate unless its copies have no route.
  void note(const EstimatedPlan& plan) {
    if (std::isfinite(plan.makespan)) tried_.push_back(plan.candidate);
  }

  bool any_tile() const {
    return policy_.choices.tile == 0 && policy_.tile_choice == TileChoice::search;
  }

  /// The tile on all devices.
  int64_t given_tile(const TileScheduler& scheduler, Grid grid) const {
    const GemmProblem& p = problem_;
    if (policy_.choices.tile > 0) return policy_.choices.tile;
    if (policy_.tile_choice == TileChoice::emulated)
      if (const auto tiles =
              emulation_of(policy_.choices).tiles(question_, scheduler, grid);
          !tiles.empty())
        return tiles.front();
    return thesis_tile(p.m, p.n, depth(grid), grid, scheduler.largest_tile(),
                       p.of_vectors() ? vector_tiles : square_tiles);
  }

  /// The depth k of one GPU: dot products divide k among GPUs.
  int64_t depth(Grid grid) const {
    return problem_.routine == Routine::dot ? largest_piece(problem_.k, grid.rows)
                                            : problem_.k;
  }

  /// Time of the product, as one kernel, on `count` GPUs as fast as the fastest.
  double kernels_like_fastest(size_t count) const {
    const GemmProblem& p = problem_;
    if (p.scales_only()) return 0;
    double least = std::numeric_limits<double>::infinity();
    for (const MemoryId device : question_.devices)
      least = std::min(
          least, product_time(topology_.kernels_of(device), p, p.m, p.n, p.k).value);
    return least / double(count);
  }

  /// Whether `count` devices of one type need longer for the kernels of these tiles than
  /// the best plan takes. Saves planning millions of operations.
  bool too_few(size_t count, const EstimatedPlan& best) const {
    const auto kernels = [&](MemoryId device) {
      return topology_.memory(device).kernels;
    };
    return !any_tile() && int64_t(best.plan.ops.size()) > most_candidate_kernels &&
           std::ranges::adjacent_find(question_.devices, std::not_equal_to<>{},
                                      kernels) == question_.devices.end() &&
           best.kernels >= double(count) * best.makespan;
  }

  std::vector<int64_t> candidates(const TileScheduler& scheduler, Grid grid) const {
    return tile_candidates(problem_.m, problem_.n, depth(grid), grid,
                           scheduler.largest_tile(), most_candidate_kernels);
  }

  EstimatedPlan estimated(const TileScheduler& scheduler, int64_t tile, Grid grid) const {
    Plan plan = scheduler.plan(tile, grid);
    const Estimate estimate = estimate_plan(plan, topology_, question_.resources);
    const std::string what = fmt::format(
        "tile={} grid={} gpus={}{}", tile, grid.text(),
        gpus_text(topology_, plan.devices),
        policy_.choices.routing == Routing::link_map ? " routing=link-map" : "");
    return {std::move(plan),
            {what, estimate.makespan.value, Evaluator::estimate},
            estimate.makespan.value,
            estimate.busiest.value,
            estimate.kernels.value};
  }

  /// Plans candidate tiles from the largest down. Smaller tiles need more operations, all
  /// of which are issued, and more planning time. The search ends after `patience` tiles
  /// without a better plan (not counting plans of negligible planning time), when no
  /// better plan is possible, or when a tile with many kernels would follow a tile that
  /// was not better. Up to `patience` tiles are planned concurrently and independently;
  /// the result equals a sequential search.
  EstimatedPlan searched_tile(const TileScheduler& scheduler, Grid grid) {
    const auto tiles = candidates(scheduler, grid);
    std::optional<EstimatedPlan> best;
    size_t left = tiles.size(), worse = 0;
    const auto many = [&](int64_t tile) {
      return kernel_count(problem_.m, problem_.n, depth(grid), grid, tile) > many_kernels;
    };
    while (left > 0 && worse < patience && !(worse > 0 && many(tiles[left - 1]))) {
      std::vector<std::future<EstimatedPlan>> wave;
      do {
        const int64_t tile = tiles[--left];
        wave.push_back(
            in_background([&, tile] { return estimated(scheduler, tile, grid); }));
      } while (left > 0 && wave.size() < patience && !many(tiles[left - 1]));
      for (std::future<EstimatedPlan>& planned : wave) {
        EstimatedPlan plan = planned.get();
        if (worse == patience) continue;
        note(plan);
        if (!plan.cheap()) ++worse;
        if (!best || plan.beats(*best))
          best = std::move(plan), worse = best->unbeatable() ? patience : 0;
      }
    }
    return std::move(*best);
  }

  /// Tries fewer GPUs, which tend to need larger tiles: from the best plan's tile
  /// upwards, then a few smaller ones, until `patience` tiles bring no improvement.
  /// Returns false if a plan with significant planning time was much slower.
  bool try_fewer(const std::vector<MemoryId>& devices, EstimatedPlan& best) {
    constexpr double hopeless = 1.25;  // docs/model.md#gpus
    constexpr ptrdiff_t few_smaller = 4;
    const TileScheduler scheduler{question_.on(devices)};
    const Grid grid = scheduler.grid();
    std::vector<int64_t> tiles{best.plan.tile};
    if (any_tile()) {
      tiles = candidates(scheduler, grid);
      const auto same = std::lower_bound(tiles.begin(), tiles.end() - 1, best.plan.tile);
      std::vector<int64_t> smaller{
          same - std::min<ptrdiff_t>(few_smaller, same - tiles.begin()), same};
      std::erase_if(smaller, [&](int64_t tile) {
        return kernel_count(problem_.m, problem_.n, depth(grid), grid, tile) >
               many_kernels;
      });
      tiles.erase(tiles.begin(), same);
      tiles.insert(tiles.end(), smaller.rbegin(), smaller.rend());
    }
    double least = std::numeric_limits<double>::infinity();
    size_t worse = 0;
    for (const int64_t tile : tiles) {
      EstimatedPlan fewer = estimated(scheduler, tile, grid);
      note(fewer);
      worse = fewer.makespan < least ? 0 : worse + 1;
      least = std::min(least, fewer.makespan);
      if (!fewer.cheap() && least > hopeless * best.makespan) return false;
      if (worse == patience) break;
      if (fewer.beats(best)) best = std::move(fewer);
    }
    return true;
  }

  static constexpr size_t patience = 5;
  static constexpr int64_t many_kernels = 2000;

  const Question question_;
  const GemmProblem& problem_;
  const Topology& topology_;
  const Policy& policy_;
  std::vector<PlanCandidate> tried_;
};

}  // namespace

std::string gpus_text(const Topology& topology, std::span<const MemoryId> gpus) {
  constexpr size_t most_named = 16;
  if (gpus.size() > most_named) return std::to_string(gpus.size());
  std::vector<std::string_view> names;
  for (const MemoryId gpu : gpus) names.emplace_back(topology.memory(gpu).name);
  return fmt::format("{}", fmt::join(names, ","));
}

Plan search_plan(const Question& question, const PlanSimulator& simulator) {
  if (auto plan = emulation_of(question.policy.choices).timed_plan(question, simulator))
    return *std::move(plan);
  return question.simulated ? plan_on_best_set(question, simulator)
                            : estimated_plan(question);
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

/// The policies to try in addition to the given one.
std::vector<Policy> other_policies(const Question& q, Copies copies) {
  std::vector<Policy> others;
  if (copies == Copies::any && staging_may_help(q)) {
    others.push_back(q.policy);
    others.back().choices.peer_copies = PeerCopies::staged;
    others.back().device_choice = DeviceChoice::all;
  }
  if (may_change(q.policy, "routing") && relays_help(q.problem, q.resources, q.devices))
    others.push_back(with_relays(q.policy));
  if (may_change(q.policy, "grid") && q.devices.size() > 1 && q.policy.k_split == 1 &&
      sums_are_small(q)) {
    others.push_back(q.policy);
    others.back().k_split = one_part_a_gpu;
    others.back().device_choice = DeviceChoice::all;
  }
  return others;
}

}  // namespace

Plan estimated_plan(const Question& question, Copies copies) {
  if (auto plan = emulation_of(question.policy.choices).timed_plan(question, {}))
    return *std::move(plan);
  Search search{question};
  const std::vector<Policy> others = other_policies(question, copies);
  return others.empty() ? search.plan() : search.plan_or_by(others);
}

Feasible<Plan> estimated_candidate(const Question& question, Copies copies) {
  return feasible([&] {
    Plan plan = estimated_plan(question.estimated(), copies);
    check_routes(plan, question.topology);
    return plan;
  });
}

int64_t unsearched_tile(const Question& question) {
  return Search{question}.unsearched_tile();
}

}  // namespace tilerail
