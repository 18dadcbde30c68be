#include "study/planning/find_machine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <cstdlib>
#include <set>
#include <system_error>

#include "model/base/error.hpp"

namespace tilerail::study {
namespace {

namespace fs = std::filesystem;

/// The file that contains this code: the program, whose name the loader does not return,
/// or a library.
fs::path own_file() {
  static const char here = 0;
  Dl_info info{};
  link_map* object = nullptr;
  const int found =
      dladdr1(&here, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP);
  const bool library = found != 0 && object != nullptr && object->l_name != nullptr &&
                       *object->l_name != '\0';
  std::error_code error;
  return fs::canonical(library ? fs::path{object->l_name} : fs::path{"/proc/self/exe"},
                       error);
}

/// Anything readable: a regular file, or a shell's <(command).
bool is_readable_kind(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

}  // namespace

std::vector<fs::path> machine_folders() {
  std::vector<fs::path> folders;
  const char* const named = std::getenv("TILERAIL_TOPOLOGIES");
  if (named != nullptr && *named != '\0') folders.emplace_back(named);
  if (const fs::path file = own_file(); !file.empty()) {
    for (const char* folder :
         {"topologies", "../share/tilerail/topologies", "../../topologies"})
      folders.push_back((file.parent_path() / folder).lexically_normal());
  }
  folders.emplace_back("topologies");
  return folders;
}

std::vector<std::string> machine_names() {
  std::set<std::string> names;
  for (const fs::path& folder : machine_folders()) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error})
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::string or_one_of(std::string_view a, const std::vector<std::string>& names) {
  return names.empty()
             ? fmt::format("{}; TILERAIL_TOPOLOGIES names no folder of machines", a)
             : fmt::format("{} or one of: {}", a, fmt::join(names, ", "));
}

std::optional<fs::path> known_machine(const std::string& text) {
  if (is_readable_kind(text)) return text;
  if (!text.empty() && text.find('/') == std::string::npos && !text.ends_with(".toml"))
    for (const fs::path& known : machine_folders())
      if (const fs::path file = known / (text + ".toml"); is_readable_kind(file))
        return file.lexically_normal();
  return std::nullopt;
}

fs::path find_machine(const std::string& text) {
  if (const auto file = known_machine(text)) return *file;
  std::error_code error;
  const char* const problem = text.empty()                    ? "is missing"
                              : fs::is_directory(text, error) ? "is a folder"
                                                              : "does not exist";
  throw InputError{
      "topology", text, problem,
      or_one_of("a .toml file, as 'tilerail calibrate' writes it,", machine_names())};
}

}  // namespace tilerail::study
