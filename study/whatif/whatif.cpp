#include "study/whatif/whatif.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>
#include <utility>

#include "backends/fluid/simulation.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail::study {
namespace {

bool fits(const std::string& pattern, const Knob& knob) {
  return knob.name == pattern || fnmatch(pattern.c_str(), knob.name.c_str(), 0) == 0;
}

std::vector<Knob> selected_knobs(const Topology& topology, const GemmProblem& problem,
                                 const std::vector<std::string>& only) {
  std::vector<Knob> knobs = knobs_of(topology, problem);
  for (const std::string& pattern : only)
    if (std::ranges::none_of(knobs,
                             [&](const Knob& knob) { return fits(pattern, knob); }))
      throw InputError{
          "only", pattern, fmt::format("is not a part of {}", topology.name()),
          fmt::format("a name or a pattern such as '{}'", knobs.front().name)};
  const auto is_meant = [&](const Knob& knob) {
    return std::ranges::any_of(
        only, [&](const std::string& pattern) { return fits(pattern, knob); });
  };
  if (!only.empty()) std::erase_if(knobs, std::not_fn(is_meant));
  return knobs;
}

/// "gpu12->plx0" becomes "gpu*->plx*"; numbers inside words stay: "h2d".
std::string without_numbers(const std::string& name) {
  static const std::regex number{"[0-9]+(?![0-9A-Za-z])"};
  return std::regex_replace(name, number, "*");
}

/// A part with one knob has the knob's name. Parts with equal names get their figures
/// appended.
void name_parts(std::vector<Part>& parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(part.name);
  for (Part& part : parts) {
    if (part.knobs.size() == 1)
      part.name = part.knobs.front().name;
    else if (std::ranges::count(names, part.name) > 1)
      part.name += " of " + part.now;
  }
}

std::vector<Part> equivalent_knobs(const std::vector<Knob>& knobs) {
  std::vector<Part> parts;
  for (const Knob& knob : knobs) {
    const std::string name = without_numbers(knob.name);
    auto part = std::ranges::find_if(parts, [&](const Part& known) {
      return known.name == name && known.now == knob.now;
    });
    if (part == parts.end()) part = parts.insert(part, {name, knob.now, {}});
    part->knobs.push_back(knob);
  }
  name_parts(parts);
  return parts;
}

/// A single engine cannot be halved.
bool can_change(const Part& part, double factor) {
  return factor > 1 || part.knobs.front().kind != Knob::Kind::engine || part.now != "1";
}

/// Runs `work` for each row and stores its error in the row.
template <class Work>
void for_each_row(std::vector<WhatIfRow>& rows, const Workers& workers,
                  const Work& work) {
  in_parallel(workers, rows.size(), [&](size_t i) {
    try {
      work(rows[i]);
    } catch (const InputError& error) {
      rows[i].error = error.what();
      rows[i].trial.reset();
    }
  });
}

/// The machine of the rows, and the job.
class Question {
 public:
  Question(const Topology& topology, const JobText& job)
      : topology_{topology}, job_{job} {
    job_.machine.settings.clear();  // the topology has them
  }

  WhatIf answer(const PartSelection& selection, const Workers& workers) const {
    Plan plan = plan_on(topology_);
    WhatIf what{.parts = parts_of(topology_, plan.gemm(), selection)};
    describe(what, plan);
    if (plan.ops.empty()) return what;
    for (const auto part : indices(what.parts))
      for (const double factor : {2.0, 0.5, without_limit})
        if (can_change(what.parts[part], factor)) what.rows.push_back({part, factor});
    for_each_row(what.rows, workers,
                 [&](WhatIfRow& row) { row.trial = trial(changed(what, row)); });
    take_best_plan(what, plan);
    for_each_row(what.rows, workers, [&](WhatIfRow& row) {
      if (row.trial) row.trial->kept = evaluation_of(simulated(plan, changed(what, row)));
    });
    std::ranges::stable_sort(what.rows, std::ranges::greater{},
                             [&](const WhatIfRow& row) {
                               return std::pair{row.trial.has_value(), what.saved(row)};
                             });
    return what;
  }

 private:
  Plan plan_on(const Topology& machine) const { return plan_job(machine, job_).plan; }

  Topology changed(const WhatIf& what, const WhatIfRow& row) const {
    return improved(topology_, what.parts[row.part].knobs, row.factor);
  }

  Trial trial(const Topology& machine) const {
    const Plan plan = plan_on(machine);
    const Seconds taken_back = makespan_of(simulate_fluid(plan, topology_));
    return {evaluation_of(simulated(plan, machine)), {}, taken_back.value};
  }

  void describe(WhatIf& what, const Plan& plan) const {
    what.summary = simulated(plan, topology_);
    what.now = evaluation_of(what.summary);
  }

  /// Replaces the baseline plan if a plan made for a changed machine is faster on the
  /// unchanged one: otherwise the part would get credit for the planner's miss.
  void take_best_plan(WhatIf& what, Plan& plan) const {
    const auto taken_back = [](const WhatIfRow& row) {
      return row.trial ? row.trial->taken_back : INFINITY;
    };
    const WhatIfRow& best = *std::ranges::min_element(what.rows, {}, taken_back);
    if (taken_back(best) >= what.now.makespan) return;
    plan = plan_on(changed(what, best));
    describe(what, plan);
  }

  const Topology& topology_;
  JobText job_;
};

}  // namespace

std::vector<Part> parts_of(const Topology& topology, const GemmProblem& problem,
                           const PartSelection& selection) {
  const std::vector<Knob> knobs = selected_knobs(topology, problem, selection.only);
  std::vector<Part> parts;
  if (selection.each)
    for (const Knob& knob : knobs) parts.push_back({knob.name, knob.now, {knob}});
  else
    parts = equivalent_knobs(knobs);
  Part moving{"all links and groups", "", {}};
  const auto moves = [](const Knob& knob) {
    return knob.kind == Knob::Kind::link || knob.kind == Knob::Kind::group;
  };
  std::ranges::copy_if(knobs, std::back_inserter(moving.knobs), moves);
  if (selection.only.empty() && !moving.knobs.empty()) parts.push_back(std::move(moving));
  return parts;
}

bool WhatIf::is_negligible(const WhatIfRow& row) const {
  constexpr double share = 1e-3;
  return row.trial && std::abs(saved(row)) < share * now.makespan;
}

std::vector<size_t> WhatIf::idle_parts() const {
  std::vector<size_t> idle;
  for (const auto part : indices(parts))
    if (std::ranges::all_of(rows, [&](const WhatIfRow& row) {
          return row.part != part || is_negligible(row);
        }))
      idle.push_back(part);
  return idle;
}

WhatIf what_if(const Topology& topology, const JobText& job,
               const PartSelection& selection, const Workers& workers) {
  return Question{topology, job}.answer(selection, workers);
}

}  // namespace tilerail::study
