#include "sched/choose/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "model/published/workload.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/set_search.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/emulation.hpp"

namespace tilerail {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// A set of GPUs with direct or staged copies, and the search on all its GPUs, which
/// refers to the policy and the plan.
struct CandidateSet {
  std::vector<MemoryId> devices;
  Policy policy;
  Plan start;  // the best plan by the estimate
  double estimated = unknown;
  std::unique_ptr<SetSearch> search = {};

  double seconds() const { return search ? search->seconds() : unknown; }
};

class SetsSearch {
 public:
  SetsSearch(const Question& question, const PlanSimulator& simulator)
      : question_{question}, simulator_{simulator} {}

  Plan plan() {
    const std::vector<MemoryId> all{question_.devices.begin(), question_.devices.end()};
    if (has_too_many_kernels()) return estimated_plan(question_.estimated());
    enter(all);
    if (!candidates_.empty() && is_too_large(candidates_.front().start))
      return estimated_plan(question_.estimated());
    // A high effort begins with all steps of a normal effort: its plan is never slower.
    if (question_.policy.effort == Effort::high)
      search(all, operations_of(Effort::normal));
    search(all, most_ops_);
    return explained();
  }

 private:
  /// Ends when no subset of the best set is faster.
  void search(const std::vector<MemoryId>& all, int64_t ops) {
    for (std::vector<MemoryId> from = all, before; from != before;
         from = fastest().devices) {
      before = from;
      for (const std::vector<MemoryId>& set : sets_for(question_.on(from))) enter(set);
      if (candidates_.empty()) throw InfeasibleError{*refused_};
      halve(all, ops);
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
    if (staging_may_help(question_)) copies.push_back(PeerCopies::staged);
    for (const PeerCopies each : copies) {
      policy.choices.peer_copies = each;
      enter(set, policy);
    }
  }

  void enter(const std::vector<MemoryId>& set, const Policy& policy) {
    auto [start, error] =
        estimated_candidate(question_.on(set).by(policy), Copies::by_policy);
    if (!start) {
      if (!refused_) refused_ = error;
      return;
    }
    if (is_too_large(*start) && !candidates_.empty()) return;
    const double seconds =
        estimate_plan(*start, question_.topology, question_.resources).makespan.value;
    least_ = std::min(least_, seconds);
    candidates_.push_back({set, policy, *std::move(start), seconds});
  }

  /// The sets to search, in the order of their first plans: the first plan has at most
  /// `ops` operations and is not much slower than the fastest first plan. The set of all
  /// GPUs is always kept.
  std::vector<CandidateSet*> promising(const std::vector<MemoryId>& all, int64_t ops) {
    constexpr double much = 1.2;
    std::vector<CandidateSet*> left;
    for (CandidateSet& each : candidates_)
      if (int64_t(each.start.ops.size()) <= ops &&
          (each.devices == all || each.estimated < much * least_))
        left.push_back(&each);
    std::ranges::stable_sort(left, {},
                             [](const CandidateSet* each) { return each->estimated; });
    return left;
  }

  /// Successive halving: each round doubles the operations of a set and then drops the
  /// slower half of the sets, except the set of all GPUs and sets less than 6 % slower
  /// than the fastest.
  void halve(const std::vector<MemoryId>& all, int64_t ops) {
    std::vector<CandidateSet*> left = promising(all, ops);
    if (left.empty()) return;
    double best = unknown;
    for (size_t count = std::bit_ceil(left.size()); count > 0; count /= 2) {
      const auto is_slow = [&, place = size_t{0}](const CandidateSet* each) mutable {
        return place++ >= count && each->devices != all && each->seconds() > 1.06 * best;
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
      set.search =
          set_search(question_.on(set.devices).by(set.policy), simulator_, set.start);
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
    if (tried.size() > 1 && std::isfinite(best.seconds()))
      taken.origin.reasons = {
          {PlanReason::fastest, taken.origin.reasons.front().chosen, tried.size()}};
    return taken;
  }

  const Question question_;
  const PlanSimulator& simulator_;
  const int64_t most_ops_ = operations_of(question_.policy.effort);
  DeviceSets known_;
  std::deque<CandidateSet> candidates_;     // searches refer to the elements
  double least_ = unknown;                  // by the estimate
  std::optional<InfeasibleError> refused_;  // the first
};

class Selection {
 public:
  Selection(const Question& question, const PlanSimulator& simulator)
      : policy_{question.policy},
        question_{question.by(policy_)},
        topology_{question.topology},
        devices_{question.devices},
        simulator_{simulator} {
    policy_.select = nullptr, policy_.device_choice = DeviceChoice::all;
  }
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;

  Plan plan(const Metric& metric) const {
    if (auto chosen = emulation_of(policy_.choices).selected_plan(question_, metric))
      return *std::move(chosen);

    BestPlan found;
    std::vector<PlanCandidate> tried;
    double left = 1e-3 * policy_.select_ms - consider(question_, metric, found, tried);
    bool first = true;
    for (const Workload& workload : other_workloads(metric)) {
      if (workload.active.size() == devices_.size()) continue;
      if (!std::exchange(first, false) && left <= 0) break;
      const std::vector<MemoryId> gpus = workload.devices(devices_);
      left -= consider(question_.on(gpus), metric, found, tried);
    }
    if (!found.plan) throw InfeasibleError{*found.refused};
    Plan& best = *found.plan;
    if (question_.simulated) improve(best, found.value, metric, tried);
    best.origin.reasons.push_back({.kind = PlanReason::best_set,
                                   .count = tried.size(),
                                   .name = std::string{metric.name}});
    best.origin.evaluator = evaluator();
    std::ranges::move(tried, std::back_inserter(best.origin.candidates));
    return best;
  }

 private:
  struct BestPlan {
    std::optional<Plan> plan;
    double value = 0;
    std::optional<InfeasibleError> refused;  // error of the last set without a plan
  };

  /// Evaluates a plan on these devices. Devices without a valid plan, for lack of a route
  /// or of memory, are not candidates. Returns the cost of the evaluation.
  double consider(const Question& question, const Metric& metric, BestPlan& best,
                  std::vector<PlanCandidate>& tried) const {
    auto [plan, error] = estimated_candidate(question);
    if (!plan) return best.refused = error, 0;
    const double spent = cost(*plan), value = value_of(*plan, metric, tried);
    if (!best.plan || value > best.value) best.plan = std::move(plan), best.value = value;
    return spent;
  }

  /// Searches all options on the devices of the best plan and on all devices.
  void improve(Plan& best, double most, const Metric& metric,
               std::vector<PlanCandidate>& tried) const {
    std::vector<std::vector<MemoryId>> sets{best.devices};
    if (best.devices.size() < devices_.size())
      sets.emplace_back(devices_.begin(), devices_.end());
    for (const std::vector<MemoryId>& set : sets) {
      auto plan =
          feasible([&] { return search_plan(question_.on(set), simulator_); }).result;
      if (!plan) continue;
      const double value = value_of(*plan, metric, tried);
      if (value > most) best = *std::move(plan), most = value;
    }
  }

  WorkloadProblem problem(const Metric& metric) const {
    WorkloadProblem workload = workload_problem(question_);
    if (workload.watts.empty() && metric.needs_energy)
      refuse_without_watts("devices", metric, topology_);
    return workload;
  }

  /// Empty if no links connect the GPUs with the matrices: the model does not cover
  /// staged copies.
  std::vector<Workload> other_workloads(const Metric& metric) const {
    const WorkloadProblem workload = problem(metric);
    const LinkMap links{topology_};
    return feasible([&] { return ranked_workloads(workload, links, metric, {}); })
        .result.value_or(std::vector<Workload>{});
  }

  double value_of(const Plan& plan, const Metric& metric,
                  std::vector<PlanCandidate>& tried) const {
    const PlanCost evaluated = simulator_.of ? simulator_.of(plan) : estimated(plan);
    tried.push_back(
        {fmt::format("tile={} gpus={}", plan.tile, gpus_text(topology_, plan.devices)),
         evaluated.makespan.value, evaluator()});
    if (metric.needs_energy && !evaluated.energy)
      refuse_without_watts("devices", metric, topology_);
    return metric.of({question_.problem.flops(), evaluated.makespan,
                      evaluated.energy.value_or(Joules{1})});
  }

  Evaluator evaluator() const {
    return simulator_.of ? Evaluator::simulator : Evaluator::estimate;
  }

  PlanCost estimated(const Plan& plan) const {
    const Estimate estimate = estimate_plan(plan, topology_, question_.resources);
    return {estimate.makespan, estimate.energy};
  }

  /// Seconds for a plan, including the search for its tile: fixed rates instead of a
  /// measurement, so that the rest of select_ms is the same in every process.
  /// Approximates `bench_plan_speed`. docs/model.md#selection
  double cost(const Plan& plan) const {
    constexpr double of_plan = 2e-3, of_op = 4e-6;
    return of_plan + (of_op + simulator_.per_op.value) * double(plan.ops.size());
  }

  Policy policy_;            // of the evaluated plans
  const Question question_;  // with this policy
  const Topology& topology_;
  std::span<const MemoryId> devices_;
  const PlanSimulator& simulator_;
};

}  // namespace

Plan plan_on_best_set(const Question& question, const PlanSimulator& simulator) {
  return SetsSearch{question, simulator}.plan();
}

Plan selected_plan(const Question& question, const PlanSimulator& simulator) {
  return Selection{question, simulator}.plan(*question.policy.select);
}

}  // namespace tilerail
