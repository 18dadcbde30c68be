#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "study/job.hpp"

namespace tilerail::study {

/// One line of a cases file (docs/formats.md#cases).
struct Case : JobText {
  std::string file;
  size_t line = 0;
  std::map<std::string, size_t> places;  // start of each cell, by column
  std::array<std::string, 3> sizes;      // m, n, k
  std::string routine = "gemm";
  std::string group, label;  // group: alternatives for one task

  /// Adds file, line and column to the error: of the offending cell, else of the line.
  InputError located(const InputError& error) const;

  /// Returns the result of `action`. Locates its InputErrors.
  template <class Action>
  auto locating(const Action& action) const {
    try {
      return action();
    } catch (const InputError& error) {
      throw located(error);
    }
  }
};

/// Reads a CSV file with a header: columns m, n, k and any of routine, dtype, transa,
/// transb, alpha, beta, place, devices, policy, tile, set (overrides, separated by
/// spaces), group and label. Empty cells are defaults. Throws InputError with file, line
/// and column.
std::vector<Case> read_cases(const std::string& file);

}  // namespace tilerail::study
