#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/option_group.hpp"
#include "study/runner.hpp"

namespace tilerail::cli {

/// --check --iters --warmup --seed --host-buffers --energy: options of runs on real
/// memory.
struct BenchOptions {
  std::string iterations, warmup, seed = "1";
  std::optional<std::string> host_buffers = {}, energy = {};
  bool check = false;
  std::vector<const CLI::Option*> added = {};

  void add_to(const OptionGroup& group);
  /// Throws InputError with the option, also if it has no meaning for the backend.
  study::RunSettings settings(int least_warmup, const std::string& backend) const;
  /// The settings of a command that runs plans. If it simulates (backend "" or "fluid"):
  /// nullopt, and every option here is an error.
  std::optional<study::RunSettings> settings_unless_simulated(
      const std::string& backend) const;
};

}  // namespace tilerail::cli
