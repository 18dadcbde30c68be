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

#include "cost/estimate.hpp"
#include "model/base/indices.hpp"
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
    for (const std::vector<MemoryId>& set : sets_for(question_)) {
      enter(set);
      if (candidates_.empty()) continue;
      const CandidateSet& best = best_start();
      for (CandidateSet& each : candidates_)
        if (&each != &best) each.start.plan = {};  // saves memory
      if (best.start.plan.ops.size() > most_candidate_kernels) break;
    }
    if (candidates_.empty()) throw InfeasibleError{*refused_};
    return explained(best_start().start);
  }

  Plan simulated() {
    enter(all_);
    if (!candidates_.empty() && candidates_.front().start.plan.ops.empty())
      return estimated();
    // A high effort begins with all steps of a normal effort: its plan is never slower.
    if (question_.policy.effort == Effort::high) search(operations_of(Effort::normal));
    search(most_ops_);
    const double least = fastest().seconds();
    const bool is_known = std::isfinite(std::min(least, start_seconds_));
    return is_known && (!is_large() || least < least_) ? explained() : estimated();
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

  /// Ends when no subset of the best set is faster. No subsets if their plans are large.
  /// The best plan by the estimate is simulated, too: effort `fast` takes this plan.
  void search(int64_t ops) {
    for (std::vector<MemoryId> from = all_, before; from != before;
         from = fastest().devices) {
      before = from;
      if (!is_large())
        for (const std::vector<MemoryId>& set : sets_for(question_.on(from))) enter(set);
      if (candidates_.empty()) throw InfeasibleError{*refused_};
      halve(ops);
    }
    CandidateSet& best = best_start();
    if (best.start.plan.ops.size() > size_t(most_ops_) ||
        (best.search && best.search->has_simulated(best.start.plan)))
      return;
    const double seconds = simulator_.of(best.start.plan).makespan.value;
    if (seconds >= start_seconds_) return;
    start_ = &best;
    start_seconds_ = seconds;
  }

  CandidateSet& best_start() {
    CandidateSet* best = &candidates_.front();
    for (CandidateSet& each : candidates_)
      if (each.start.beats(best->start)) best = &each;
    return *best;
  }

  /// Whether the first plan on all GPUs has more operations than the search may spend.
  bool is_large() const {
    return !candidates_.empty() && candidates_.front().devices == all_ &&
           candidates_.front().start.plan.ops.size() > size_t(most_ops_);
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

  /// The sets to search, in the order of their first plans: the set of all GPUs, and
  /// those whose first plan has at most `ops` operations and is not much slower than the
  /// fastest first plan.
  std::vector<CandidateSet*> promising(int64_t ops) {
    constexpr double much = 1.2;
    std::vector<CandidateSet*> left;
    for (CandidateSet& each : candidates_)
      if (each.devices == all_ || (int64_t(each.start.plan.ops.size()) <= ops &&
                                   each.start.candidate.seconds < much * least_))
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
      std::vector<CandidateSet*> kept;
      for (const auto i : indices(left))
        if (i < count || left[i]->devices == all_ || left[i]->seconds() <= 1.06 * best)
          kept.push_back(left[i]);
      left = std::move(kept);
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
    std::vector<PlanCandidate> tried = std::move(taken.origin.candidates);
    for (const CandidateSet& set : candidates_)
      if (set.search && &set != &best)
        std::ranges::copy(set.search->simulated(), std::back_inserter(tried));
    if (start_seconds_ < best.seconds()) {
      taken = std::move(start_->start.plan);
      taken.origin.evaluator = Evaluator::simulator;
      taken.origin.reasons = {{PlanReason::only_candidate, tried.size()}};
    }
    if (start_)
      tried.push_back(
          {start_->start.candidate.what, start_seconds_, Evaluator::simulator});
    if (tried.size() > 1) {
      PlanReason& reason = taken.origin.reasons.front();
      reason.kind = PlanReason::fastest, reason.count = tried.size();
    }
    taken.origin.candidates = std::move(tried);
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
  std::deque<CandidateSet> candidates_;  // searches refer to the elements
  double least_ = unknown;               // by the estimate
  CandidateSet* start_ = nullptr;        // the fastest simulated first plan
  double start_seconds_ = unknown;
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
  const auto searched = [&](const Question& q) {
    Search search{q, simulator};
    return q.simulated ? search.simulated() : search.estimated();
  };
  std::vector<MemoryId> gpus;
  std::ranges::copy_if(question.devices, std::back_inserter(gpus),
                       [&](MemoryId id) { return question.topology.is_gpu(id); });
  if (question.policy.device_choice != DeviceChoice::search || gpus.empty() ||
      gpus.size() == question.devices.size())
    return searched(question);
  // Cores never make a plan slower: the result without them is a candidate.
  auto [without, error] = feasible([&] { return searched(question.on(gpus)); });
  if (!without) return searched(question);
  auto with = feasible([&] { return searched(question); }).result;
  const auto seconds = [&](const Plan& plan) {
    return simulator.of
               ? simulator.of(plan).makespan
               : estimate_plan(plan, question.topology, question.resources).makespan;
  };
  return with && seconds(*with) < seconds(*without) ? *std::move(with)
                                                    : *std::move(without);
}

}  // namespace tilerail
