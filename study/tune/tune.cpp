#include "study/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "sched/policy/fields.hpp"
#include "study/tune/finalists.hpp"

namespace tilerail::study {
namespace {

void refuse_fixed(const Policy& policy) {
  if (policy.ways == Ways::search) return;
  throw InputError{"policy", name_of(policy), "leaves nothing to tune: its choice is its own",
                   "one that searches, such as tilerail"};
}

void refuse_idle(const TuneTask& task) {
  const GemmProblem& p = task.problem;
  if (p.m > 0 && p.n > 0 && !(p.scales_only() && p.beta == 1)) return;
  throw InputError{"there is nothing to do", "sizes and scalars that change a result"}.at(text_of(task.key));
}

/// What CPU threads take in place of GPUs says nothing about these. Calibrated hosts have workers instead, whose
/// engines do copies and kernels alike.
void refuse_stand_ins(const std::vector<TuneTask>& tasks, const Topology& machine, const std::string& backend) {
  if (backend != "host") return;
  for (const TuneTask& task : tasks)
    for (const MemoryId device : task.devices)
      if (!machine.memory(device).engines.total)
        throw InputError{
            "devices", machine.memory(device).name,
            fmt::format("of machine '{}' is a GPU, for which CPU threads would only stand in", machine.name()),
            "a machine that was calibrated on the host"};
}

/// Nothing measures the energy of a plan here.
void refuse_metrics(const std::vector<TuneTask>& tasks, const std::string& backend) {
  if (is_simulation(backend)) return;
  for (const TuneTask& task : tasks)
    if (task.policy.select && task.policy.select->needs_energy)
      throw InputError{"backend", backend,
                       fmt::format("measures times only, and policy '{}' selects by {}", name_of(task.policy),
                                   task.policy.select->name),
                       "fluid"};
}

/// A search: one of the presets that a task is tuned from; on hardware all of them, since it is measured at the end.
struct Search {
  size_t task;
  std::vector<std::string> presets;
};

class Tuning {
 public:
  Tuning(const std::vector<TuneTask>& tasks, const Topology& machine, const std::string& file,
         const TuneSettings& settings)
      : tasks_{tasks}, machine_{machine}, file_{file}, settings_{settings}, owner_{owner_of(machine)} {}

  std::vector<TuneResult> run(Workers workers) {
    look_up();
    list_searches();
    if (on_hardware()) workers.count = 1;
    std::mutex one_at_a_time;
    in_parallel(workers, searches_.size(), [&](size_t number) {
      Finding found;
      std::string error;
      try {
        found = found_by(searches_[number]);
      } catch (const InputError& refused) {
        error = refused.what();
      } catch (const ExecutionError& failed) {
        error = failed.what();
      }
      const std::lock_guard lock{one_at_a_time};
      add(number, std::move(found), std::move(error));
    });
    return std::move(results_);
  }

 private:
  bool on_hardware() const { return !is_simulation(settings_.backend); }

  void look_up() {
    require_writable_plan_cache(file_, owner_);  // before any work
    before_ = present_plan_cache(file_, owner_).plans;
    for (const TuneTask& task : tasks_) {
      TuneResult result{.key = task.key};
      const auto known = before_.find(task.key);
      if (known != before_.end() && !settings_.again && is_enough(known->second, task)) {
        result.tuned = known->second;
        result.known = true;
      }
      results_.push_back(std::move(result));
    }
  }

  bool is_enough(const TunedPlan& known, const TuneTask& task) const {
    const bool judged = !on_hardware() || known.judge == TunedBy::measurement;
    return judged && known.version == settings_.version && known.budget >= settings_.budget &&
           known_finalist(known, task, machine_);
  }

  void list_searches() {
    for (const auto i : indices(tasks_)) {
      if (results_[i].known) continue;
      const std::vector<std::string> presets = presets_for(tasks_[i].policy);
      if (on_hardware())
        searches_.push_back({i, presets});
      else
        for (const std::string& name : presets) searches_.push_back({i, {name}});
      waiting_[i] = on_hardware() ? 1 : presets.size();
    }
  }

  Finding found_by(const Search& search) const {
    const TuneTask& task = tasks_[search.task];
    Finding all;
    std::vector<Finalist> finalists;
    int64_t tried = 0;
    for (const std::string& name : search.presets) {
      const Finding found = study::found_by(name, task, machine_, settings_);
      if (found.planned_s) all.estimated_s = found.estimated_s, all.planned_s = found.planned_s;
      if (!found.best) continue;
      tried += found.best->tuned.tried;
      finalists.push_back(*found.best);
    }
    if (const auto known = before_.find(task.key); known != before_.end())
      if (auto old = known_finalist(known->second, task, machine_)) finalists.push_back(std::move(*old));
    if (on_hardware()) measure(finalists, task, machine_, settings_);
    for (Finalist& each : finalists)
      if (!all.best || each.value > all.best->value) all.best = std::move(each);
    if (all.best) all.best->tuned.tried = tried, stamp(all.best->tuned);
    return all;
  }

  void stamp(TunedPlan& tuned) const { tuned.budget = settings_.budget, tuned.version = settings_.version; }

  void add(size_t search, Finding found, std::string error) {
    const size_t task = searches_[search].task;
    TuneResult& result = results_[task];
    if (!error.empty()) result.error = std::move(error);
    if (found.planned_s) result.estimated_s = found.estimated_s, result.planned_s = found.planned_s;
    if (found.best) tried_[task] += found.best->tuned.tried;
    if (found.best && is_better(*found.best, search)) best_[task] = {std::move(*found.best), search};
    if (--waiting_[task] == 0) keep(task);
  }

  /// Of equal ones the first by number, whichever ends first.
  bool is_better(const Finalist& found, size_t search) const {
    const auto known = best_.find(searches_[search].task);
    if (known == best_.end()) return true;
    const auto& [best, number] = known->second;
    return found.value > best.value || (found.value == best.value && search < number);
  }

  void keep(size_t task) {
    TuneResult& result = results_[task];
    if (!best_.contains(task)) {
      if (result.error.empty()) result.error = "no preset plans it";
      return;
    }
    TunedPlan tuned = std::move(best_[task].first.tuned);
    tuned.tried = tried_[task];
    if (!result.error.empty()) tuned.budget = 0;  // it is tuned again: not all has been searched
    const auto before = before_.find(result.key);
    update_plan_cache(file_, owner_, [&](PlanCache& cache) {
      const auto now = cache.plans.try_emplace(result.key, tuned).first;
      // What was there has been weighed already, unless another process has found it in the meantime.
      const bool is_weighed = before != before_.end() && before->second == now->second;
      if (is_weighed || goes_before(tuned, now->second)) now->second = tuned;
      result.tuned = now->second;
    });
  }

  const std::vector<TuneTask>& tasks_;
  const Topology& machine_;
  const std::string& file_;
  const TuneSettings& settings_;
  const CacheOwner owner_;
  std::map<PlanKey, TunedPlan> before_;
  std::vector<TuneResult> results_;                     // by task, as are the next three
  std::map<size_t, size_t> waiting_;                    // for so many searches
  std::map<size_t, std::pair<Finalist, size_t>> best_;  // and the number of its search
  std::map<size_t, int64_t> tried_;
  std::vector<Search> searches_;
};

}  // namespace

Topology machine_of_tune(const Sweep& sweep) {
  for (const SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys)
      if (key == "topology" || begins_as_setting(key))
        throw InputError{"vary", key, "changes the machine", "one machine for all plans of a cache", axis.place};
  const Machines machines = check_sweep(sweep);
  return machine_of(sweep.base, machines);
}

std::vector<TuneTask> tune_tasks(const Sweep& sweep, const Topology& machine) {
  std::vector<TuneTask> tasks;
  std::set<PlanKey> known;
  for (size_t point = 0; point < sweep.points(); ++point) {
    TuneTask task{sweep.job(point).on(machine), {}};
    refuse_fixed(task.policy);
    task.key = key_of(task.problem, machine, task.devices, name_of(task.policy));
    refuse_idle(task);
    if (known.insert(task.key).second) tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<TuneResult> tune(const std::vector<TuneTask>& tasks, const Topology& machine, const std::string& file,
                             const TuneSettings& settings, const Workers& workers) {
  refuse_metrics(tasks, settings.backend);
  refuse_stand_ins(tasks, machine, settings.backend);
  return Tuning{tasks, machine, file, settings}.run(workers);
}

}  // namespace tilerail::study
