#include "study/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <string_view>

#include "model/base/contains.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/parse.hpp"
#include "model/base/timer.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_toml.hpp"
#include "plan/json.hpp"
#include "plan/validate.hpp"
#include "sched/decided_plan.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/find_machine.hpp"
#include "study/planning/plan_simulator.hpp"

namespace tilerail::study {
namespace {

/// As in option --devices: numbers of GPUs, names of cores.
std::vector<std::string> processor_names(const Topology& machine) {
  std::vector<std::string> names;
  for (const MemoryId id : machine.processors())
    names.push_back(machine.is_gpu(id) ? std::to_string(machine.processor(id).device)
                                       : machine.processor_name(id));
  return names;
}

InputFile plan_reader(const std::string& file) try {
  return InputFile{file};
} catch (const InputError& error) {
  throw error.subject.empty() ? error.about("plan") : error;
}

Job load_job(const JobText& options) {
  Plan plan = plan_from_json(plan_reader(options.plan_file).stream(), options.plan_file);
  if (const auto* factor = std::get_if<FactorProblem>(&plan.problem))
    throw InputError{"plan", FactorProblem::names[size_t(factor->kind)],
                     "is a factorisation", "a plan of gemm, gemv, dot or axpy",
                     options.plan_file};
  MachineText machine = options.machine;
  if (machine.topology.empty()) {
    machine.topology = plan.machine;
    if (!known_machine(plan.machine))
      throw InputError{
          "topology", plan.machine,
          fmt::format("is the machine of {}, and is unknown", options.plan_file),
          "its file, and the settings that changed it"};
  }
  return {machine.load(), std::move(plan), 0};
}

void apply(Policy& policy, std::string_view key,
           const std::optional<std::string>& value) try {
  if (value) apply_override(policy, fmt::format("{}={}", key, *value));
} catch (const InputError& error) {
  throw InputError{key, *value, error.problem, error.expected};
}

}  // namespace

Topology MachineText::load() const {
  const std::string file = find_machine(topology).string();
  spdlog::debug("machine {}", file);
  return changed(load_topology(file));
}

Topology MachineText::changed(const Topology& machine) const {
  try {
    return with_settings(machine, settings);
  } catch (const InputError& error) {
    throw error.within("topo-set");
  }
}

std::vector<MemoryId> MachineText::resolve_devices(const Topology& machine,
                                                   bool chosen) const {
  if (devices == "all")
    return chosen || machine.gpus().empty() ? machine.processors() : machine.gpus();
  std::vector<std::string> names, numbers;
  for (const std::string_view text : split(devices, ',')) {
    const bool is_name = !text.empty() && std::isalpha(text.front());
    (is_name ? names : numbers).emplace_back(text);
  }
  if (!numbers.empty())
    for (const int number : parse_numbers(boost::join(numbers, ","), "devices"))
      names.push_back(std::to_string(number));
  std::vector<MemoryId> found;
  for (const std::string& name : names) {
    const auto device = machine.find_processor(name);
    if (!device)
      throw InputError{
          "devices", name, "is not a processor of " + machine.name(),
          fmt::format("one of: {}", fmt::join(processor_names(machine), ", "))};
    if (contains(found, *device)) throw given_twice("devices", name);
    found.push_back(*device);
  }
  const auto place = [&](MemoryId device) {
    return std::ranges::find(machine.processors(), device);
  };
  std::ranges::sort(found, {}, place);
  return found;
}

Policy PolicyText::resolve() const {
  Policy policy = any_preset(name);
  if (tile != "auto") apply(policy, "tile", tile);
  apply(policy, "effort", effort);
  std::map<std::string_view, std::string_view> given;  // by field: its assignment
  for (const std::string& assignment : overrides) {
    const auto key = std::string_view{assignment}.substr(0, assignment.find('='));
    if (key == "tile" || key == "effort")
      throw InputError{"set", assignment, "is not a field",
                       fmt::format("an argument of its own, {}", key)};
    const auto [first, fresh] = given.emplace(key, assignment);
    if (!fresh && first->second != assignment)
      throw InputError{"set", assignment, fmt::format("contradicts '{}'", first->second),
                       "one of them"};
    apply_override(policy, assignment);
  }
  return policy;
}

Request JobText::on(const Topology& topology) const {
  const Policy resolved = policy.resolve();
  const GemmProblem given = problem.resolve(topology);
  // Cores of a host lack the copies of a matrix that every GPU has.
  const bool chosen = resolved.device_choice == DeviceChoice::search &&
                      !given.place_a.is_replicated() && !given.place_b.is_replicated();
  return {given, machine.resolve_devices(topology, chosen), resolved};
}

Topology UnchangedPlans::machine_of(const MachineText& text) const {
  const auto known = machines_.find(text.topology);
  return known == machines_.end() ? text.load() : known->second;
}

const Plan* UnchangedPlans::find(JobText job) {
  job.machine.settings.clear();
  std::unique_lock lock{mutex_};
  Entry& entry = plans_[job];
  lock.unlock();
  std::call_once(entry.once, [&] {
    try {
      const Topology machine = machine_of(job.machine);
      const auto [problem, devices, policy] = job.on(machine);
      entry.plan = plan_gemm(problem, machine, devices, policy, plan_simulator(machine));
    } catch (const InputError&) {  // then there is no plan
    }
  });
  return entry.plan ? &*entry.plan : nullptr;
}

namespace {

bool fits(const Plan& plan, const Topology& topology) try {
  require_fit(plan, topology);
  return true;
} catch (const InputError&) {
  return false;
}

/// The policy's plan. If settings change the machine, a search on the unchanged machine
/// may find a plan that is faster on the changed one: then this plan.
Plan searched_plan(const Topology& topology, const JobText& text,
                   UnchangedPlans& unchanged) {
  const auto [problem, devices, policy] = text.on(topology);
  const PlanSimulator simulator = plan_simulator(topology);
  Plan plan = plan_gemm(problem, topology, devices, policy, simulator);
  if (text.machine.settings.empty() || !varies_fields(policy.effort) || policy.select ||
      plan.origin.evaluator != Evaluator::simulator)
    return plan;
  const Plan* const other = unchanged.find(text);
  if (!other || !fits(*other, topology)) return plan;
  const Seconds time = simulator.of(*other).makespan;
  if (time >= simulator.of(plan).makespan) return plan;
  PlanOrigin origin = std::move(plan.origin);
  const size_t before = origin.candidates.size();
  origin.candidates.push_back(
      {"plan of the machine without settings", time.value, Evaluator::simulator});
  origin.reasons = {{PlanReason::fastest, before, before + 1}};
  origin.decisions = other->origin.decisions;
  plan = *other;
  plan.machine = topology.name();
  plan.origin = std::move(origin);
  return plan;
}

}  // namespace

Job plan_job(const Topology& topology, const JobText& text, const TunedPlans& tuned,
             UnchangedPlans* shared) {
  const auto [problem, devices, policy] = text.on(topology);
  const Timer timer;
  UnchangedPlans own;
  Plan plan = tuned.plan(problem, topology, devices, policy, [&] {
    return searched_plan(topology, text, shared ? *shared : own);
  });
  const double spent = timer.seconds();
  spdlog::debug("planned {} operations in {:.3f} s", plan.ops.size(), spent);
  return {topology, std::move(plan), spent, text.problem.place_note(topology)};
}

Job shown_job(const Topology& topology, const JobText& text, const TunedPlans& tuned) {
  Job job = plan_job(topology, text, tuned);
  job.plan.origin.without_effect =
      without_effect(job.plan, topology, text.policy.resolve());
  return job;
}

Job make_job(const JobText& options) {
  if (!options.plan_file.empty()) {
    Job job = load_job(options);
    try {
      require_fit(job.plan, job.topology);
    } catch (const InputError& error) {
      throw error.at(options.plan_file);
    }
    return job;
  }
  const Topology topology = options.machine.load();
  const TunedPlans tuned{options.plan_cache, topology};
  return shown_job(topology, options, tuned);
}

}  // namespace tilerail::study
