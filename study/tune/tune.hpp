#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
  int64_t budget =
      1'000'000;       // operations of plans that the search of each preset may judge
  bool again = false;  // also what is known already
  std::string backend = fluid_backend;  // or host, cuda: the best plans are run there,
                                        // and the fastest of them is taken
  RunSettings run = {};                 // there
};

/// A problem that is to be tuned, on the machine of all of them.
struct TuneTask : Request {
  PlanKey key;
};

/// What became of it. Seconds by whoever judged.
struct TuneResult {
  PlanKey key;
  std::optional<TunedPlan> tuned = {};  // none where all failed
  bool known = false;                   // from the file: it was tuned before
  /// Of what the estimate alone, and of what the policy itself chooses.
  std::optional<double> estimated_s = {}, planned_s = {};
  std::string error = {};  // also of one preset's search, where others have found a plan
};

/// The points of a sweep whose keys do not change the machine. Points that ask for one
/// plan are one task. Throws InputError, also for a policy that leaves nothing to search.
std::vector<TuneTask> tune_tasks(const Sweep& sweep, const Topology& machine);

/// The machine of all points. Throws InputError naming the key that changes it.
Topology machine_of_tune(const Sweep& sweep);

/// Tunes one after another, the presets of each side by side; each goes into the file as
/// soon as it is known. What the file has from the same program, with as large a budget,
/// is not done again. Results are in the order of the tasks. Throws HardwareError where
/// there is no such hardware.
std::vector<TuneResult> tune(const std::vector<TuneTask>& tasks, const Topology& machine,
                             const std::string& file, const TuneSettings& settings,
                             const Workers& workers);

}  // namespace tilerail::study
