#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tilerail::cli {

/// The python3 that has matplotlib: the one on PATH, else the system's own. Nothing when neither has it.
std::optional<std::string> python_with_matplotlib();

/// The Python package `tilerail`, for figures. To be constructed before any work: it looks for the package and for a
/// Python with matplotlib. Throws InputError "OPTION: ..." when one is missing.
class PythonPackage {
 public:
  explicit PythonPackage(std::string option);

  /// What `python3 -m tilerail ARGUMENTS` writes. Throws InputError with the last line that Python said, after `fault`
  /// or, without one, that the option's figure could not be drawn.
  std::string run(const std::vector<std::string>& arguments, const std::string& fault = "") const;

 private:
  std::string option_, python_, package_;
};

}  // namespace tilerail::cli
