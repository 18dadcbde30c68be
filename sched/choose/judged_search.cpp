#include "sched/choose/judged_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cost/estimate.hpp"
#include "model/base/threads.hpp"
#include "sched/choose/balance.hpp"
#include "sched/choose/candidate_plans.hpp"
#include "sched/choose/outlook.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/ways.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail {
namespace {

class Search final : public JudgedSearch {
 public:
  Search(const Question& question, const Judge& judge, const Plan& start)
      : question_{question},
        judge_{judge},
        start_{start},
        sets_{{start.devices}},
        tiles_{tiles_for(question, start)},
        for_the_end_{ops_for_the_end(question, start)},
        outlook_{sets_.size(), ops_for(question, tiles_), question.policy.judge_ops, by_way()} {
    outlook_.use(for_the_end_);
  }

  /// The start, which may relay or split k, and the first ways and those that split k with a tile whose plans take
  /// little.
  void begin() override {
    constexpr std::size_t few = 6;
    const std::size_t tile = start_tile(), cheap = cheap_tile();
    std::set<Candidate> first;
    for (std::size_t way = 0; way < ways_.size(); ++way) {
      const bool splits = ways_[way].k_split != question_.policy.k_split, is_start = splits == start_splits();
      if (is_start && (splits || way == 0 || way == ways_.of_presets().front())) first.insert({way, only_set, tile});
      if (way < few || splits) first.insert({way, only_set, cheap});
      if ((way < few || splits) && outlook_.takes({way, only_set, tile}, little)) first.insert({way, only_set, tile});
    }
    try_all({first.begin(), first.end()});
  }

  void finish() override {
    try_around_start();
    std::optional<std::size_t> listed;  // the way that those beside it are in the list of
    while (best_ && since_best_ < patience()) {
      if (listed != best_->candidate.way) ways_.add_beside(*(listed = best_->candidate.way));
      const std::vector<Candidate> next = outlook_.most_promising(ways_.size(), at_once);
      if (next.empty()) break;
      try_all(next);
    }
    if (!best_) return;
    outlook_.use(-2 * for_the_end_ / 3);
    try_promising();
    balance();
  }

  double seconds() const override { return best_ ? *best_->seconds : std::numeric_limits<double>::infinity(); }

  JudgedPlan take() override {
    if (!best_) return {start_, seconds(), {}};
    PlanOrigin& origin = best_->plan->origin;
    origin.judge = "simulator", origin.why = "the only candidate";
    origin.candidates = std::move(said_);
    const std::string best = what(*best_);
    return {std::move(*best_->plan), seconds(), best};
  }

 private:
  using Shape = std::pair<TileRows, TileDepth>;  // of tiles

  /// By what ways differ in that changes how many operations a plan has.
  Outlook::OpsOf by_way() {
    for (const int k_split : {1, 2, 4, one_part_a_gpu, question_.policy.k_split})
      for (const TileRows rows : {TileRows::side, TileRows::all})
        for (const TileDepth depth : {TileDepth::side, TileDepth::growing, TileDepth::columns, TileDepth::all})
          ops_of_[{rows, depth, k_split}] = ops_for(question_, tiles_, rows, depth, k_split);
    return [this, shapes = may_shape(question_)](std::size_t way) -> const std::vector<std::int64_t>& {
      const auto [rows, depth] = shapes ? shape_of(way) : Shape{TileRows::side, TileDepth::side};
      return ops_of_.at({rows, depth, ways_[way].k_split});
    };
  }

  std::size_t start_tile() const {
    return static_cast<std::size_t>(std::ranges::find(tiles_, start_.tile) - tiles_.begin());
  }

  /// Whether the start splits k where the policy does not: its grid has layers.
  bool start_splits() const {
    const auto grid = std::ranges::find(start_.origin.decisions, "grid", &PlanDecision::key);
    return question_.policy.k_split == 1 && grid != start_.origin.decisions.end() &&
           std::ranges::count(grid->value, 'x') == 2;
  }

  /// The start's, or the next larger one whose plans take little of the budget.
  std::size_t cheap_tile() const {
    std::size_t tile = start_tile();
    while (tile + 1 < tiles_.size() && !outlook_.takes({0, only_set, tile}, little)) ++tile;
    return tile;
  }

  void try_around_start() {
    const std::size_t tile = cheap_tile();
    try_all_ways(tile);
    const std::vector<Candidate> fastest = fastest_with(tile);
    for (const Candidate& fast : fastest)
      if (shape_of(fast.way) == shape_of(fastest.front().way))
        try_tiles({fast}, is_like(fast, fastest.front()) ? some : much);
      else
        try_narrower(fast);
    if (best_ && outlook_.takes(best_->candidate, little)) try_all_ways(best_->candidate.tile);
  }

  /// The first two ways and those of the presets, with those tiles whose estimates promise more.
  void try_promising() {
    constexpr std::size_t most = 4;
    constexpr double near = 1.02;
    std::set<std::size_t> ways{0, std::min<std::size_t>(1, ways_.size() - 1)};
    ways.insert(ways_.of_presets().begin(), ways_.of_presets().end());
    std::vector<Candidate> candidates;
    for (const std::size_t way : ways)
      for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
        if (const Candidate one{way, only_set, tile};
            outlook_.takes(one, much) && outlook_.affords(one) && !outlook_.knows(one))
          candidates.push_back(one);
    auto promising = candidates_.estimated(candidates, outlook_);
    std::erase_if(promising, [limit = near * to_beat()](const Estimated& one) { return one.first > limit; });
    if (promising.size() > most) promising.resize(most);
    candidates.clear();
    for (const auto& [_, candidate] : promising) candidates.push_back(candidate);
    try_all(candidates);
  }

  /// What the best plan so far takes, or is estimated to take, if that is more: estimates may all be wrong by as much.
  double to_beat() const {
    return std::max(*best_->seconds,
                    estimate_plan(*best_->plan, question_.topology, question_.resources).makespan.value);
  }

  /// The two fastest, and the fastest of those that deal tiles otherwise and of those of each other shape of tiles, if
  /// they are not hopeless: how well they do is another matter with another tile.
  std::vector<Candidate> fastest_with(std::size_t tile) {
    std::vector<Candidate> first;
    std::vector<Candidate> others;
    for (const Candidate& fast : outlook_.fastest(tile))
      if (first.empty() || is_like(fast, first.front())) {
        if (first.size() < 2) first.push_back(fast);
      } else if (!outlook_.is_hopeless(fast, first.front()) &&
                 std::ranges::none_of(
                     others, [&](const Candidate& other) { return shape_of(other.way) == shape_of(fast.way); })) {
        others.push_back(fast);
      }
    first.insert(first.end(), others.begin(), others.end());
    return first;
  }

  Shape shape_of(std::size_t way) const { return {ways_[way].tile_rows, ways_[way].tile_depth}; }

  bool is_like(const Candidate& a, const Candidate& b) const {
    return ways_[a.way].distribution == ways_[b.way].distribution && shape_of(a.way) == shape_of(b.way);
  }

  /// Each with other tiles, as far as their plans take at most that share of the budget.
  void try_tiles(const std::vector<Candidate>& of, double share) {
    std::vector<Candidate> tiles;
    for (std::size_t other = tiles_.size(); other-- > 0;)
      for (const auto& [way, set, tile] : of)
        if (outlook_.takes({way, set, other}, share)) tiles.push_back({way, set, other});
    try_all(tiles);
  }

  /// With smaller tiles, as far as each plan takes little of the budget, and all together some.
  void try_narrower(const Candidate& of) {
    std::vector<Candidate> tiles;
    auto left = static_cast<std::int64_t>(some * static_cast<double>(question_.policy.judge_ops));
    for (Candidate one = of; one.tile-- > 0;)
      if (outlook_.takes(one, 2 * little) && (left -= outlook_.ops(one)) >= 0) tiles.push_back(one);
    try_all(tiles);
  }

  void try_all_ways(std::size_t tile) {
    std::vector<Candidate> all;
    for (std::size_t way = 0; way < ways_.size(); ++way) all.push_back({way, only_set, tile});
    try_all(all);
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
        planning.push_back(in_background([this, &candidate] { return candidates_.planned(candidate); }));
    std::vector<Tried> made;
    for (std::future<Tried>& one : planning) made.push_back(one.get());
    std::vector<std::pair<Tried*, std::future<Judgement>>> judging;
    for (Tried& one : made)
      if (is_to_judge(one)) judging.emplace_back(&one, in_background([this, &one] { return judge_.of(*one.plan); }));
    for (auto& [one, judgement] : judging) take(*one, judgement.get());
    for (Tried& one : made) learn(std::move(one));
  }

  static void take(Tried& one, Judgement judgement) {
    one.seconds = judgement.makespan.value;
    one.ends = std::move(judgement.ends);
  }

  /// Shifts work from GPUs of the best plan that are done late to those that are done early, as long as that helps.
  void balance() {
    constexpr double even = 0.01, least_step = 0.2;
    if (for_the_end_ == 0 || best_->ends.empty()) return;
    Policy way = ways_[best_->candidate.way];
    if (way.distribution == Distribution::blocks) way.distribution = Distribution::proportional;
    way.shares = question_.policy.shares;  // those of balanced work replace them
    std::int64_t left = for_the_end_ / 3;
    for (double step = 1; step > least_step && imbalance(best_->ends) > even;) {
      Tried next = candidates_.planned(best_->candidate, way, balanced_shares(best_->shares, best_->ends, step));
      if (!next.plan || (left -= static_cast<std::int64_t>(next.plan->ops.size())) < 0) return;
      take(next, judge_.of(*next.plan));
      next.changes = ways_.changes_text(way) + fmt::format(" shares={:.4g}", fmt::join(next.shares, ":"));
      said_.push_back({what(next), *next.seconds, "simulator"});
      if (*next.seconds < *best_->seconds)
        best_ = std::move(next);
      else
        step /= 2;
    }
  }

  /// If there is a plan, no other way has come to the same, and its operations may still be judged.
  bool is_to_judge(const Tried& made) {
    if (!made.plan || candidates_.knows(made)) return false;
    const auto ops = static_cast<std::int64_t>(made.plan->ops.size());
    if (ops > outlook_.left()) return false;
    candidates_.claim(made);
    outlook_.use(ops);
    return true;
  }

  void learn(Tried made) {
    outlook_.learn(made.candidate, candidates_.learn(made));
    if (!made.seconds) return;
    said_.push_back({what(made), *made.seconds, "simulator"});
    ++since_best_;
    if (!best_ || *made.seconds < (1 - worth_it) * *best_->seconds) since_best_ = 0;
    if (!best_ || *made.seconds < *best_->seconds) best_ = std::move(made);
  }

  std::string what(const Tried& made) const {
    return fmt::format("tile={} grid={} gpus={}{}", made.plan->tile, made.grid.text(),
                       gpus_text(question_.topology, made.plan->devices),
                       made.changes.empty() ? ways_.changes_text(ways_[made.candidate.way]) : made.changes);
  }

  static constexpr std::size_t only_set = 0;
  static constexpr std::size_t at_once = CandidatePlans::at_once;
  static constexpr double little = 1.0 / 48, some = 1.0 / 8, much = 1.0 / 6;  // of the budget, for one plan
  /// Plans without a better one, until the search ends: more where the budget is larger. docs/model.md#judge
  int patience() const {
    constexpr std::int64_t least = 128, ops_a_plan = 800;
    return static_cast<int>(std::clamp(question_.policy.judge_ops / ops_a_plan, least, std::int64_t{1} << 30));
  }
  static constexpr double worth_it = 0.002;

  const Question question_;
  const Judge& judge_;
  const Plan& start_;
  const DeviceSets sets_;
  const std::vector<std::int64_t> tiles_;
  const std::int64_t for_the_end_;  // operations of plans that are kept for the end
  std::map<std::tuple<TileRows, TileDepth, int>, std::vector<std::int64_t>> ops_of_;
  Outlook outlook_;
  WayList ways_{question_};
  CandidatePlans candidates_{question_, sets_, tiles_, ways_};
  std::vector<PlanCandidate> said_;  // as the plan file has them
  std::optional<Tried> best_;
  int since_best_ = 0;  // plans judged since one was better by what is worth it
};

}  // namespace

std::unique_ptr<JudgedSearch> judged_search(const Question& question, const Judge& judge, const Plan& start) {
  return std::make_unique<Search>(question, judge, start);
}

}  // namespace tilerail
