#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilerail::study {

/// This program's own file.
std::filesystem::path executable();

/// The folder that holds the `tilerail` Python package. Throws InputError "OPTION: ..."
/// when there is none.
std::filesystem::path find_python_package(const std::string& option);

/// The scripts NAME.py of the experiments, ascending by name: those of
/// share/tilerail/experiments beside the executable's folder, else of the source tree it
/// was built in. Throws InputError when there are none.
std::vector<std::filesystem::path> experiment_scripts();

}  // namespace tilerail::study
