#pragma once

#include <array>
#include <string>
#include <vector>

#include "study/job.hpp"

namespace tilerail::study {

/// One line of a cases file (docs/formats.md#cases).
struct Case {
  std::size_t line = 0;
  std::array<std::string, 3> sizes;  // m, n, k
  std::string routine = "gemm";
  ProblemText problem;
  std::string devices = "all";
  PolicyText policy;
  std::string group, label;  // group: alternatives for one task
};

/// Reads a CSV with a header: columns m, n, k and any of routine, dtype, transa, transb, alpha, beta, place, devices,
/// policy, tile, set (overrides, separated by spaces), group and label. Empty cells are defaults. Throws InputError
/// naming file, line and column.
std::vector<Case> read_cases(const std::string& file);

}  // namespace tilerail::study
