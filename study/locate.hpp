#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilerail::study {

/// Names of the machines that can be given without a path, ascending.
std::vector<std::string> topology_names();

/// The file that `text` means: a path as it is, else NAME.toml in $TILERAIL_TOPOLOGIES, in share/tilerail/topologies
/// beside the executable's folder, in the topologies of the source tree it was built in, or in ./topologies.
/// Throws InputError listing the names there are.
std::filesystem::path find_topology(const std::string& text, const std::string& what);

/// The folder that holds the `tilerail` Python package. Throws InputError when there is none.
std::filesystem::path find_python_package();

/// This program's own file.
std::filesystem::path executable();

/// The scripts NAME.py of the experiments, ascending by name: those of share/tilerail/experiments beside the
/// executable's folder, else of the source tree it was built in. Throws InputError when there are none.
std::vector<std::filesystem::path> experiment_scripts();

}  // namespace tilerail::study
