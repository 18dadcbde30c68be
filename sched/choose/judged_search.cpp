#include "sched/choose/judged_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "model/base/error.hpp"
#include "sched/choose/outlook.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/choose/ways.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/decisions.hpp"

namespace tilerail {
namespace {

using Sets = std::vector<std::vector<MemoryId>>;

/// All devices, and fewer where the policy leaves that open.
Sets sets_for(const Question& q, const Plan& start) {
  const std::vector<MemoryId> all{q.devices.begin(), q.devices.end()};
  Sets sets{all};
  if (q.policy.device_choice == DeviceChoice::search)
    for (std::size_t count = all.size() / 2; count > 0; count /= 2)
      for (auto& set : device_subsets(q.problem, all, count)) sets.push_back(std::move(set));
  if (std::ranges::find(sets, start.devices) == sets.end()) sets.push_back(start.devices);
  return sets;
}

/// Ascending: what is worth trying on any of the sets.
std::vector<std::int64_t> tiles_for(const Question& q, const Sets& sets, const Plan& start) {
  std::set<std::int64_t> tiles{start.tile};
  const bool any_tile = q.policy.tile == 0 && q.policy.tile_choice == TileChoice::search;
  for (std::size_t i = 0; any_tile && i < sets.size(); ++i) {
    const TileScheduler scheduler{q.on(sets[i])};
    const auto more = tile_candidates(q.problem.m, q.problem.n, q.problem.k, scheduler.grid(), scheduler.largest_tile(),
                                      most_judged_kernels);
    tiles.insert(more.begin(), more.end());
  }
  return {tiles.begin(), tiles.end()};
}

/// About what plans have, by tile: two operations a kernel, or more.
std::vector<std::int64_t> ops_for(const GemmProblem& p, const std::vector<std::int64_t>& tiles) {
  std::vector<std::int64_t> ops;
  for (const std::int64_t tile : tiles) ops.push_back(2 * kernel_count(p.m, p.n, p.k, {1, 1}, tile));
  return ops;
}

class JudgedSearch {
 public:
  JudgedSearch(const Question& question, const Judge& judge, const Plan& start)
      : question_{question},
        judge_{judge},
        start_{start},
        sets_{sets_for(question, start)},
        tiles_{tiles_for(question, sets_, start)},
        outlook_{sets_.size(), ops_for(question.problem, tiles_), question.policy.judge_ops} {
    for (Policy& way : first_ways(question)) add_way(std::move(way));
  }

  Plan plan() {
    try_around_start();
    std::optional<std::size_t> listed;  // the way that those beside it are in the list of
    while (best_ && since_best_ < patience) {
      if (listed != best_->candidate.way) list_beside(*(listed = best_->candidate.way));
      const std::vector<Candidate> next = outlook_.most_promising(ways_.size(), at_once);
      if (next.empty()) break;
      try_all(next);
    }
    return best_ ? explained() : start_;
  }

 private:
  struct Tried {
    Candidate candidate;
    std::string decided = {};  // what its plan follows from
    Grid grid = {};
    std::optional<Plan> plan = {};       // none where it cannot be planned
    std::optional<double> seconds = {};  // where it was judged
  };

  void add_way(Policy way) {
    if (known_ways_.insert(way_key(way)).second) ways_.push_back(std::move(way));
  }
  void list_beside(std::size_t way) {
    for (Policy& other : ways_beside(question_, ways_[way])) add_way(std::move(other));
  }

  void try_around_start() {
    const auto set = static_cast<std::size_t>(std::ranges::find(sets_, start_.devices) - sets_.begin());
    const auto tile = static_cast<std::size_t>(std::ranges::find(tiles_, start_.tile) - tiles_.begin());
    std::vector<Candidate> first, around;
    for (std::size_t way = 0; way < ways_.size(); ++way) first.push_back({way, set, tile});
    try_all(first);
    for (const std::size_t way : outlook_.fastest_ways(set, tile, 3)) {
      for (std::size_t other = 0; other < sets_.size(); ++other) around.push_back({way, other, tile});
      for (std::size_t other = tiles_.size(); other-- > 0;)
        if (outlook_.is_cheap(other)) around.push_back({way, set, other});
    }
    try_all(around);
  }

  /// Some of them at the same time, as many whatever machine this is.
  void try_all(const std::vector<Candidate>& candidates) {
    std::vector<Candidate> wave;
    for (const Candidate& candidate : candidates) {
      if (!outlook_.knows(candidate)) wave.push_back(candidate);
      if (wave.size() == at_once) try_wave(std::exchange(wave, {}));
    }
    try_wave(wave);
  }

  void try_wave(const std::vector<Candidate>& wave) {
    std::vector<std::future<Tried>> planning;
    for (const Candidate& candidate : wave)
      if (outlook_.affords(candidate))
        planning.push_back(std::async(std::launch::async, [this, &candidate] { return planned(candidate); }));
    std::vector<Tried> made;
    for (std::future<Tried>& one : planning) made.push_back(one.get());
    std::vector<std::pair<Tried*, std::future<Judgement>>> judging;
    for (Tried& one : made)
      if (is_to_judge(one))
        judging.emplace_back(&one, std::async(std::launch::async, [this, &one] { return judge_.of(*one.plan); }));
    for (auto& [one, judgement] : judging) one->seconds = judgement.get().makespan.value;
    for (Tried& one : made) learn(std::move(one));
  }

  Tried planned(const Candidate& candidate) const {
    Tried result{candidate};
    const Question question = question_.on(sets_[candidate.set]).by(ways_[candidate.way]);
    try {
      const TileScheduler scheduler{question};
      const std::int64_t tile = tiles_[candidate.tile];
      result.grid = scheduler.grid();
      for (const auto& [key, value] : to_text(decide(question, tile, result.grid), question.topology))
        result.decided += fmt::format("{}={} ", key, value);
      if (!decided_.contains(result.decided)) result.plan = scheduler.plan(tile, result.grid);
    } catch (const InputError&) {  // what does not fit in memory is no candidate
    }
    return result;
  }

  /// If there is a plan, no other way has come to the same, and its operations may still be judged.
  bool is_to_judge(const Tried& made) {
    if (!made.plan || !decided_.try_emplace(made.decided).second) return false;
    const auto ops = static_cast<std::int64_t>(made.plan->ops.size());
    if (ops > outlook_.left()) return false;
    outlook_.use(ops);
    return true;
  }

  void learn(Tried made) {
    if (made.seconds) decided_[made.decided] = made.seconds;
    const auto known = decided_.find(made.decided);
    outlook_.learn(made.candidate, known == decided_.end() ? std::nullopt : known->second);
    if (!made.seconds) return;
    said_.push_back({what(made), *made.seconds, "simulator"});
    ++since_best_;
    if (!best_ || *made.seconds < (1 - worth_it) * *best_->seconds) since_best_ = 0;
    if (!best_ || *made.seconds < *best_->seconds) best_ = std::move(made);
  }

  std::string what(const Tried& made) const {
    return fmt::format("tile={} grid={}x{} gpus={}{}", made.plan->tile, made.grid.rows, made.grid.cols,
                       gpus_text(question_.topology, made.plan->devices),
                       changes_text(question_, ways_[made.candidate.way]));
  }

  Plan explained() {
    PlanOrigin& origin = best_->plan->origin;
    origin.judge = "simulator";
    origin.why = said_.size() == 1 ? "the only candidate"
                                   : fmt::format("{}: the fastest of {} simulated", what(*best_), said_.size());
    origin.candidates = std::move(said_);
    return std::move(*best_->plan);
  }

  static constexpr std::size_t at_once = 4;
  static constexpr int patience = 64;  // plans without a better one; docs/model.md#judge
  static constexpr double worth_it = 0.002;

  const Question question_;
  const Judge& judge_;
  const Plan& start_;
  const Sets sets_;
  const std::vector<std::int64_t> tiles_;
  Outlook outlook_;
  std::deque<Policy> ways_;  // they stay where they are while others are added
  std::set<std::string> known_ways_;
  std::map<std::string, std::optional<double>> decided_;  // what plans took; different ways may come to the same
  std::vector<PlanCandidate> said_;                       // as the plan file has them
  std::optional<Tried> best_;
  int since_best_ = 0;  // plans judged since one was better by what is worth it
};

}  // namespace

Plan judged_plan(const Question& question, const Judge& judge, Plan start) {
  if (static_cast<std::int64_t>(start.ops.size()) > question.policy.judge_ops || start.ops.empty()) return start;
  return JudgedSearch{question, judge, start}.plan();
}

}  // namespace tilerail
