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

/// What `new` and `import` share: -o, and what is assumed of hosts.
void add_machine_output(CLI::App& action, std::string& file);
void add_host_rates(const OptionGroup& group, std::string& host_memory,
                    std::string& socket_link);

/// Writes what `text` returns, the text of a machine, to that file, which `text` cannot
/// read.
void write_machine(const std::string& file, const std::function<std::string()>& text);

}  // namespace tilerail::cli
