#include "cli/options/options.hpp"

#include <fmt/format.h>

#include "model/base/text.hpp"

namespace tilerail::cli {

std::string command_of(std::string command, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) {
         return o->count() > 0 && !o->check_name("--output");
       }))
    command +=
        fmt::format(" {} '{}'", option->get_name(), escaped(option->as<std::string>()));
  return command;
}

void add_options(CLI::App& app, study::ProblemText& problem) {
  OptionGroup group{app,
                    "PROBLEM: C = alpha op(A) op(B) + beta C, or one of its vectors"};
  group.add("--gemm", "M,N,K", problem.gemm,
            "Sizes, or one size for a cube; 16K is 16384");
  group.add("--gemv", "M,N", problem.gemv,
            "y = alpha op(A) x + beta y, A as stored has M rows and N columns");
  group.add("--dot", "N", problem.dot, "alpha x . y, to the host");
  group.add("--axpy", "N", problem.axpy, "y = alpha x + beta y");
  group.add("--dtype", "TYPE", problem.dtype, "f64, f32, f16, bf16 or tf32 [f64]");
  group.add("--transa", "N|T", problem.trans_a, "op(A) [N]");
  group.add("--transb", "N|T", problem.trans_b, "op(B) [N]");
  group.add("--alpha", "X", problem.alpha, "Scalar of the product [1]");
  group.add("--beta", "X", problem.beta, "Scalar of C or y; 0 never reads them [1]");
  group.add("--place", "A:B:C", problem.place,
            "Their memories, each h, h1, h*, h/cols, h/rows, g*, a GPU number or a name "
            "(docs/formats.md#places) "
            "[h:h:h]; A:X:Y of a gemv, X:Y of a dot or axpy");
  group.add("--lda", "N", problem.leading[0],
            "Leading dimension of A in elements [its rows]");
  group.add("--ldb", "N", problem.leading[1],
            "Leading dimension of B in elements [its rows]");
  group.add("--ldc", "N", problem.leading[2],
            "Leading dimension of C in elements [its rows]");
}

void add_machine(CLI::App& action, study::MachineText& machine) {
  action
      .add_option("machine", machine.topology,
                  "A .toml file or a name ('tilerail topo list')")
      ->required();
  add_settings(OptionGroup{action, "MACHINE"}, machine);
}

CLI::Option* add_settings(const OptionGroup& group, study::MachineText& machine) {
  return group.add("--topo-set", "KEY=VALUE", machine.settings,
                   "Change a figure of the machine: 'link:host->gpu*.bandwidth=50 GB/s', "
                   "group:host.capacity=x2, kernels:*.f64.rate=x2, "
                   "'link:gpu0<->gpu1=none', gpus=4 (docs/formats.md#settings)");
}

CLI::Option* add_plan_cache(const OptionGroup& group, std::string& file) {
  return group.add("--plan-cache", "FILE", file,
                   "Take plans that 'tilerail tune' found, from its file "
                   "[$TILERAIL_PLAN_CACHE, if set]");
}

void add_plan_cache(CLI::App& app, std::string& file) {
  CLI::Option* const option = add_plan_cache(OptionGroup{app, "PLAN"}, file);
  if (CLI::Option* const plan = app.get_option_no_throw("--plan")) option->excludes(plan);
}

void add_options(CLI::App& app, study::MachineText& machine) {
  OptionGroup group{app, "MACHINE"};
  group.add("--topology", "FILE|NAME", machine.topology,
            "A machine's .toml file or name ('tilerail topo list')");
  add_settings(group, machine);
  group.add(
      "--devices", "LIST", machine.devices,
      "GPUs and cores to use: all, or numbers and names such as 0,2,4-6,cpu0 [all]");
}

void add_options(CLI::App& app, study::PolicyText& policy) {
  OptionGroup group{app, "POLICY"};
  group.add("--policy", "NAME", policy.name, "A preset ('tilerail policies') [tilerail]");
  group.add("--tile", "T", policy.tile,
            "Tile size, or a rule of 'tilerail policies' [auto: the policy's]");
  group.add("--effort", "EFFORT", policy.effort,
            "Effort of the search: fast, fixed, normal or high [the policy's]");
  group.add("--set", "KEY=VALUE", policy.overrides,
            "Override another field of the preset");
}

void add_options(CLI::App& app, study::JobText& job, bool plan_file_allowed) {
  add_options(app, job.problem);
  add_options(app, job.machine);
  add_options(app, job.policy);
  if (!plan_file_allowed) return;
  CLI::Option* plan = OptionGroup{app, "PLAN"}.add(
      "--plan", "FILE", job.plan_file, "Take this plan instead of PROBLEM and POLICY");
  for (const char* name :
       {"--gemm", "--gemv", "--dot", "--axpy", "--dtype", "--transa", "--transb",
        "--alpha", "--beta", "--place", "--lda", "--ldb", "--ldc", "--devices",
        "--policy", "--tile", "--effort", "--set"}) {
    plan->excludes(app.get_option(name));
  }
}

}  // namespace tilerail::cli
