#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options/option_group.hpp"
#include "study/job.hpp"

namespace tilerail::cli {

/// `command` with the given options except --output, on one line that can be entered
/// again.
std::string command_of(std::string command, const CLI::App& app);

/// PROBLEM: one of --gemm --gemv --dot --axpy, and --dtype --transa --transb --alpha
/// --beta --place --lda --ldb --ldc.
void add_options(CLI::App& app, study::ProblemText& problem);

/// The machine as the only argument, and --topo-set, for an action of `tilerail topo`.
void add_machine(CLI::App& action, study::MachineText& machine);

/// --topo-set, for a command with its own option for the machine.
CLI::Option* add_settings(const OptionGroup& group, study::MachineText& machine);

/// --plan-cache, which excludes the command's --plan if it exists; or in the command's
/// own group.
void add_plan_cache(CLI::App& app, std::string& file);
CLI::Option* add_plan_cache(const OptionGroup& group, std::string& file);

/// MACHINE: --topology --topo-set --devices.
void add_options(CLI::App& app, study::MachineText& machine);

/// POLICY: --policy --tile --effort --set.
void add_options(CLI::App& app, study::PolicyText& policy);

/// All of the above. `plan_file_allowed` adds --plan FILE, which excludes PROBLEM, POLICY
/// and --devices.
void add_options(CLI::App& app, study::JobText& job, bool plan_file_allowed);

}  // namespace tilerail::cli
