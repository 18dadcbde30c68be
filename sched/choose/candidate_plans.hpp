#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "sched/choose/outlook.hpp"
#include "sched/choose/search_space.hpp"
#include "sched/choose/ways.hpp"
#include "sched/policy/grid.hpp"

namespace tilerail {

/// A candidate, as far as it has been planned and judged.
struct Tried {
  Candidate candidate;
  std::string decided = {};  // what its plan follows from
  Grid grid = {};
  std::vector<double> shares = {};
  std::optional<Plan> plan = {};       // none where it cannot be planned
  std::optional<double> seconds = {};  // where it was judged
  std::vector<Seconds> ends = {};      // of its devices
  std::string changes = {};            // of the policy's fields, where it is not just its way: its work is balanced
};

using Estimated = std::pair<double, Candidate>;  // with its seconds

/// Makes the plans of candidates. Different ways may come to the same decisions, whose plan is made and judged once.
/// May be asked by several threads while nothing is learnt.
class CandidatePlans {
 public:
  static constexpr std::size_t at_once = 4;  // candidates in as many threads, whatever machine this is

  /// Keeps references: the list of ways may grow.
  CandidatePlans(const Question& question, const DeviceSets& sets, const std::vector<std::int64_t>& tiles,
                 const WayList& ways);

  /// Without a plan where there is none, or another candidate was the first with these decisions.
  Tried planned(const Candidate& candidate) const { return planned(candidate, ways_[candidate.way], {}); }
  /// By a way that is not listed; `shares` of the work as in a question.
  Tried planned(const Candidate& candidate, const Policy& way, std::span<const double> shares) const;
  /// With their seconds, known or estimated, the fastest first; infinite where there is no plan, or none that is not
  /// known.
  std::vector<Estimated> estimated(const std::vector<Candidate>& candidates, const Outlook& outlook) const;

  /// Whether a candidate that is judged has come to its decisions.
  bool knows(const Tried& made) const { return took_.contains(made.decided); }
  /// This one is judged.
  void claim(const Tried& made) { took_.try_emplace(made.decided); }
  /// What its plan takes, by itself or by the first with these decisions; nothing where that was not judged.
  std::optional<double> learn(const Tried& made);

 private:
  double estimate(const Candidate& candidate) const;

  const Question& question_;
  const DeviceSets& sets_;
  const std::vector<std::int64_t>& tiles_;
  const WayList& ways_;
  std::map<std::string, std::optional<double>> took_;  // seconds, by decisions
};

}  // namespace tilerail
