// Machine files for test programs that are copied to another machine.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace tilerail::test {

/// The folder topologies/: from TILERAIL_TOPOLOGIES, else next to the installed program,
/// else in the sources.
inline std::filesystem::path shipped_folder() {
  if (const char* const named = std::getenv("TILERAIL_TOPOLOGIES");
      named != nullptr && *named != '\0')
    return named;
  std::error_code error;
  const auto program = std::filesystem::canonical("/proc/self/exe", error).parent_path();
  const auto installed = program / "../share/tilerail/topologies";
  return std::filesystem::is_directory(installed, error) ? installed
                                                         : TILERAIL_SOURCE_DIR
             "/topologies";
}

inline std::string shipped_file(const std::string& name) {
  return shipped_folder() / (name + ".toml");
}

}  // namespace tilerail::test
