#include "study/whatif/whatif.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost/bound.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail::study {
namespace {

/// Why `work` cannot be done, or "".
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

/// That a part can be changed by, but for `without`.
std::vector<double> factors_of(const WhatIf& what, size_t part, double without = 1) {
  std::vector<double> factors{2.0, 0.5, without_limit};
  std::erase_if(factors, [&](double factor) {
    return factor == without || !can_change(what.parts[part], what.question.topology, factor);
  });
  return factors;
}

void try_rows(WhatIf& what, const Workers& workers) {
  for (const auto part : indices(what.parts))
    for (const double factor : factors_of(what, part)) what.rows.push_back({part, factor});
  in_parallel(workers, what.rows.size(), [&](size_t i) {
    WhatIfRow& row = what.rows[i];
    row.error = error_of([&] {
      const std::vector<double> others = factors_of(what, row.part, row.factor);
      row.trial = try_part(what.question, what.plan, what.parts[row.part], row.factor, others);
    });
  });
  share_plans(what.rows);
}

Topology changed(const WhatIf& what, size_t part, double factor) {
  return improved(what.question.topology, what.parts[part].knobs, factor);
}

/// The best plan for the machine as it is, whichever machine it was made for, is tried on all of them.
void keep_best_plan(WhatIf& what, const Workers& workers) {
  double least = (1 - negligible_share) * what.planned.makespan;
  for (const WhatIfRow& row : what.rows)
    if (row.trial && row.trial->taken_back < least) least = row.trial->taken_back, what.better = {row.part, row.factor};
  if (!what.better) return;
  what.plan = what.question.plan_on(changed(what, what.better->first, what.better->second));
  what.summary = simulated(what.plan, what.question.topology);
  what.now = evaluation_of(what.summary);
  in_parallel(workers, what.rows.size(), [&](size_t i) {
    if (!what.rows[i].trial) return;
    Trial& trial = *what.rows[i].trial;
    const Topology machine = changed(what, what.rows[i].part, what.rows[i].factor);
    Evaluation kept;
    // If the plan does not fit the changed machine, the trial stays as it is.
    if (!error_of([&] { kept = evaluation_of(simulated(what.plan, machine)); }).empty()) return;
    if (trial.other && kept.makespan <= trial.other->makespan) trial.other.reset();
    if (kept.makespan < trial.kept.makespan) trial.kept = std::move(kept);
  });
}

void rank(WhatIf& what) {
  std::ranges::stable_sort(what.rows, std::ranges::greater{}, [&](const WhatIfRow& row) {
    return std::pair{row.trial.has_value(), what.saved(row)};
  });
}

/// The factors 1/2, 1, 2 and infinity are known; of others `holds` is asked. Where it is true now, only parts are
/// looked at that cost something when they are halved.
std::optional<double> turn_of(const WhatIf& what, size_t part, bool (Evaluation::*property)() const,
                              const std::function<bool(double)>& holds) {
  const auto known = [&](double factor) {
    const WhatIfRow* row = what.row(part, factor);
    return row && row->trial && (row->trial->best().*property)();
  };
  if ((what.now.*property)()) {
    const WhatIfRow* halved = what.row(part, 0.5);
    if (!halved || -what.saved(*halved) < negligible_share * what.now.makespan) return std::nullopt;
    return known(0.5) ? least_factor(0, 0.5, holds) : least_factor(0.5, 1, holds);
  }
  if (known(2)) return least_factor(1, 2, holds);
  if (known(without_limit)) return least_factor(2, without_limit, holds);
  return std::nullopt;
}

Turn turn_of(const WhatIf& what, size_t part) {
  Turn turn{part};
  turn.by_bound = turn_of(what, part, &Evaluation::bound_by_kernels, [&](double factor) {
    return lower_bound(what.plan, changed(what, part, factor)).bound_by == TimeUse::kernels;
  });
  turn.by_simulation = turn_of(what, part, &Evaluation::compute_bound, [&](double factor) {
    return what.question.evaluate_on(changed(what, part, factor), what.plan).compute_bound();
  });
  return turn;
}

/// Parts of one kind that cost something when they are halved, or that cannot be, or that save something when they are
/// doubled; those that cost least come first.
std::vector<size_t> candidates(const WhatIf& what) {
  std::vector<std::pair<double, size_t>> found;
  for (const auto part : indices(what.parts)) {
    if (!what.parts[part].carries() || what.parts[part].combined) continue;
    const WhatIfRow *halved = what.row(part, 0.5), *doubled = what.row(part, 2);
    const double cost = halved && halved->trial ? -what.saved(*halved) : what.now.makespan;
    const double least = negligible_share * what.now.makespan;
    if (doubled && doubled->trial && (cost > least || what.saved(*doubled) > least)) found.emplace_back(cost, part);
  }
  std::ranges::sort(found);
  std::vector<size_t> parts;
  for (const auto& [_, part] : found) parts.push_back(part);
  return parts;
}

double doubled(const WhatIf& what, const std::vector<size_t>& parts) {
  std::vector<Knob> knobs;
  for (const size_t part : parts)
    knobs.insert(knobs.end(), what.parts[part].knobs.begin(), what.parts[part].knobs.end());
  return what.question.evaluate_on(improved(what.question.topology, knobs, 2), what.plan).makespan;
}

/// Leaves out, one after another, what is not needed.
Together needed_together(const WhatIf& what, std::vector<size_t> parts) {
  constexpr double may_be_lost = 0.1;  // of what all of them save
  double makespan = doubled(what, parts);
  const double allowed = makespan + may_be_lost * std::max(0.0, what.now.makespan - makespan);
  for (const size_t part : std::vector{parts}) {
    std::vector<size_t> fewer = parts;
    std::erase(fewer, part);
    const double without = fewer.empty() ? what.now.makespan : doubled(what, fewer);
    if (without <= allowed) parts = std::move(fewer), makespan = without;
  }
  std::ranges::sort(parts);
  return {std::move(parts), makespan};
}

/// What doubling one of the parts alone takes at best.
double best_alone(const WhatIf& what, const std::vector<size_t>& parts) {
  double makespan = what.now.makespan;
  for (const size_t part : parts)
    if (const WhatIfRow* row = what.row(part, 2); row && row->trial)
      makespan = std::min(makespan, row->trial->best().makespan);
  return makespan;
}

void find_together(WhatIf& what, const std::vector<size_t>& of) {
  Together found = needed_together(what, of);
  const double less = best_alone(what, of) - found.makespan;
  if (found.parts.size() > 1 && less > negligible_share * what.now.makespan) what.together = std::move(found);
}

void find_turns(WhatIf& what, const Workers& workers) {
  for (const auto part : indices(what.parts))
    if (what.parts[part].carries()) what.turns.push_back({part});
  const std::vector<size_t> to_combine = candidates(what);
  const size_t first = to_combine.size() > 1 ? 1 : 0;  // the longest of all tasks begins
  in_parallel(workers, first + what.turns.size(), [&](size_t i) {
    if (i < first) {
      what.together_error = error_of([&] { find_together(what, to_combine); });
    } else {
      Turn& turn = what.turns[i - first];
      turn.error = error_of([&] { turn = turn_of(what, turn.part); });
    }
  });
}

}  // namespace

void share_plans(std::vector<WhatIfRow>& rows) {
  constexpr double less = 1 - 1e-9;  // by more than rounding
  for (WhatIfRow& row : rows) {
    if (!row.trial) continue;
    for (const WhatIfRow& other : rows) {
      if (!other.trial || other.part != row.part) continue;
      for (const auto& [factor, evaluation] : other.trial->elsewhere)
        if (factor == row.factor && evaluation.makespan < less * row.trial->best().makespan)
          row.trial->other = evaluation;
    }
  }
}

const WhatIfRow* WhatIf::row(size_t part, double factor) const {
  const auto found =
      std::ranges::find_if(rows, [&](const WhatIfRow& row) { return row.part == part && row.factor == factor; });
  return found == rows.end() ? nullptr : &*found;
}

WhatIf what_if(Question question, const PartSelection& selection, const Workers& workers) {
  WhatIf what{.question = std::move(question)};
  const Topology& machine = what.question.topology;
  what.plan = what.question.plan_on(machine);
  what.summary = simulated(what.plan, machine);
  what.now = what.planned = evaluation_of(what.summary);
  what.parts = parts_of(machine, what.plan.problem, what.question.job.machine.resolve_devices(machine), selection);
  if (what.plan.ops.empty()) return what;
  try_rows(what, workers);
  keep_best_plan(what, workers);
  rank(what);
  find_turns(what, workers);
  return what;
}

}  // namespace tilerail::study
