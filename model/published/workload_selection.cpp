#include "model/published/workload_selection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

using Subset = std::vector<std::size_t>;

/// Predicted workloads and their metrics, in the order in which they were looked at.
class Workloads {
 public:
  Workloads(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric, const SelectionRule& rule)
      : problem_{problem}, metric_{metric}, rule_{rule}, model_{problem, map} {}

  /// Predicts a subset and returns its metric; 0 where some device has no way to an operand.
  double look_at(const Subset& subset) {
    Workload workload = model_.predict(subset);
    if (!std::isfinite(workload.time.value)) return 0;
    Outcome outcome = workload.outcome(problem_);
    outcome.time = outcome.time * (1 + rule_.further_device * static_cast<double>(subset.size() - 1));
    const double value = workload.time > Seconds{0} ? metric_.of(outcome) : 0;
    all_.emplace_back(value, std::move(workload));
    return value;
  }

  std::vector<Workload> ranked() {
    if (all_.empty()) throw fault_of("devices", "none of them has routes to all operands", "at least one");
    std::ranges::stable_sort(all_, [](auto& a, auto& b) { return a.first > b.first; });
    // Of those that are as good as the best, the one with the fewest devices.
    auto best = all_.begin();
    for (auto other = all_.begin(); other != all_.end() && all_.front().first <= (1 + rule_.equal) * other->first;
         ++other)
      if (other->second.active.size() < best->second.active.size()) best = other;
    std::rotate(all_.begin(), best, best + 1);
    std::vector<Workload> workloads;
    for (auto& [value, workload] : all_) workloads.push_back(std::move(workload));
    return workloads;
  }

 private:
  const WorkloadProblem& problem_;
  const Metric& metric_;
  SelectionRule rule_;
  WorkloadModel model_;
  std::vector<std::pair<double, Workload>> all_;
};

Subset all_of(const WorkloadProblem& problem) {
  Subset all(problem.devices.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

std::vector<Workload> ranked_of_all_subsets(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric,
                                            const SelectionRule& rule) {
  Workloads workloads{problem, map, metric, rule};
  const std::size_t count = problem.devices.size();
  for (std::size_t size = 1; size <= count; ++size) {
    std::vector<bool> taken(count, false);
    std::fill_n(taken.begin(), size, true);
    do {
      Subset subset;
      for (std::size_t d = 0; d < count; ++d)
        if (taken[d]) subset.push_back(d);
      workloads.look_at(subset);
    } while (std::prev_permutation(taken.begin(), taken.end()));
  }
  return workloads.ranked();
}

std::vector<Workload> ranked_by_beam(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric,
                                     const SelectionRule& rule) {
  Workloads workloads{problem, map, metric, rule};
  const std::size_t count = problem.devices.size();
  std::vector<Subset> beam{{}};
  for (std::size_t size = 1; size < count; ++size) {
    std::set<Subset> extended;
    for (const Subset& subset : beam)
      for (std::size_t d = 0; d < count; ++d) {
        const auto place = std::ranges::lower_bound(subset, d);
        if (place != subset.end() && *place == d) continue;
        Subset larger = subset;
        larger.insert(larger.begin() + (place - subset.begin()), d);
        extended.insert(std::move(larger));
      }
    std::vector<std::pair<double, Subset>> ranked;
    for (const Subset& subset : extended) ranked.emplace_back(workloads.look_at(subset), subset);
    std::ranges::stable_sort(ranked, [](auto& a, auto& b) { return a.first > b.first; });
    beam.clear();
    for (std::size_t i = 0; i < std::min(workload_beam, ranked.size()); ++i) beam.push_back(ranked[i].second);
  }
  workloads.look_at(all_of(problem));
  return workloads.ranked();
}

std::vector<Workload> ranked_workloads(const WorkloadProblem& problem, const LinkMap& map, const Metric& metric,
                                       const SelectionRule& rule) {
  return problem.devices.size() <= exhaustive_devices ? ranked_of_all_subsets(problem, map, metric, rule)
                                                      : ranked_by_beam(problem, map, metric, rule);
}

}  // namespace tilerail
