#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/host/reference.hpp"
#include "cli/options.hpp"
#include "model/timeline.hpp"

namespace tilerail::cli {

struct RunSettings {
  int warmup = 1, iterations = 3;
  std::uint64_t seed = 1;
  bool check = false;
};

struct RunResult {
  Timeline timeline;               // of the iteration with the median makespan
  std::vector<double> makespans;   // seconds, by iteration
  std::optional<GemmCheck> check;  // of the last iteration
};

/// Runs the plan on this machine's CPUs, on random matrices. Throws InputError when they do not fit in its memory.
RunResult run_on_host(const Job& job, const RunSettings& settings);

}  // namespace tilerail::cli
