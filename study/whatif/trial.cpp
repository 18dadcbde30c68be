#include "study/whatif/trial.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/fluid/simulation.hpp"

namespace tilerail::study {

Plan Question::plan_on(const Topology& changed) const { return plan_job(changed, job).plan; }

Evaluation Question::evaluate_on(const Topology& changed, const Plan& kept) const {
  Evaluation planned = evaluation_of(simulated(plan_on(changed), changed));
  Evaluation as_before = evaluation_of(simulated(kept, changed));
  return planned.makespan <= as_before.makespan ? planned : as_before;
}

Trial try_part(const Question& question, const Plan& kept, const Part& part, double factor,
               std::span<const double> others) {
  const Topology changed = improved(question.topology, part.knobs, factor);
  const Plan plan = question.plan_on(changed);
  Trial trial{evaluation_of(simulated(plan, changed)), evaluation_of(simulated(kept, changed)),
              makespan_of(simulate_fluid(plan, question.topology)).value};
  for (const double other : others) {
    const Topology there = improved(question.topology, part.knobs, other);
    trial.elsewhere.push_back({other, evaluation_of(simulated(plan, there))});
  }
  return trial;
}

double least_factor(double below, double above, const std::function<bool(double)>& holds) {
  constexpr double precise = 1.0 / 16, least = 1.0 / 8, most = 4096;
  if (below == 0) {
    if (holds(least)) return 0;
    below = least;
  }
  if (!std::isfinite(above))
    for (double factor = 2 * below; !holds(above = factor); factor *= 2) {
      if (factor >= most) return without_limit;
      below = factor;
    }
  double low = std::log2(below), high = std::log2(above);
  while (high - low > precise) {
    const double middle = (low + high) / 2;
    (holds(std::exp2(middle)) ? high : low) = middle;
  }
  return std::exp2(high);
}

}  // namespace tilerail::study
