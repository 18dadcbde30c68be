#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tilerail::study {

/// Where machines are looked for:
///   $TILERAIL_TOPOLOGIES,
///   ../share/tilerail/topologies, as installed, or ../../topologies, as built in the
///   source tree: both beside the program or the library that holds this code,
///   ./topologies.
std::vector<std::filesystem::path> machine_folders();

/// Names of the machines that can be given without a path, ascending.
std::vector<std::string> machine_names();

/// The file that `text` means, if there is one: a path as it is, else NAME.toml in the
/// first of these folders that has it.
std::optional<std::filesystem::path> known_machine(const std::string& text);

/// The same. Throws InputError with the machines that exist.
std::filesystem::path find_machine(const std::string& text);

}  // namespace tilerail::study
