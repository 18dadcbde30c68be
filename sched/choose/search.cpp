#include "sched/choose/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sched/choose/device_sets.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/set_search.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/choose/tile_search.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/emulation.hpp"

namespace tilerail {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// A set of GPUs with direct or staged copies, and the search on all its GPUs, which
/// refers to the policy and the plan.
struct CandidateSet {
  std::vector<MemoryId> devices;
  Policy policy;
  EstimatedPlan start;
  std::unique_ptr<SetSearch> search = {};

  double seconds() const { return search ? search->seconds() : unknown; }
};

class Search {
 public:
  Search(const Question& question, const PlanSimulator& simulator)
      : question_{question},
        all_{question.devices.begin(), question.devices.end()},
        simulator_{simulator} {}

  /// By the estimate alone.
  Plan estimated() {
    if (has_no_choice()) return only_plan();
    CandidateSet* best = nullptr;
    for (const std::vector<MemoryId>& set : sets_for(question_)) {
      enter(set);
      for (CandidateSet& each : candidates_)
        if (!best || each.start.beats(best->start)) best = &each;
      for (CandidateSet& each : candidates_)
        if (&each != best) each.start.plan = {};  // saves memory
      if (best && best->start.plan.ops.size() > most_candidate_kernels) break;
    }
    if (!best) throw InfeasibleError{*refused_};
    return explained(best->start);
  }

  Plan simulated() {
    if (has_too_many_kernels()) return estimated();
    enter(all_);
    if (!candidates_.empty() && is_too_large(candidates_.front().start.plan))
      return estimated();
    // A high effort begins with all steps of a normal effort: its plan is never slower.
    if (question_.policy.effort == Effort::high) search(operations_of(Effort::normal));
    search(most_ops_);
    return std::isfinite(fastest().seconds()) ? explained() : estimated();
  }

 private:
  bool has_no_choice() const {
    const Policy& policy = question_.policy;
    return !any_tile(policy) && policy.device_choice != DeviceChoice::search &&
           !varies_fields(policy.effort);
  }

  Plan only_plan() const {
    const TileScheduler scheduler{question_};
    Plan only = scheduler.plan(unsearched_tile(question_), scheduler.grid());
    only.origin.reasons = {{PlanReason::only_candidate}};
    return only;
  }

  /// Ends when no subset of the best set is faster.
  void search(int64_t ops) {
    for (std::vector<MemoryId> from = all_, before; from != before;
         from = fastest().devices) {
      before = from;
      for (const std::vector<MemoryId>& set : sets_for(question_.on(from))) enter(set);
      if (candidates_.empty()) throw InfeasibleError{*refused_};
      halve(ops);
    }
  }

  /// Only for a given tile.
  bool has_too_many_kernels() const {
    const GemmProblem& p = question_.problem;
    const int64_t tile = question_.policy.choices.tile;
    return tile > 0 && kernel_count(p.m, p.n, p.k, {}, tile) > most_ops_;
  }

  bool is_too_large(const Plan& start) const {
    return int64_t(start.ops.size()) > most_ops_ || start.ops.empty();
  }

  /// Adds a set, unless its kernels alone take longer than the best estimate so far.
  void enter(const std::vector<MemoryId>& set) {
    if (std::ranges::find(known_, set) != known_.end()) return;
    known_.push_back(set);
    if (kernels_alone(question_, set).value > least_) return;
    Policy policy = question_.policy;
    policy.device_choice = DeviceChoice::all;
    std::vector<PeerCopies> copies{policy.choices.peer_copies};
    if (staging_may_help(question_.on(set))) copies.push_back(PeerCopies::staged);
    for (const PeerCopies each : copies) {
      policy.choices.peer_copies = each;
      enter(set, policy);
    }
  }

  void enter(const std::vector<MemoryId>& set, const Policy& policy) {
    const std::span<const double> shares =
        set == all_ ? question_.shares : std::span<const double>{};
    auto [start, error] =
        best_estimated(question_.estimated().on(set, shares).by(policy));
    if (!start) {
      if (!refused_) refused_ = error;
      return;
    }
    least_ = std::min(least_, start->candidate.seconds);
    candidates_.push_back({set, policy, *std::move(start)});
  }

  /// The sets to search, in the order of their first plans: the first plan has at most
  /// `ops` operations and is not much slower than the fastest first plan. The set of all
  /// GPUs is always kept.
  std::vector<CandidateSet*> promising(int64_t ops) {
    constexpr double much = 1.2;
    std::vector<CandidateSet*> left;
    for (CandidateSet& each : candidates_)
      if (int64_t(each.start.plan.ops.size()) <= ops &&
          (each.devices == all_ || each.start.candidate.seconds < much * least_))
        left.push_back(&each);
    std::ranges::stable_sort(
        left, {}, [](const CandidateSet* each) { return each->start.candidate.seconds; });
    return left;
  }

  /// Successive halving: each round doubles the operations of a set and then drops the
  /// slower half of the sets, except the set of all GPUs and sets less than 6 % slower
  /// than the fastest.
  void halve(int64_t ops) {
    std::vector<CandidateSet*> left = promising(ops);
    if (left.empty()) return;
    double best = unknown;
    for (size_t count = std::bit_ceil(left.size()); count > 0; count /= 2) {
      const auto is_slow = [&, place = size_t{0}](const CandidateSet* each) mutable {
        return place++ >= count && each->devices != all_ && each->seconds() > 1.06 * best;
      };
      std::erase_if(left, is_slow);
      for (CandidateSet* const each : left) search_on(*each, ops / int64_t(count));
      std::ranges::stable_sort(left, {},
                               [](const CandidateSet* each) { return each->seconds(); });
      best = left.front()->seconds();
    }
  }

  void search_on(CandidateSet& set, int64_t ops) {
    if (!set.search)
      set.search = set_search(question_.on(set.devices).by(set.policy), simulator_,
                              set.start.plan);
    set.search->run_until(ops);
  }

  /// Ties go to the first set that has a search, even if no search has simulated a plan.
  CandidateSet& fastest() {
    return *std::ranges::min_element(candidates_, {}, [](const CandidateSet& set) {
      return std::pair{set.seconds(), set.search == nullptr};
    });
  }

  Plan explained() {
    CandidateSet& best = fastest();
    Plan taken = best.search->take();
    std::vector<PlanCandidate>& tried = taken.origin.candidates;
    for (CandidateSet& set : candidates_)
      if (set.search && &set != &best)
        std::ranges::move(set.search->take().origin.candidates,
                          std::back_inserter(tried));
    if (tried.size() > 1) {
      PlanReason& reason = taken.origin.reasons.front();
      reason.kind = PlanReason::fastest, reason.count = tried.size();
    }
    return taken;
  }

  Plan explained(EstimatedPlan& best) const {
    PlanOrigin& origin = best.plan.origin;
    origin.evaluator = Evaluator::estimate;
    std::vector<PlanCandidate>& tried = origin.candidates;
    for (const CandidateSet& set : candidates_)
      std::ranges::copy(set.start.tried, std::back_inserter(tried));
    const auto fastest = std::ranges::min_element(tried, {}, &PlanCandidate::seconds),
               taken = std::ranges::find(tried, best.candidate);
    const auto place = [&](auto candidate) { return size_t(candidate - tried.begin()); };
    if (tried.size() == 1)
      origin.reasons = {{PlanReason::only_candidate}};
    else if (fastest->seconds < taken->seconds)
      origin.reasons = {
          {PlanReason::too_little_gain, place(taken), tried.size(), place(fastest)}};
    else
      origin.reasons = {{PlanReason::fastest, place(taken), tried.size()}};
    return std::move(best.plan);
  }

  const Question question_;
  const std::vector<MemoryId> all_;
  const PlanSimulator& simulator_;
  const int64_t most_ops_ = operations_of(question_.policy.effort);
  DeviceSets known_;
  std::deque<CandidateSet> candidates_;     // searches refer to the elements
  double least_ = unknown;                  // by the estimate
  std::optional<InfeasibleError> refused_;  // the first
};

}  // namespace

Plan estimated_plan(const Question& question) {
  if (auto plan = emulation_of(question.policy.choices).timed_plan(question, {}))
    return *std::move(plan);
  return Search{question, {}}.estimated();
}

Plan search_plan(const Question& question, const PlanSimulator& simulator) {
  if (auto plan = emulation_of(question.policy.choices).timed_plan(question, simulator))
    return *std::move(plan);
  Search search{question, simulator};
  return question.simulated ? search.simulated() : search.estimated();
}

}  // namespace tilerail
