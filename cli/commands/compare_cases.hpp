#pragma once

#include <string>

#include "cli/options/bench_options.hpp"

namespace tilerail::cli {

struct CompareCasesOptions {
  std::string cases, backend, topology, csv;
  BenchOptions bench{.iterations = "5", .warmup = "2"};
  bool no_simulate = false;
};

/// Runs every case of a file on real hardware and, unless told otherwise, in the simulator, and lays them side by side.
/// Returns the exit code. Throws InputError, HardwareError.
int compare_cases(const CompareCasesOptions& options);

}  // namespace tilerail::cli
