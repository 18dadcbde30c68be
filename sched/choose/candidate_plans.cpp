#include "sched/choose/candidate_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <limits>

#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "model/base/threads.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/tasks/plan_checks.hpp"

namespace tilerail {

CandidatePlans::CandidatePlans(const Question& question, const DeviceSets& sets, const std::vector<std::int64_t>& tiles,
                               const WayList& ways)
    : question_{question}, sets_{sets}, tiles_{tiles}, ways_{ways} {}

Tried CandidatePlans::planned(const Candidate& candidate, const Policy& way, std::span<const double> shares) const {
  Tried result{candidate};
  const Question question = question_.on(sets_[candidate.set], shares).by(way);
  try {
    const TileScheduler scheduler{question};
    const std::int64_t tile = tiles_[candidate.tile];
    result.grid = scheduler.fitting(scheduler.grid(), tile);
    Decisions decisions = scheduler.decisions(tile, result.grid);
    result.shares = decisions.shares;
    if (decisions.distribution == Distribution::proportional && all_equal(decisions.shares))
      decisions.distribution = Distribution::blocks;  // which is the same
    for (const auto& [key, value] : to_text(decisions, question.topology))
      result.decided += fmt::format("{}={} ", key, value);
    const bool evicted = decisions.tile_rows != way.tile_rows || decisions.tile_depth != way.tile_depth;
    if ((evicted && may_shape(question_)) || knows(result)) return result;  // evicted: as one of squares
    result.plan = scheduler.plan(decisions);
    check_routes(*result.plan, question_.topology);
  } catch (const InputError&) {  // what does not fit in memory, or has no routes, is no candidate
    result.plan.reset();
  }
  return result;
}

std::vector<Estimated> CandidatePlans::estimated(const std::vector<Candidate>& candidates,
                                                 const Outlook& outlook) const {
  std::vector<Estimated> all;
  std::vector<std::future<Estimated>> wave;
  const auto finish = [&] {
    for (auto& one : wave) all.push_back(one.get());
    wave.clear();
  };
  for (const Candidate& candidate : candidates) {
    if (outlook.knows(candidate))
      all.emplace_back(outlook.seconds(candidate), candidate);
    else
      wave.push_back(in_background([this, candidate] { return Estimated{estimate(candidate), candidate}; }));
    if (wave.size() == at_once) finish();
  }
  finish();
  std::ranges::sort(all);
  return all;
}

double CandidatePlans::estimate(const Candidate& candidate) const {
  const Tried made = planned(candidate);
  if (!made.plan) return std::numeric_limits<double>::infinity();
  return estimate_plan(*made.plan, question_.topology, question_.resources).makespan.value;
}

std::optional<double> CandidatePlans::learn(const Tried& made) {
  if (made.seconds) took_[made.decided] = made.seconds;
  const auto known = took_.find(made.decided);
  return known == took_.end() ? std::nullopt : known->second;
}

}  // namespace tilerail
