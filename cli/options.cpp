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

/// "h" or "h0" is the first host domain, "h1" the second; a number is a GPU; anything else is a memory's name.
MemoryId place_of(std::string_view text, const Topology& topology, std::string_view what) {
  std::vector<std::string> names;
  for (const Memory& memory : topology.memories()) names.push_back(memory.name);
  if (const auto named = topology.find_memory(text)) return *named;
  if (text == "h" && !topology.hosts().empty()) return topology.hosts().front();
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number && text.size() < 5) {
    if (const auto gpu = topology.find_gpu(static_cast<int>(parse_integer(text, what, 0, 9999)))) return *gpu;
  }
  if (text.size() == 2 && text[0] == 'h' && text[1] >= '0' && text[1] <= '9') {
    const auto host = static_cast<std::size_t>(text[1] - '0');
    if (host < topology.hosts().size()) return topology.hosts()[host];
  }
  throw InputError{fmt::format("{}: '{}' is no memory of {}; write h, h1, a GPU number or one of: {}", what, text,
                               topology.name(), fmt::join(names, ", "))};
}

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

void ProblemOptions::add_to(CLI::App& app) {
  OptionGroup group{app, "PROBLEM: C = alpha op(A) op(B) + beta C"};
  group.add("--gemm", "M,N,K", gemm, "Sizes, or one size for a cube; 16K is 16384");
  group.add("--dtype", "TYPE", dtype, "f64, f32, f16, bf16 or tf32 [f64]");
  group.add("--transa", "N|T", trans_a, "op(A) [N]");
  group.add("--transb", "N|T", trans_b, "op(B) [N]");
  group.add("--alpha", "X", alpha, "Scalar of the product [1]");
  group.add("--beta", "X", beta, "Scalar of C; 0 never reads C [1]");
  group.add("--place", "A:B:C", place, "Their memories, each h, h1, a GPU number or a name [h:h:h]");
  group.add("--lda", "N", leading[0], "Leading dimension of A in elements [its rows]");
  group.add("--ldb", "N", leading[1], "Leading dimension of B in elements [its rows]");
  group.add("--ldc", "N", leading[2], "Leading dimension of C in elements [its rows]");
}

GemmProblem ProblemOptions::resolve(const Topology& topology) const {
  if (gemm.empty()) throw InputError{"--gemm: sizes are missing; write --gemm M,N,K or one size for a cube"};
  GemmProblem problem;
  const auto shape = parse_shape(gemm, "--gemm");
  problem.m = shape[0], problem.n = shape[1], problem.k = shape[2];
  problem.dtype = dtype_from_string(dtype, "--dtype");
  problem.trans_a = trans_from_string(trans_a, "--transa");
  problem.trans_b = trans_from_string(trans_b, "--transb");
  problem.alpha = parse_real(alpha, "--alpha");
  problem.beta = parse_real(beta, "--beta");
  const auto places = split(place, ':');
  if (places.size() != 3) {
    throw InputError{fmt::format("--place: '{}' is not A:B:C, such as h:h:h or 0:1:h", place)};
  }
  problem.place_a = place_of(places[0], topology, "--place");
  problem.place_b = place_of(places[1], topology, "--place");
  problem.place_c = place_of(places[2], topology, "--place");
  problem.lda = parse_size(leading[0], "--lda");
  problem.ldb = parse_size(leading[1], "--ldb");
  problem.ldc = parse_size(leading[2], "--ldc");
  return checked(problem);
}

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
  if (!select.empty()) apply_override(policy, "select=" + select);
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
  for (const char* name : {"--gemm", "--dtype", "--transa", "--transb", "--alpha", "--beta", "--place", "--lda",
                           "--ldb", "--ldc", "--devices", "--policy", "--tile", "--select", "--set"}) {
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
