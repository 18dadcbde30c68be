#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "study/job.hpp"

namespace tilerail::study {

/// One line of a cases file (docs/formats.md#cases).
struct Case {
  std::string file;
  std::size_t line = 0;
  std::map<std::string, std::size_t> places;  // by column that has a cell here: where that starts
  std::array<std::string, 3> sizes;           // m, n, k
  std::string routine = "gemm";
  ProblemText problem;
  std::string devices = "all";
  PolicyText policy;
  std::string group, label;  // group: alternatives for one task

  /// The message with file and line before it. One that begins with an option, as texts of a command line give it,
  /// names the column of that option instead, and where its cell starts.
  std::string located(const std::string& message) const;
};

/// Reads a CSV with a header: columns m, n, k and any of routine, dtype, transa, transb, alpha, beta, place, devices,
/// policy, tile, set (overrides, separated by spaces), group and label. Empty cells are defaults. Throws InputError
/// naming file, line and column.
std::vector<Case> read_cases(const std::string& file);

}  // namespace tilerail::study
