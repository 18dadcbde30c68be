#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/output/python.hpp"

namespace tilerail::cli {

/// Draws figures by the Python package. To be constructed before any work.
class Painter {
 public:
  /// Throws InputError when something is missing.
  explicit Painter(const std::string& option) : package_{option} {}

  /// What a command of the package ("gantt", files ...) draws, as a file of this format ("png" or "svg"). Throws
  /// InputError with the last line that Python said.
  std::string draw(const std::vector<std::string>& command, const std::string& format) const;

  /// The same, of a table that is in no file: its file, beside the figure's `path` for a while, is the last word of the
  /// command, and the format is that of `path`.
  std::string draw_table(std::vector<std::string> command, std::string_view csv, const std::string& path) const;

 private:
  PythonPackage package_;
};

/// Throws InputError "OPTION: ..." unless the name ends in .png or .svg.
void check_figure_name(const std::string& path, const std::string& option);

}  // namespace tilerail::cli
