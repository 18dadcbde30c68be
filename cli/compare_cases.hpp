#pragma once

#include <string>

namespace tilerail::cli {

struct CompareCasesOptions {
  std::string cases, backend, topology, csv;
  std::string iterations = "5", warmup = "2", seed = "1", host_buffers = "spread";
  bool check = false, no_simulate = false;
};

/// Runs every case of a file on real hardware and, unless told otherwise, in the simulator, and lays them side by side.
/// Returns the exit code. Throws InputError, HardwareError.
int compare_cases(const CompareCasesOptions& options);

}  // namespace tilerail::cli
