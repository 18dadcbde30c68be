#include "sched/choose/outlook.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace tilerail {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

// Found by trying them on the machines that are shipped; the result hardly depends on any. docs/model.md#judge
constexpr double hopeless = 0.6, cost_of_budget = 2, next_tile = 0.04, other_set = 0.15, untried = 0.02, near = 0.25,
                 twin = 0.05;

double apart(std::size_t a, std::size_t b) { return static_cast<double>(std::max(a, b) - std::min(a, b)); }

}  // namespace

Outlook::Outlook(std::size_t sets, std::vector<std::int64_t> ops, std::int64_t budget, OpsOf shaped)
    : sets_{sets}, ops_{std::move(ops)}, budget_{budget}, shaped_{std::move(shaped)} {}

void Outlook::learn(const Candidate& candidate, std::optional<double> seconds) { seconds_[candidate] = seconds; }

std::vector<Candidate> Outlook::fastest(std::size_t tile) const {
  std::vector<std::pair<double, Candidate>> ranked;
  for (const auto& [candidate, seconds] : seconds_)
    if (candidate.tile == tile && seconds) ranked.emplace_back(*seconds, candidate);
  std::ranges::sort(ranked);
  std::vector<Candidate> first;
  for (double last = 0; const auto& [seconds, candidate] : ranked)
    if (seconds > std::exchange(last, seconds)) first.push_back(candidate);
  return first;
}

double Outlook::seconds(const Candidate& candidate) const {
  const auto there = seconds_.find(candidate);
  if (there == seconds_.end() || !there->second) return unknown;
  return *there->second;
}

bool Outlook::is_near(const Candidate& candidate, const Candidate& judged) const {
  return seconds(candidate) < (1 + near) * seconds(judged);
}

bool Outlook::is_hopeless(const Candidate& candidate, const Candidate& judged) const {
  const double there = seconds(candidate);
  return there < unknown && there > std::exp(hopeless) * seconds(judged);
}

std::vector<Candidate> Outlook::most_promising(std::size_t ways, std::size_t most) const {
  const Cells seen = best_seen(), expected = this->expected(seen);
  const double best = *std::ranges::min_element(seen);
  std::vector<std::pair<double, Candidate>> ranked;
  for (std::size_t way = 0; way < ways; ++way) {
    const double a = behind(way, seen) + (is_twin(way) ? twin : 0);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Candidate candidate{way, i / ops_.size(), i % ops_.size()};
      if (knows(candidate) || !affords(candidate)) continue;
      const double share = static_cast<double>(ops(candidate)) / static_cast<double>(budget_);
      const double score = a + expected[i] + cost_of_budget * share;
      if (score <= best + hopeless) ranked.emplace_back(score, candidate);
    }
  }
  std::ranges::sort(ranked);
  std::vector<Candidate> next;
  for (const auto& [score, candidate] : ranked)
    if (next.size() < most) next.push_back(candidate);
  return next;
}

Outlook::Cells Outlook::best_seen() const {
  Cells seen(sets_ * ops_.size(), unknown);
  for (const auto& [candidate, seconds] : seconds_)
    if (seconds) seen[cell(candidate)] = std::min(seen[cell(candidate)], std::log(*seconds));
  return seen;
}

/// Of cells not seen: as the nearest ones, and a little more the further those are; or less, where sets and tiles that
/// were both seen with others promise less: b(s, t) = b(s, t') + b(s', t) - b(s', t').
Outlook::Cells Outlook::expected(const Cells& seen) const {
  Cells all = seen;
  const std::size_t tiles = ops_.size();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; seen[i] == unknown && j < seen.size(); ++j) {
      all[i] = std::min(all[i], seen[j] + distance(i, j));
      const std::size_t same_set = i / tiles * tiles + j % tiles, same_tile = j / tiles * tiles + i % tiles;
      if (seen[j] != unknown && seen[same_set] != unknown && seen[same_tile] != unknown)
        all[i] = std::min(all[i], seen[same_set] + seen[same_tile] - seen[j]);
    }
  return all;
}

double Outlook::distance(std::size_t a, std::size_t b) const {
  const std::size_t tiles = ops_.size();
  return next_tile * std::max(0.0, apart(a % tiles, b % tiles) - 1) + (a / tiles == b / tiles ? 0 : other_set);
}

/// By how much a way was slower than the best where it came nearest to it.
double Outlook::behind(std::size_t way, const Cells& best) const {
  double least = unknown;
  for (auto at = seconds_.lower_bound({way, 0, 0}); at != seconds_.end() && at->first.way == way; ++at)
    if (at->second) least = std::min(least, std::log(*at->second) - best[cell(at->first)]);
  return least == unknown ? untried : least;
}

/// Whether it took just as long as another way wherever both are known.
bool Outlook::is_twin(std::size_t way) const {
  std::set<std::size_t> alike, unlike;
  for (auto at = seconds_.lower_bound({way, 0, 0}); at != seconds_.end() && at->first.way == way; ++at)
    for (std::size_t other = 0; other < way; ++other)
      if (const auto there = seconds_.find({other, at->first.set, at->first.tile});
          there != seconds_.end() && there->second && at->second)
        (there->second == at->second ? alike : unlike).insert(other);
  return !std::ranges::includes(unlike, alike);
}

}  // namespace tilerail
