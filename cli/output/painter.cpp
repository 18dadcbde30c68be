#include "cli/output/painter.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/files.hpp"

namespace tilerail::cli {

std::string Painter::draw(const std::vector<std::string>& command, const std::string& format) const {
  std::vector<std::string> arguments = command;
  arguments.insert(arguments.end(), {"-o", "-", "--format", format});
  return package_.run(arguments);
}

std::string Painter::draw_table(std::vector<std::string> command, std::string_view csv, const std::string& path) const {
  const StagedFile scratch{path + ".csv", csv};  // never committed: it vanishes with it
  command.push_back(scratch.staged());
  return draw(command, std::filesystem::path{path}.extension().string().substr(1));
}

void check_figure_name(const std::string& path, const std::string& option) {
  const std::string extension = std::filesystem::path{path}.extension().string();
  if (extension != ".png" && extension != ".svg")
    throw InputError{option, path, "has no extension that is known", "one of: .png, .svg"};
}

}  // namespace tilerail::cli
