#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "model/error.hpp"
#include "model/workload.hpp"

namespace tilerail {
namespace {

using Subset = std::vector<std::size_t>;

class Best {
 public:
  Best(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric)
      : problem_{problem}, metric_{metric}, model_{problem, map} {}

  /// Its metric; 0 where some device has no way to an operand.
  double look_at(const Subset& subset) {
    Workload workload = model_.predict(subset);
    if (!std::isfinite(workload.seconds)) return 0;
    const double value = workload.seconds > 0 ? metric_.of(workload.outcome(problem_)) : 0;
    constexpr double tie = 1e-9;
    if (!best_ || value > (1 + tie) * value_) best_ = std::move(workload), value_ = value;
    return value;
  }

  Workload found() {
    if (best_) return std::move(*best_);
    throw InputError{"devices: none of them has routes to all operands; expected at least one"};
  }

 private:
  const WorkloadProblem& problem_;
  const Metric& metric_;
  WorkloadModel model_;
  std::optional<Workload> best_;
  double value_ = 0;
};

Subset all_of(const WorkloadProblem& problem) {
  Subset all(problem.devices.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Workload best_workload_of_all(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric) {
  Best best{problem, map, metric};
  const std::size_t count = problem.devices.size();
  for (std::size_t size = 1; size <= count; ++size) {
    std::vector<bool> taken(count, false);
    std::fill_n(taken.begin(), size, true);
    do {
      Subset subset;
      for (std::size_t d = 0; d < count; ++d)
        if (taken[d]) subset.push_back(d);
      best.look_at(subset);
    } while (std::prev_permutation(taken.begin(), taken.end()));
  }
  return best.found();
}

Workload best_workload_by_beam(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric) {
  Best best{problem, map, metric};
  const std::size_t count = problem.devices.size();
  std::vector<Subset> beam{{}};
  for (std::size_t size = 1; size < count; ++size) {
    std::set<Subset> extended;
    for (const Subset& subset : beam)
      for (std::size_t d = 0; d < count; ++d) {
        const auto place = std::lower_bound(subset.begin(), subset.end(), d);
        if (place != subset.end() && *place == d) continue;
        Subset larger = subset;
        larger.insert(larger.begin() + (place - subset.begin()), d);
        extended.insert(std::move(larger));
      }
    std::vector<std::pair<double, Subset>> ranked;
    for (const Subset& subset : extended) ranked.emplace_back(best.look_at(subset), subset);
    std::stable_sort(ranked.begin(), ranked.end(), [](auto& a, auto& b) { return a.first > b.first; });
    beam.clear();
    for (std::size_t i = 0; i < std::min(workload_beam, ranked.size()); ++i) beam.push_back(ranked[i].second);
  }
  best.look_at(all_of(problem));
  return best.found();
}

Workload best_workload(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric) {
  return problem.devices.size() <= exhaustive_devices ? best_workload_of_all(problem, map, metric)
                                                      : best_workload_by_beam(problem, map, metric);
}

}  // namespace tilerail
