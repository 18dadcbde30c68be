#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tilerail::cli {

/// The python3 that has matplotlib: the one on PATH, else the system's own. Nothing when
/// neither has it.
std::optional<std::string> python_with_matplotlib();

/// Draws figures with the Python package `tilerail`. To be constructed before any work:
/// it looks for the package and for a Python with matplotlib. Throws InputError "OPTION:
/// ..." when one is missing.
class Painter {
 public:
  explicit Painter(std::string option);

  /// The figure that `command` of the package draws of files with these texts, which are
  /// its last arguments, in the format that the name of `path` ends in. The files are
  /// next to `path` for a while. Throws InputError with the last line that Python said.
  std::string draw(std::vector<std::string> command,
                   const std::vector<std::string>& texts, const std::string& path) const;

 private:
  std::string option_, python_;
};

/// Throws InputError "OPTION: ..." unless the name ends in one of these.
void check_extension(const std::string& path, const std::string& option,
                     const std::vector<std::string>& known);
inline const std::vector<std::string> figure_extensions{".png", ".svg"};

/// Ends the Python that draws, if any. A signal handler may call it.
void kill_painter() noexcept;

}  // namespace tilerail::cli
