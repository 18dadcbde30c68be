#include "study/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "sched/decided_plan.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/policy.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/plan_simulator.hpp"

namespace tilerail::study {
namespace {

void refuse_fixed(const Policy& policy) {
  if (varies_fields(any_preset(policy.preset).effort)) return;
  throw InputError{"policy", name_of(policy), "cannot be tuned: it does not search",
                   "one that searches, such as tilerail"};
}

void refuse_idle(const TuneTask& task) {
  const GemmProblem& p = task.problem;
  if (p.m > 0 && p.n > 0 && !(p.scales_only() && p.beta == 1)) return;
  throw changes_nothing(text_of(task.key));
}

/// CPU threads in place of GPUs cannot measure plans of GPUs. Calibrated hosts differ
/// from GPUs: their workers execute both copies and kernels.
void refuse_stand_ins(const std::vector<TuneTask>& tasks, const Topology& machine,
                      const std::string& backend) {
  if (backend != "host") return;
  for (const TuneTask& task : tasks)
    for (const MemoryId device : task.devices)
      if (!machine.memory(device).engines().total)
        throw InputError{
            "devices", machine.processor_name(device),
            fmt::format(
                "of machine '{}' is a GPU, for which CPU threads would only stand in",
                machine.name()),
            "a machine that was calibrated on the host"};
}

/// The energy of a plan is not measured.
void refuse_metrics(const std::vector<TuneTask>& tasks, const std::string& backend) {
  if (is_simulation(backend)) return;
  for (const TuneTask& task : tasks)
    if (task.policy.select && task.policy.select->needs_energy)
      throw InputError{"backend", backend,
                       fmt::format("measures times only, and policy '{}' selects by {}",
                                   name_of(task.policy), task.policy.select->name),
                       "fluid"};
}

bool has_metric(const TuneTask& task) {
  return task.policy.select && task.problem.has_product();
}

/// A plan found by a search, evaluated as it will be rebuilt.
struct Finalist {
  TunedPlan tuned;
  double value = 0;  // the policy's metric, else minus its seconds: more is better

  void rate(const TuneTask& task, const PlanCost& cost) {
    tuned.seconds = cost.makespan.value;
    value = -tuned.seconds;
    if (!has_metric(task)) return;
    if (tuned.seconds > 0)
      value = task.policy.select->of(
          {task.problem.flops(), cost.makespan, cost.energy.value_or(Joules{1})});
    tuned.metric = value;
  }
};

/// The result of one preset's search.
struct Finding {
  std::optional<Finalist> best = {};  // nullopt if the preset plans nothing
  int64_t tried = 0;
  std::optional<double> estimated_s = {},
                        planned_s = {};  // if the preset is the policy's
  std::string error = {};
};

/// The presets to search from: the policy's own first.
std::vector<std::string> presets_for(const Policy& asked) {
  std::vector<std::string> names{asked.preset};
  for (const std::string& name : any_preset_names())
    if (name != asked.preset) names.push_back(name);
  return names;
}

/// The preset with all searchable fields left open, and the overrides of the task's
/// policy.
Policy searching(const std::string& name, const TuneTask& task, Effort effort) {
  Policy policy =
      name == task.policy.preset ? task.policy : without_emulation(any_preset(name));
  if (name != task.policy.preset) {
    policy.device_choice = DeviceChoice::search, policy.tile_choice = TileChoice::search;
    policy.select_ms = task.policy.select_ms;
    for (const auto& [key, value, _] : task.policy.overridden)
      apply_override(policy, fmt::format("{}={}", key, value));
  }
  policy.effort = effort;
  return policy;
}

class Tuning {
 public:
  Tuning(const Topology& machine, const std::string& file, const TuneSettings& settings,
         const Workers& workers)
      : machine_{machine},
        file_{file},
        settings_{settings},
        on_hardware_{!is_simulation(settings.backend)},
        workers_{.count = on_hardware_ ? 1 : workers.count},
        owner_{owner_of(machine)} {
    require_writable_plan_cache(file_, owner_);  // fail before any work
    known_ = present_plan_cache(file_, owner_).plans;
  }

  TuneResult tuned(const TuneTask& task) const {
    TuneResult result{.key = task.key};
    std::optional<Finalist> old;
    if (const auto known = known_.find(task.key); known != known_.end()) {
      old = known_finalist(known->second, task);
      if (old && !settings_.again && is_enough(known->second)) {
        result.tuned = known->second;
        result.known = true;
        return result;
      }
    }
    search(task, std::move(old), result);
    if (result.tuned)
      keep_plan(file_, owner_, task.key, *result.tuned);
    else if (result.error.empty())
      result.error = "no preset plans it";
    return result;
  }

 private:
  bool is_enough(const TunedPlan& known) const {
    const bool evaluated = !on_hardware_ || known.evaluator == Evaluator::measurement;
    return evaluated && known.version == program_version() &&
           known.effort >= settings_.effort;
  }

  Plan decided(const TuneTask& task, const std::vector<PlanDecision>& decisions) const {
    return plan_decided(task.problem, machine_, task.devices, task.policy, decisions);
  }

  /// The cached plan, evaluated, if it can still be built.
  std::optional<Finalist> known_finalist(const TunedPlan& known,
                                         const TuneTask& task) const try {
    Plan plan = decided(task, known.decisions);
    if (tuned_hash(plan) != known.plan_hash) return std::nullopt;
    Finalist result{known};
    result.rate(task, plan_simulator(machine_).of(plan));
    result.tuned.evaluator = Evaluator::simulator;
    return result;
  } catch (const InputError&) {  // of decisions edited by hand
    return std::nullopt;
  }

  /// Evaluates the plan as it will be rebuilt, regardless of the search's own evaluation.
  /// Returns its seconds.
  double consider(Finding& finding, const Policy& policy, const TuneTask& task) const {
    const Plan plan =
        plan_gemm(task.problem, machine_, task.devices, policy, plan_simulator(machine_));
    finding.tried += std::max<int64_t>(1, int64_t(plan.origin.candidates.size()));
    Finalist found;
    found.tuned.decisions = decisions_of(plan, machine_, policy);
    Plan again = decided(task, found.tuned.decisions);
    found.rate(task, plan_simulator(machine_).of(again));
    found.tuned.preset = policy.preset, found.tuned.plan_hash = tuned_hash(again);
    const double seconds = found.tuned.seconds;
    if (!finding.best || found.value > finding.best->value)
      finding.best = std::move(found);
    return seconds;
  }

  Finding found_by(const std::string& preset, const TuneTask& task) const {
    Finding finding;
    const bool is_own = preset == task.policy.preset;
    try {
      if (is_own) {
        Policy estimating = task.policy;
        estimating.effort = Effort::fast;
        finding.estimated_s = consider(finding, estimating, task);
        finding.planned_s = consider(finding, task.policy, task);
      }
      consider(finding, searching(preset, task, settings_.effort), task);
    } catch (const InputError& error) {  // other presets may succeed
      if (is_own) finding.error = error.what();
    }
    return finding;
  }

  void search(const TuneTask& task, std::optional<Finalist> old,
              TuneResult& result) const {
    const std::vector<std::string> presets = presets_for(task.policy);
    std::vector<Finding> findings(presets.size());
    in_parallel(workers_, presets.size(),
                [&](size_t i) { findings[i] = found_by(presets[i], task); });
    result.estimated_s = findings.front().estimated_s,
    result.planned_s = findings.front().planned_s;
    result.error = findings.front().error;
    std::vector<Finalist> finalists;
    int64_t tried = 0;
    for (Finding& finding : findings) {
      tried += finding.tried;
      if (finding.best) finalists.push_back(std::move(*finding.best));
    }
    if (old) finalists.push_back(std::move(*old));
    if (finalists.empty()) return;
    try {
      if (on_hardware_) measure(finalists, task);
    } catch (const InputError& error) {
      result.error = error.what();
      return;
    } catch (const ExecutionError& error) {
      result.error = error.what();
      return;
    }
    result.tuned = std::ranges::max_element(finalists, {}, &Finalist::value)->tuned;
    result.tuned->tried = tried;
    result.tuned->version = program_version();
    // A result with an error is tuned again by a search of more effort.
    result.tuned->effort = result.error.empty() ? settings_.effort : Effort::fast;
  }

  /// Runs each finalist on the hardware of the settings.
  void measure(std::vector<Finalist>& finalists, const TuneTask& task) const {
    std::vector<Plan> plans;
    for (const Finalist& each : finalists)
      plans.push_back(decided(task, each.tuned.decisions));
    std::vector<const Plan*> all;
    for (const Plan& plan : plans) all.push_back(&plan);
    Runner runner{settings_.backend, machine_, all, settings_.run};
    for (const auto i : indices(plans)) {
      finalists[i].rate(task, {Seconds{runner.run(plans[i]).median()}, {}, {}});
      finalists[i].tuned.evaluator = Evaluator::measurement;
    }
  }

  const Topology& machine_;
  const std::string& file_;
  const TuneSettings& settings_;
  const bool on_hardware_;
  const Workers workers_;
  const CacheOwner owner_;
  std::map<PlanKey, TunedPlan> known_;
};

}  // namespace

Topology machine_of_tune(const Sweep& sweep) {
  for (const SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys)
      if (key == "topology" || begins_as_setting(key))
        throw InputError{axis.place, key, "changes the machine",
                         "one machine for all plans of a cache"};
  const Machines machines = check_sweep(sweep);
  return machine_of(sweep.base, machines);
}

std::vector<TuneTask> tune_tasks(const Sweep& sweep, const Topology& machine) {
  std::vector<TuneTask> tasks;
  std::set<PlanKey> known;
  for (size_t point = 0; point < sweep.points(); ++point) {
    TuneTask task{sweep.job(point).on(machine), {}};
    refuse_fixed(task.policy);
    task.key = key_of(task.problem, machine, task.devices, task.policy);
    refuse_idle(task);
    if (known.insert(task.key).second) tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<TuneResult> tune(const std::vector<TuneTask>& tasks, const Topology& machine,
                             const std::string& file, const TuneSettings& settings,
                             const Workers& workers) {
  refuse_metrics(tasks, settings.backend);
  refuse_stand_ins(tasks, machine, settings.backend);
  const Tuning tuning{machine, file, settings, workers};
  std::vector<TuneResult> results;
  for (const TuneTask& task : tasks) {
    results.push_back(tuning.tuned(task));
    workers.ended(results.size(), tasks.size());
  }
  return results;
}

}  // namespace tilerail::study
