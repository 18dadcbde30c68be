#pragma once

#include <string>
#include <vector>

namespace tilerail::cli {

struct ProcessResult {
  int exit_code = 0;   // 127 when the program could not be started
  std::string errors;  // what it wrote to stderr
};

/// Runs a program (looked up on PATH) to its end, with `environment` ("KEY=VALUE") added to ours, no stdin and no
/// stdout.
ProcessResult run_process(const std::vector<std::string>& command, const std::vector<std::string>& environment);

}  // namespace tilerail::cli
