#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tilerail::cli {

/// A python3 with matplotlib: from PATH, else the system's. Nullopt if neither has it.
std::optional<std::string> python_with_matplotlib();

/// Draws figures with the Python package `tilerail`. Construct it before any work: it
/// finds the package and a Python with matplotlib. Throws InputError "OPTION: ..." if one
/// is missing.
class Painter {
 public:
  explicit Painter(std::string option);

  /// Runs `command` of the package on temporary files with these texts, which are its
  /// last arguments, and returns the figure in the format of the extension of `path`. The
  /// files are next to `path`. Throws InputError with the last line of Python's output.
  std::string draw(std::vector<std::string> command,
                   const std::vector<std::string>& texts, const std::string& path) const;

 private:
  std::string option_, python_;
};

/// Throws InputError "OPTION: ..." unless the name has one of these extensions.
void check_extension(const std::string& path, const std::string& option,
                     const std::vector<std::string>& known);
inline const std::vector<std::string> figure_extensions{".png", ".svg"};

}  // namespace tilerail::cli
