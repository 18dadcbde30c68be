#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "cli/judge.hpp"
#include "cli/locate.hpp"
#include "cli/option_group.hpp"
#include "cli/parse.hpp"
#include "cli/progress.hpp"
#include "model/error.hpp"
#include "report/files.hpp"
#include "sched/scheduler.hpp"

namespace tilerail::cli {
namespace {

std::vector<int> gpu_numbers(const Topology& machine) {
  std::vector<int> numbers;
  for (MemoryId gpu : machine.gpus()) numbers.push_back(machine.memory(gpu).device);
  return numbers;
}

Job load_job(const JobOptions& options) {
  Plan plan = plan_from_json(read_file(options.plan_file), options.plan_file);
  MachineOptions machine = options.machine;
  if (machine.topology.empty()) machine.topology = plan.machine;
  return {machine.load(), std::move(plan), 0};
}

}  // namespace

void MachineOptions::add_to(CLI::App& app) {
  OptionGroup group{app, "MACHINE"};
  group.add("--topology", "FILE|NAME", topology, "A machine's .toml file or name ('tilerail topo list')");
  group.add("--devices", "LIST", devices, "GPUs to use: all, or numbers such as 0,2,4-6 [all]");
}

Topology MachineOptions::load() const {
  if (topology.empty()) {
    throw InputError{fmt::format("--topology: the machine is missing; give a .toml file or one of: {}",
                                 fmt::join(topology_names(), ", "))};
  }
  const std::string file = find_topology(topology, "--topology").string();
  spdlog::debug("machine {}", file);
  return load_topology(file);
}

std::vector<MemoryId> MachineOptions::resolve_devices(const Topology& machine) const {
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

void PolicyOptions::add_to(CLI::App& app) {
  OptionGroup group{app, "POLICY"};
  group.add("--policy", "NAME", name, "A preset ('tilerail policies') [tilerail]");
  group.add("--tile", "T", tile, "Tile size, auto, or auto:HOW, one of tile-choice [auto]");
  group.add("--select", "METRIC", select, "Devices by perf, edp or pdp, or none: those of --devices [the preset's]");
  group.add("--set", "KEY=VALUE", overrides, "Overrides one field of the preset");
}

Policy PolicyOptions::resolve() const {
  Policy policy = preset(name);
  constexpr std::string_view chosen = "auto:";
  if (tile.starts_with(chosen)) {
    const std::string choice = tile.substr(chosen.size());
    try {
      apply_override(policy, "tile-choice=" + choice);
    } catch (const InputError& error) {
      throw InputError{fmt::format("--tile: '{}' is no way to choose a tile: {}", choice, error.what())};
    }
  } else if (tile != "auto") {
    const std::int64_t size = parse_size(tile, "--tile");
    if (size == 0) throw InputError{"--tile: '0' is not a tile size; write a positive size or auto"};
    apply_override(policy, fmt::format("tile={}", size));
  }
  if (!select.empty()) {
    try {
      apply_override(policy, "select=" + select);
    } catch (const InputError& error) {
      throw InputError{fmt::format("--select: '{}' is no metric: {}", select, error.what())};
    }
  }
  for (const std::string& assignment : overrides) apply_override(policy, assignment);
  return policy;
}

void JobOptions::add_to(CLI::App& app, bool plan_file_allowed) {
  problem.add_to(app);
  machine.add_to(app);
  policy.add_to(app);
  if (!plan_file_allowed) return;
  CLI::Option* plan =
      OptionGroup{app, "PLAN"}.add("--plan", "FILE", plan_file, "Take this plan instead of PROBLEM and POLICY");
  for (const char* name :
       {"--gemm", "--gemv", "--dot", "--axpy", "--dtype", "--transa", "--transb", "--alpha", "--beta", "--place",
        "--lda", "--ldb", "--ldc", "--devices", "--policy", "--tile", "--select", "--set"}) {
    plan->excludes(app.get_option(name));
  }
}

Job plan_job(const Topology& topology, const ProblemOptions& problem, const MachineOptions& machine,
             const PolicyOptions& policy) {
  const GemmProblem resolved = problem.resolve(topology);
  const std::vector<MemoryId> devices = machine.resolve_devices(topology);
  const auto begin = std::chrono::steady_clock::now();
  Plan plan = plan_gemm(resolved, topology, devices, policy.resolve(), judge_of(topology));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  spdlog::debug("planned {} operations in {:.3f} s", plan.ops.size(), spent.count());
  return {topology, std::move(plan), spent.count()};
}

Job make_job(const JobOptions& options) {
  if (!options.plan_file.empty()) {
    Job job = load_job(options);
    validate(job.plan);
    validate(job.plan, job.topology);
    return job;
  }
  const Progress progress{"planning"};
  return plan_job(options.machine.load(), options.problem, options.machine, options.policy);
}

}  // namespace tilerail::cli
