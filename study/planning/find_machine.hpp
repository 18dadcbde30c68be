#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilerail::study {

/// Where machines are looked for:
///   $TILERAIL_TOPOLOGIES,
///   ../share/tilerail/topologies, as installed, or ../../topologies, as built in the source tree: both beside the
///   program or the library that holds this code,
///   ./topologies.
std::vector<std::filesystem::path> machine_folders();

/// Names of the machines that can be given without a path, ascending.
std::vector<std::string> machine_names();

/// The file that `text` means: a path in `folder`, else a path as it is, else NAME.toml in the first of these folders
/// that has it. Throws InputError "WHAT: ..." naming the machines there are.
std::filesystem::path find_machine(const std::string& text, const std::string& what,
                                   const std::filesystem::path& folder = {});

}  // namespace tilerail::study
