#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/evaluation.hpp"
#include "study/job.hpp"
#include "study/whatif/part.hpp"

namespace tilerail::study {

/// A problem and a policy on a machine that exists or not.
struct Question {
  Topology topology;
  JobText job;

  /// Planned for another machine with the same memories. Throws InputError.
  Plan plan_on(const Topology& changed) const;
  /// Of a plan made for that machine, or of `kept` where that is faster there.
  Evaluation evaluate_on(const Topology& changed, const Plan& kept) const;
};

/// A plan on a machine whose part is another factor as good.
struct Elsewhere {
  double factor = 1;
  Evaluation evaluation;
};

/// A part of the machine, `factor` times as good.
struct Trial {
  Evaluation planned;     // a plan made for the changed machine, simulated there
  Evaluation kept;        // the best plan that is known for the machine as it is, simulated on the changed one
  double taken_back = 0;  // s: the plan made for the changed machine, simulated on the machine as it is
  std::vector<Elsewhere> elsewhere = {};  // that plan
  /// The best here of the plans made for other factors of the part, where it is better than both above.
  std::optional<Evaluation> other = {};

  const Evaluation& best() const { return other ? *other : planned.makespan <= kept.makespan ? planned : kept; }
};

/// Throws InputError where the problem cannot be planned on such a machine. `kept` is of this plan; the plan that is
/// made is tried `elsewhere`, with these other factors.
Trial try_part(const Question& question, const Plan& kept, const Part& part, double factor,
               std::span<const double> others);

/// The least factor, to a sixteenth of an octave, from which something is true of a part that is not at `below` but at
/// `above`, and stays so beyond; `holds` is asked for factors between. `above` may be infinite: no factor above 4096 is
/// tried before that. `below` may be 0, unknown: nothing below an eighth is tried, and 0 says that it is true there.
double least_factor(double below, double above, const std::function<bool(double)>& holds);

}  // namespace tilerail::study
