#pragma once

#include <functional>
#include <string>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"

namespace tilerail::cli {

/// Actions of `topo` that write files.
Command add_topo_new(CLI::App& topo);
Command add_topo_import(CLI::App& topo);
Command add_topo_export(CLI::App& topo);

/// Shared by `new` and `import`: -o, and the assumptions about hosts.
void add_machine_output(CLI::App& action, std::string& file);
void add_host_rates(const OptionGroup& group, std::string& host_memory,
                    std::string& socket_link);

/// Writes the machine file returned by `text`, which cannot read this file.
void write_machine(const std::string& file, const std::function<std::string()>& text);

}  // namespace tilerail::cli
