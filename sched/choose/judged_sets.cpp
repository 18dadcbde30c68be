#include "sched/choose/judged_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/set_search.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/policy/efforts.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// A set of GPUs with direct or staged copies, and the search on all its GPUs, which
/// refers to the policy and the plan.
struct Entrant {
  std::vector<MemoryId> devices;
  Policy policy;
  Plan start;  // the best plan by the estimate
  double estimated = unknown;
  std::unique_ptr<SetSearch> search = {};

  double seconds() const { return search ? search->seconds() : unknown; }
};

class SetsSearch {
 public:
  SetsSearch(const Question& question, const Judge& judge)
      : question_{question}, judge_{judge} {}
  SetsSearch(const SetsSearch&) = delete;
  SetsSearch& operator=(const SetsSearch&) = delete;

  Plan plan() {
    const std::vector<MemoryId> all{question_.devices.begin(), question_.devices.end()};
    if (has_too_many_kernels()) return estimated_plan(question_.estimated());
    enter(all);
    if (!entrants_.empty() && is_too_large(entrants_.front().start))
      return estimated_plan(question_.estimated());
    // Ends when no subset of the best set is faster.
    for (std::vector<MemoryId> from = all, before; from != before;
         from = fastest().devices) {
      before = from;
      for (const std::vector<MemoryId>& set : sets_for(question_.on(from))) enter(set);
      if (entrants_.empty()) std::rethrow_exception(refused_);
      // A high effort begins with all rounds of a normal effort: its plan is never
      // slower.
      if (question_.policy.judge_ops > normal_effort) halve(all, normal_effort);
      halve(all, question_.policy.judge_ops);
    }
    return explained();
  }

 private:
  /// Only for a given tile.
  bool has_too_many_kernels() const {
    const GemmProblem& p = question_.problem;
    const int64_t tile = question_.policy.choices.tile;
    return tile > 0 && kernel_count(p.m, p.n, p.k, {}, tile) > question_.policy.judge_ops;
  }

  bool is_too_large(const Plan& start) const {
    return int64_t(start.ops.size()) > question_.policy.judge_ops || start.ops.empty();
  }

  /// Adds a set, unless its kernels alone take longer than the best estimate so far.
  void enter(const std::vector<MemoryId>& set) {
    if (std::ranges::find(known_, set) != known_.end()) return;
    known_.push_back(set);
    if (kernels_alone(question_, set).value > least_) return;
    Policy policy = question_.policy;
    policy.device_choice = DeviceChoice::all;
    std::vector<PeerCopies> copies{policy.choices.peer_copies};
    if (staging_may_help(question_)) copies.push_back(PeerCopies::staged);
    for (const PeerCopies each : copies) {
      policy.choices.peer_copies = each;
      enter(set, policy);
    }
  }

  void enter(const std::vector<MemoryId>& set, Policy policy) {
    try {
      Plan start =
          estimated_plan(question_.on(set).by(policy).estimated(), Copies::as_wished);
      check_routes(start, question_.topology);
      if (is_too_large(start) && !entrants_.empty()) return;
      const double seconds =
          estimate_plan(start, question_.topology, question_.resources).makespan.value;
      least_ = std::min(least_, seconds);
      policy.relays = false;  // strategies set relays themselves
      entrants_.push_back({set, policy, std::move(start), seconds});
    } catch (const InputError&) {  // a plan that does not fit in memory or has no routes
                                   // is not a candidate
      if (!refused_) refused_ = std::current_exception();
    }
  }

  /// The sets to search, in the order of their first plans: the first plan has at most
  /// `ops` operations and is not much slower than the fastest first plan. The set of all
  /// GPUs is always kept.
  std::vector<Entrant*> promising(const std::vector<MemoryId>& all, int64_t ops) {
    constexpr double much = 1.2;
    std::vector<Entrant*> left;
    for (Entrant& each : entrants_)
      if (int64_t(each.start.ops.size()) <= ops &&
          (each.devices == all || each.estimated < much * least_))
        left.push_back(&each);
    std::ranges::stable_sort(left, {},
                             [](const Entrant* each) { return each->estimated; });
    return left;
  }

  /// Successive halving: each round doubles the operations of a set and then drops the
  /// slower half of the sets, except the set of all GPUs and sets less than 3 % slower
  /// than the fastest.
  void halve(const std::vector<MemoryId>& all, int64_t ops) {
    std::vector<Entrant*> left = promising(all, ops);
    if (left.empty()) return;
    double best = unknown;
    for (size_t count = std::bit_ceil(left.size()); count > 0; count /= 2) {
      const auto is_slow = [&, place = size_t{0}](const Entrant* each) mutable {
        return place++ >= count && each->devices != all && each->seconds() > 1.03 * best;
      };
      std::erase_if(left, is_slow);
      for (Entrant* const each : left) search_on(*each, ops / int64_t(count));
      std::ranges::stable_sort(left, {},
                               [](const Entrant* each) { return each->seconds(); });
      best = left.front()->seconds();
    }
  }

  void search_on(Entrant& set, int64_t ops) {
    if (!set.search)
      set.search =
          set_search(question_.on(set.devices).by(set.policy), judge_, set.start);
    set.search->judge_until(ops);
  }

  /// Ties go to the first set that has a search, even if no search has simulated a plan.
  Entrant& fastest() {
    return *std::ranges::min_element(entrants_, {}, [](const Entrant& set) {
      return std::pair{set.seconds(), set.search == nullptr};
    });
  }

  Plan explained() {
    Entrant& best = fastest();
    JudgedPlan taken = best.search->take();
    std::vector<PlanCandidate> tried = std::move(taken.plan.origin.candidates);
    for (Entrant& set : entrants_)
      if (set.search && &set != &best)
        std::ranges::move(set.search->take().plan.origin.candidates,
                          std::back_inserter(tried));
    PlanOrigin& origin = taken.plan.origin;
    if (tried.size() > 1 && std::isfinite(taken.seconds))
      origin.why =
          fmt::format("{}: the fastest of {} simulated", taken.what, tried.size());
    origin.candidates = std::move(tried);
    return std::move(taken.plan);
  }

  const Question question_;
  const Judge& judge_;
  DeviceSets known_;
  std::deque<Entrant> entrants_;  // searches refer to the elements
  double least_ = unknown;        // by the estimate
  std::exception_ptr refused_;
};

}  // namespace

Plan plan_on_best_set(const Question& question, const Judge& judge) {
  return SetsSearch{question, judge}.plan();
}

}  // namespace tilerail
