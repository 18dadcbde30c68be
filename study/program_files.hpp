#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilerail::study {

/// This program's own file.
std::filesystem::path executable();

/// The folder that contains the `tilerail` Python package. Throws InputError about
/// `subject`, which needs the package, if it is missing.
std::filesystem::path find_python_package(const std::string& subject);

/// The experiments' scripts NAME.py, ascending by name, from share/tilerail/experiments
/// next to the executable's folder, else from its source tree. Throws InputError if none
/// exists.
std::vector<std::filesystem::path> experiment_scripts();

}  // namespace tilerail::study
