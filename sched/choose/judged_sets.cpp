#include "sched/choose/judged_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/choose/judged_search.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {
namespace {

class SetsSearch {
 public:
  SetsSearch(const Question& question, const Judge& judge)
      : question_{question}, judge_{judge}, policies_{policies_for(question)} {}
  SetsSearch(const SetsSearch&) = delete;
  SetsSearch& operator=(const SetsSearch&) = delete;

  Plan plan() {
    const std::vector<MemoryId> all{question_.devices.begin(), question_.devices.end()};
    if (has_too_many_kernels()) return estimated_plan(question_.estimated());
    begin(all);
    if (!begun_.empty() && is_too_large(begun_.front().start)) return estimated_plan(question_.estimated());
    // Until the best set is the best of the sets that are tried when only its GPUs are given.
    for (std::vector<MemoryId> from = all, before; from != before; from = fastest().devices) {
      before = from;
      for (const std::vector<MemoryId>& set : sets_for(question_.on(from))) begin(set);
      if (begun_.empty()) std::rethrow_exception(refused_);
      begin_searches();
      finish_best();
    }
    return explained();
  }

 private:
  /// On all GPUs of a set; ways say themselves whether they relay.
  struct Policies {
    Policy estimated, varied;
  };

  /// A set, how its GPUs copy, the plan that its search begins with, and the search.
  struct Begun {
    std::vector<MemoryId> devices;
    const Policies* policies;
    Plan start;
    double estimated;
    std::unique_ptr<JudgedSearch> search = {};
    double begun_with = 0;  // seconds of the best plan with which the search began
    bool finished = false;

    double seconds() const { return search ? search->seconds() : std::numeric_limits<double>::infinity(); }
  };

  /// With direct copies between GPUs, and with staged ones.
  static std::vector<Policies> policies_for(const Question& question) {
    Policy policy = question.policy;
    policy.device_choice = DeviceChoice::all;
    std::vector<Policies> all{{policy, policy}};
    policy.peer_copies = PeerCopies::staged;
    if (staging_may_help(question)) all.push_back({policy, policy});
    for (Policies& each : all) each.varied.relays = false;
    return all;
  }

  /// With the tile that is given.
  bool has_too_many_kernels() const {
    const GemmProblem& p = question_.problem;
    const std::int64_t tile = question_.policy.tile;
    return tile > 0 && kernel_count(p.m, p.n, p.k, {}, tile) > question_.policy.judge_ops;
  }

  bool is_too_large(const Plan& start) const {
    return static_cast<std::int64_t>(start.ops.size()) > question_.policy.judge_ops || start.ops.empty();
  }

  void begin(const std::vector<MemoryId>& set) {
    if (std::ranges::find(known_, set) != known_.end()) return;
    known_.push_back(set);
    if (kernels_alone(question_, set).value > hopeless * least_) return;
    for (const Policies& policies : policies_) begin(set, policies);
  }

  void begin(const std::vector<MemoryId>& set, const Policies& policies) {
    try {
      Plan start = estimated_plan(question_.on(set).by(policies.estimated).estimated(), Copies::as_wished);
      check_routes(start, question_.topology);
      if (is_too_large(start) && !begun_.empty()) return;
      const double seconds = estimate_plan(start, question_.topology, question_.resources).makespan.value;
      least_ = std::min(least_, seconds);
      begun_.push_back({set, &policies, std::move(start), seconds});
    } catch (const InputError&) {  // what does not fit in memory, or has no routes, is no candidate
      if (!refused_) refused_ = std::current_exception();
    }
  }

  void begin_searches() {
    for (Begun& set : begun_) {
      const bool is_hopeless = set.estimated > hopeless * least_estimated(*set.policies);
      if (set.search || (is_hopeless && !is_on_all(set))) continue;
      set.search = judged_search(question_.on(set.devices).by(set.policies->varied), judge_, set.start);
      set.search->begin();
      set.begun_with = set.seconds();
    }
  }

  bool is_on_all(const Begun& set) const { return set.devices.size() == question_.devices.size(); }

  double least_estimated(const Policies& policies) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Begun& set : begun_)
      if (set.policies == &policies) least = std::min(least, set.estimated);
    return least;
  }

  /// The searches that devices=all would finish, so that it is never faster, and the best of all sets. All are selected
  /// before any is finished, since a finished search is ahead of those that have only begun.
  void finish_best() {
    std::vector<Begun*> best = promising([this](const Begun& set) { return is_on_all(set); });
    std::ranges::copy(promising([](const Begun&) { return true; }), std::back_inserter(best));
    for (Begun* const set : best) finish(*set);
  }

  /// For each kind of copies, of the sets that are asked for: the fastest search and those that may still be faster.
  /// Among many GPUs, where there are too many of these, only the ones that are as fast.
  template <class IsAskedFor>
  std::vector<Begun*> promising(const IsAskedFor& is_asked_for) {
    constexpr double same = 1.01, catches_up = 1.1, other_copies = 1.5;
    constexpr std::size_t few = 6;
    const double near = question_.devices.size() <= few ? catches_up : same;
    const auto least = [&](const auto& is_one) {
      double seconds = std::numeric_limits<double>::infinity();
      for (const Begun& set : begun_)
        if (is_asked_for(set) && is_one(set)) seconds = std::min(seconds, set.seconds());
      return seconds;
    };
    const double fastest = least([](const Begun&) { return true; });
    std::vector<Begun*> found;
    for (const Policies& policies : policies_) {
      const auto has_policies = [&](const Begun& set) { return set.policies == &policies; };
      const double ahead = least(has_policies);
      if (!(ahead <= other_copies * fastest)) continue;
      for (Begun& set : begun_)
        if (is_asked_for(set) && has_policies(set) && set.search && set.seconds() <= near * ahead)
          found.push_back(&set);
    }
    return found;
  }

  void finish(Begun& set) {
    if (set.finished || has_twin(set)) return;
    set.search->finish();
    set.finished = true;
  }

  /// Whether the search on as many other GPUs has come as far, to the digit: they are alike.
  bool has_twin(const Begun& set) {
    return std::ranges::any_of(begun_, [&](const Begun& other) {
      return other.finished && other.policies == set.policies && other.devices.size() == set.devices.size() &&
             other.begun_with == set.begun_with;
    });
  }

  /// Of equally fast ones the first that has a search, also if no search has judged a plan.
  Begun& fastest() {
    return *std::ranges::min_element(begun_, {}, [](const Begun& set) {
      return std::pair{set.seconds(), set.search == nullptr};
    });
  }

  Plan explained() {
    std::vector<PlanCandidate> tried;
    Begun& best = fastest();
    JudgedPlan taken = best.search->take();
    std::ranges::move(taken.plan.origin.candidates, std::back_inserter(tried));
    for (Begun& set : begun_)
      if (set.search && &set != &best)
        std::ranges::move(set.search->take().plan.origin.candidates, std::back_inserter(tried));
    PlanOrigin& origin = taken.plan.origin;
    if (tried.size() > 1 && std::isfinite(taken.seconds))
      origin.why = fmt::format("{}: the fastest of {} simulated", taken.what, tried.size());
    origin.candidates = std::move(tried);
    return std::move(taken.plan);
  }

  static constexpr double hopeless = 1.25;  // docs/model.md#gpus

  const Question question_;
  const Judge& judge_;
  const std::vector<Policies> policies_;
  DeviceSets known_;
  std::deque<Begun> begun_;                                 // searches refer to its plans
  double least_ = std::numeric_limits<double>::infinity();  // estimated
  std::exception_ptr refused_;
};

}  // namespace

Plan plan_on_best_set(const Question& question, const Judge& judge) { return SetsSearch{question, judge}.plan(); }

}  // namespace tilerail
