#include "api/find_machine.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "model/base/error.hpp"

namespace tilerail::api {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<fs::path> folders() {
  std::vector<fs::path> folders;
  if (const std::string named = environment("TILERAIL_TOPOLOGIES"); !named.empty()) folders.emplace_back(named);
  static const char here = 0;  // an address of this library
  Dl_info library{};
  if (dladdr(&here, &library) != 0 && library.dli_fname != nullptr)
    folders.push_back(fs::path{library.dli_fname}.parent_path() / "../share/tilerail/topologies");
  folders.emplace_back("topologies");
  return folders;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

std::string wanted_machine(const std::string& given) {
  return given.empty() ? environment("TILERAIL_TOPOLOGY") : given;
}

std::string find_machine(const std::string& text) {
  if (is_file(text)) return text;
  std::string looked_in;
  if (text.find('/') == std::string::npos) {
    for (const fs::path& folder : folders()) {
      const fs::path file = folder / (text + ".toml");
      if (is_file(file)) return file.string();
      looked_in += (looked_in.empty() ? "" : ", ") + folder.string();
    }
  }
  throw InputError{"topology '" + text + "': there is no such file" +
                   (looked_in.empty() ? "" : ", and no machine of that name in " + looked_in)};
}

}  // namespace tilerail::api
