#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/tune/tune.hpp"

namespace tilerail::study {

/// A plan that was found, judged as it will be made again.
struct Finalist {
  TunedPlan tuned;
  double value = 0;  // of the metric that the policy selects by, else minus its seconds: more is better
};

/// What one search has found.
struct Finding {
  std::optional<Finalist> best;                  // none where the preset plans nothing
  std::optional<double> estimated_s, planned_s;  // where the search was that of the policy that was asked for
};

/// The presets that a policy is tuned from: its own, first, and all others where it may take over their ways.
std::vector<std::string> presets_for(const Policy& asked);

/// The best plan for the task that a search by this preset finds, with what the task's policy overrides.
Finding found_by(const std::string& preset, const TuneTask& task, const Topology& machine,
                 const TuneSettings& settings);

/// The plan that the cache has, judged, if it can still be made.
std::optional<Finalist> known_finalist(const TunedPlan& known, const TuneTask& task, const Topology& machine);

/// Runs each of the finalists on the hardware of the settings, and gives them the seconds that they took.
void measure(std::vector<Finalist>& finalists, const TuneTask& task, const Topology& machine,
             const TuneSettings& settings);

}  // namespace tilerail::study
