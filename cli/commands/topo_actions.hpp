#pragma once

#include "cli/commands/command.hpp"

namespace tilerail::cli {

/// Actions of `topo` that write files.
Command add_topo_new(CLI::App& topo);
Command add_topo_import(CLI::App& topo);
Command add_topo_export(CLI::App& topo);

}  // namespace tilerail::cli
