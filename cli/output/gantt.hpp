#pragma once

#include <string>
#include <vector>

namespace tilerail::cli {

/// Draws timelines by the Python package. To be constructed before any work: it looks for the package and for a Python
/// with matplotlib (python3 on PATH, then the system's own). Throws InputError when one is missing.
class GanttPainter {
 public:
  GanttPainter();

  /// Draws the timelines (CSV files) above each other into `figure`, whose extension says the format.
  /// Throws InputError with the last line that Python said.
  void draw(const std::vector<std::string>& timelines, const std::string& figure) const;

 private:
  std::string python_, package_;
};

}  // namespace tilerail::cli
