#include "study/program_files.hpp"

#include <fmt/format.h>

#include <set>
#include <system_error>

#include "model/base/error.hpp"

namespace tilerail::study {
namespace {

namespace fs = std::filesystem;

fs::path executable_folder() { return executable().parent_path(); }

}  // namespace

fs::path executable() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path{"./tilerail"} : program;
}

fs::path find_python_package(const std::string& subject) {
  const fs::path program = executable_folder();
  for (const fs::path& folder :
       {program / "../share/tilerail/python", program / "../../python"}) {
    std::error_code error;
    if (fs::is_regular_file(folder / "tilerail/__main__.py", error))
      return folder.lexically_normal();
  }
  throw fault_of(subject, fmt::format("the 'tilerail' Python package is not next to '{}'",
                                      program.string()));
}

std::vector<fs::path> experiment_scripts() {
  const fs::path program = executable_folder();
  for (const fs::path& folder :
       {program / "../share/tilerail/experiments", program / "../../experiments"}) {
    std::set<fs::path> scripts;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error}) {
      if (entry.path().extension() == ".py")
        scripts.insert(entry.path().lexically_normal());
    }
    if (!scripts.empty()) return {scripts.begin(), scripts.end()};
  }
  throw fault_of("experiment",
                 fmt::format("the scripts are not next to '{}'", program.string()));
}

}  // namespace tilerail::study
