#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options/option_group.hpp"
#include "cli/study.hpp"
#include "study/runner.hpp"

namespace tilerail::cli {

/// --check --iters --warmup --seed --host-buffers --energy: how plans are run on real memory.
struct BenchOptions {
  std::string iterations, warmup, seed = "1", host_buffers = "spread", energy = "0.5";
  bool check = false;

  void add_to(CLI::App& app, OptionGroup& group);
  /// Throws InputError naming the option.
  RunSettings settings(int least_warmup) const;
};

}  // namespace tilerail::cli
