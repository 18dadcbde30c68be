#include "study/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/parse.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_toml.hpp"
#include "plan/json.hpp"
#include "plan/validate.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/planning/find_machine.hpp"
#include "study/planning/judge.hpp"

namespace tilerail::study {
namespace {

std::vector<int> gpu_numbers(const Topology& machine) {
  std::vector<int> numbers;
  for (MemoryId gpu : machine.gpus()) numbers.push_back(machine.memory(gpu).device);
  return numbers;
}

InputFile plan_reader(const std::string& file) try { return InputFile{file}; } catch (const InputError& error) {
  throw InputError{fmt::format("--plan: {}", error.what())};
}

Job load_job(const JobText& options) {
  Plan plan = plan_from_json(plan_reader(options.plan_file).stream(), options.plan_file);
  if (!options.machine.topology.empty()) return {options.machine.load(), std::move(plan), 0};
  MachineText machine = options.machine;
  machine.topology = plan.machine;
  try {
    return {machine.load(), std::move(plan), 0};
  } catch (const InputError& error) {
    throw InputError{
        fmt::format("{}; {}: the plan is for '{}': expected its file by --topology, and what was changed of it "
                    "by --topo-set",
                    error.what(), options.plan_file, plan.machine)};
  }
}

void apply_tile(Policy& policy, const std::string& tile) {
  if (tile == "auto") return;
  const std::int64_t size = parse_size(tile, "--tile");
  if (size == 0) throw InputError{"--tile: '0' is not a tile size; write a positive size or auto"};
  apply_override(policy, fmt::format("tile={}", size));
}

}  // namespace

Topology MachineText::load() const {
  if (topology.empty() && !backend.empty())
    throw InputError{
        fmt::format("--topology: the machine is missing; 'tilerail calibrate --backend {} -o machine.toml' "
                    "describes this one",
                    backend)};
  if (topology.empty()) {
    throw InputError{fmt::format("{}: the machine is missing; give a .toml file or one of: {}", option,
                                 fmt::join(machine_names(), ", "))};
  }
  const std::string file = find_machine(topology, option, folder).string();
  spdlog::debug("machine {}", file);
  return changed(load_topology(file));
}

Topology MachineText::changed(const Topology& machine) const {
  try {
    return with_settings(machine, settings);
  } catch (const InputError& error) {
    throw InputError{fmt::format("--topo-set: {}", error.what())};
  }
}

std::vector<MemoryId> MachineText::resolve_devices(const Topology& machine) const {
  if (devices == "all") return machine.gpus();
  std::vector<MemoryId> gpus;
  auto numbers = parse_numbers(devices, "--devices");
  std::sort(numbers.begin(), numbers.end());
  for (int number : numbers) {
    const auto gpu = machine.find_gpu(number);
    if (!gpu) {
      throw InputError{fmt::format("--devices: {} has no GPU {}; it has: {}", machine.name(), number,
                                   fmt::join(gpu_numbers(machine), ", "))};
    }
    gpus.push_back(*gpu);
  }
  return gpus;
}

Policy PolicyText::resolve() const {
  Policy policy = preset(name);
  std::map<std::string_view, std::string> given;  // by field: what gives it
  if (tile) {
    apply_tile(policy, *tile);
    given["tile"] = "--tile " + *tile;
  }
  for (const std::string& assignment : overrides) {
    const auto [first, fresh] =
        given.emplace(std::string_view{assignment}.substr(0, assignment.find('=')), "--set " + assignment);
    if (!fresh && first->second != "--set " + assignment)
      throw InputError{
          fmt::format("--set {}: '{}' is given by {}, too; expected it once", assignment, first->first, first->second)};
    apply_override(policy, assignment);
  }
  return policy;
}

Job plan_job(const Topology& topology, const ProblemText& problem, const MachineText& machine, const PolicyText& text,
             const TunedPlans& tuned) {
  const GemmProblem resolved = problem.resolve(topology);
  const std::vector<MemoryId> devices = machine.resolve_devices(topology);
  const Policy policy = text.resolve();
  const auto begin = std::chrono::steady_clock::now();
  TunedPlans::Answer known = tuned.find(resolved, topology, devices, policy);
  if (!known.plan) {
    known.plan = plan_gemm(resolved, topology, devices, policy, judge_of(topology));
    note_origin(*known.plan, known.note);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  spdlog::debug("planned {} operations in {:.3f} s", known.plan->ops.size(), spent.count());
  return {topology, std::move(*known.plan), spent.count(), known.note, problem.place_note(topology)};
}

Job make_job(const JobText& options) {
  if (!options.plan_file.empty()) {
    Job job = load_job(options);
    try {
      require_fit(job.plan, job.topology);
    } catch (const InputError& error) {
      throw InputError{fmt::format("--plan: {}: {}", options.plan_file, error.what())};
    }
    return job;
  }
  const Topology topology = options.machine.load();
  const TunedPlans tuned{options.plan_cache, "--plan-cache", topology};
  return plan_job(topology, options.problem, options.machine, options.policy, tuned);
}

}  // namespace tilerail::study
