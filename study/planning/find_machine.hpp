#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail::study {

/// Search path for machines: $TILERAIL_TOPOLOGIES, then topologies (Python package),
/// ../share/tilerail/topologies (installed) or ../../topologies (build in the source
/// tree), both relative to the program or library that contains this code, then
/// ./topologies.
std::vector<std::filesystem::path> machine_folders();

/// Names of the machines on the search path, ascending.
std::vector<std::string> machine_names();

/// "A or one of: NAMES"; without names, "A; no machines were found in FOLDERS".
std::string or_one_of(std::string_view a, const std::vector<std::string>& names);

/// The machine file for `text`, if it exists: a path, else NAME.toml in the first folder
/// of the search path that contains it.
std::optional<std::filesystem::path> known_machine(const std::string& text);

/// The same. Throws InputError with the existing machines.
std::filesystem::path find_machine(const std::string& text);

}  // namespace tilerail::study
