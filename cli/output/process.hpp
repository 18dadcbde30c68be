#pragma once

#include <string>
#include <vector>

namespace tilerail::cli {

struct ProcessResult {
  int exit_code = 0;           // 127 when the program could not be started
  std::string output, errors;  // what it wrote to stdout and stderr
};

/// Runs a program (looked up on PATH) to its end, with `environment` ("KEY=VALUE") added to ours and no stdin.
ProcessResult run_process(const std::vector<std::string>& command, const std::vector<std::string>& environment);

/// Ends the program that run_process is running, if any. A signal handler may call it.
void kill_running_process() noexcept;

}  // namespace tilerail::cli
