#pragma once

namespace tilerail::cli {

/// The whole command: parses the arguments, runs one subcommand and returns the exit code. Never throws.
/// 0: done; 1: a check failed; 2: usage or bad input; 3: the hardware asked for is not there; 70: a bug of ours.
int run_program(int argc, char** argv) noexcept;

}  // namespace tilerail::cli
