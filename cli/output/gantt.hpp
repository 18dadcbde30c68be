#pragma once

#include <string>
#include <vector>

namespace tilerail::cli {

/// Draws timelines by the Python package. To be constructed before any work: it looks for the package and for a Python
/// with matplotlib (python3 on PATH, then the system's own). Throws InputError when one is missing.
class GanttPainter {
 public:
  GanttPainter();

  /// The figure of timelines (CSV files) above each other, as a file of this format ("png" or "svg").
  /// Throws InputError with the last line that Python said.
  std::string draw(const std::vector<std::string>& timelines, const std::string& format) const;

 private:
  std::string python_, package_;
};

}  // namespace tilerail::cli
