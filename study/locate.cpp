#include "study/locate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <set>
#include <system_error>

#include "model/base/error.hpp"

namespace tilerail::study {
namespace {

namespace fs = std::filesystem;

fs::path executable_folder() { return executable().parent_path(); }

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// An installed tree is <prefix>/bin + <prefix>/share/tilerail; a build tree is <source>/build/<preset>.
std::vector<fs::path> topology_folders() {
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("TILERAIL_TOPOLOGIES"); named != nullptr && *named != '\0') {
    folders.emplace_back(named);
  }
  const fs::path program = executable_folder();
  folders.push_back(program / "../share/tilerail/topologies");
  folders.push_back(program / "../../topologies");
  folders.emplace_back("topologies");
  return folders;
}

}  // namespace

fs::path executable() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path{"./tilerail"} : program;
}

std::vector<std::string> topology_names() {
  std::set<std::string> names;
  for (const fs::path& folder : topology_folders()) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error}) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

fs::path find_topology(const std::string& text, const std::string& what) {
  if (is_file(text)) return text;
  const bool is_name = !text.empty() && text.find('/') == std::string::npos && !text.ends_with(".toml");
  if (!is_name) throw InputError{fmt::format("{}: there is no file '{}'", what, text)};
  for (const fs::path& folder : topology_folders()) {
    const fs::path file = folder / (text + ".toml");
    if (is_file(file)) return file.lexically_normal();
  }
  throw InputError{fmt::format("{}: there is no machine '{}'; give a .toml file or one of: {}", what, text,
                               fmt::join(topology_names(), ", "))};
}

fs::path find_python_package() {
  const fs::path program = executable_folder();
  for (const fs::path& folder : {program / "../share/tilerail/python", program / "../../python"}) {
    if (is_file(folder / "tilerail/__main__.py")) return folder.lexically_normal();
  }
  throw InputError{fmt::format("--gantt: the 'tilerail' Python package is not beside '{}'", program.string())};
}

std::vector<fs::path> experiment_scripts() {
  const fs::path program = executable_folder();
  for (const fs::path& folder : {program / "../share/tilerail/experiments", program / "../../experiments"}) {
    std::set<fs::path> scripts;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error}) {
      if (entry.path().extension() == ".py") scripts.insert(entry.path().lexically_normal());
    }
    if (!scripts.empty()) return {scripts.begin(), scripts.end()};
  }
  throw InputError{fmt::format("experiment: the scripts are not beside '{}'", program.string())};
}

}  // namespace tilerail::study
