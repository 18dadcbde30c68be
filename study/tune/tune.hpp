#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "study/parallel.hpp"
#include "study/planning/plan_cache.hpp"
#include "study/runner.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::study {

struct TuneSettings {
  Effort effort = Effort::high;  // of the search from each preset
  bool again = false;            // also tune known problems
  std::string backend =
      fluid_backend;     // host or cuda: run the best plans there and take the fastest
  RunSettings run = {};  // for host and cuda
};

/// A problem to tune, on the machine of all tasks.
struct TuneTask : Request {
  PlanKey key;
};

/// The result of a task. Seconds are simulated or measured.
struct TuneResult {
  PlanKey key;
  std::optional<TunedPlan> tuned = {};  // nullopt if all searches failed
  bool known = false;                   // in the file already
  /// With the plan chosen by the estimate alone, and by the policy itself.
  std::optional<double> estimated_s = {}, planned_s = {};
  std::string error = {};  // of any preset's search, even if others found a plan
};

/// Tasks for the points of a sweep whose keys do not change the machine. Points with
/// equal plan keys share a task. Throws InputError, also if a policy leaves nothing to
/// search.
std::vector<TuneTask> tune_tasks(const Sweep& sweep, const Topology& machine);

/// The machine of all points. Throws InputError for a key that changes it.
Topology machine_of_tune(const Sweep& sweep);

/// Tunes the tasks one after another, with a task's presets in parallel. Saves each
/// result immediately. Skips tasks that the file contains from the same version with at
/// least this effort. Results are in the order of the tasks. Throws HardwareError if the
/// hardware is missing.
std::vector<TuneResult> tune(const std::vector<TuneTask>& tasks, const Topology& machine,
                             const std::string& file, const TuneSettings& settings,
                             const Workers& workers);

}  // namespace tilerail::study
