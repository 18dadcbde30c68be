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
  std::map<std::string, size_t>
      places;                        // by column that has a cell here: where that starts
  std::array<std::string, 3> sizes;  // m, n, k
  std::string routine = "gemm";
  std::string group, label;  // group: alternatives for one task

  /// The error at its file, line and column: of the cell that it is about, or else of the
  /// start of the line.
  InputError located(const InputError& error) const;

  /// What `action` returns. An InputError that leaves it is located.
  template <class Action>
  auto locating(const Action& action) const {
    try {
      return action();
    } catch (const InputError& error) {
      throw located(error);
    }
  }
};

/// Reads a CSV with a header: columns m, n, k and any of routine, dtype, transa, transb,
/// alpha, beta, place, devices, policy, tile, set (overrides, separated by spaces), group
/// and label. Empty cells are defaults. Throws InputError naming file, line and column.
std::vector<Case> read_cases(const std::string& file);

}  // namespace tilerail::study
