#pragma once

#include <string>

#include "cli/output/python.hpp"
#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// Draws machines by the Python package. To be constructed before any work, as GanttPainter.
class MachinePainter {
 public:
  MachinePainter() : python_{"--graph"} {}

  /// The figure as a file of the kind that the name of `path` ends in; links coloured by their use in `result`, the
  /// JSON of a summary or the CSV of a timeline, where that is not empty. Throws InputError "--graph: ..." or, of that
  /// file,
  /// "--timeline: ...".
  std::string draw(const Topology& topology, const std::string& path, const std::string& result) const;

 private:
  PythonPackage python_;
};

}  // namespace tilerail::cli
