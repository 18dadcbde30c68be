#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilerail::cli {

struct ProcessResult {
  enum class End : uint8_t { exited, killed, not_found, not_started };
  End end = End::exited;
  int code = 0;                // exited: its exit code; killed: the signal; else errno
  std::string output, errors;  // what it wrote to stdout and stderr

  bool succeeded() const { return end == End::exited && code == 0; }
};

/// Runs a program (looked up on PATH) to its end, with `environment` ("KEY=VALUE") added to ours and no stdin.
ProcessResult run_process(const std::vector<std::string>& command, const std::vector<std::string>& environment);

/// Ends the program that run_process is running, if any. A signal handler may call it.
void kill_running_process() noexcept;

}  // namespace tilerail::cli
