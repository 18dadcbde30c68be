#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/options/option_group.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::cli {

/// PROBLEM, MACHINE and POLICY with --vary KEY=VALUES, or the FILE of a sweep: one problem, or many.
struct PointOptions {
  std::string file;
  study::JobText job;
  std::vector<std::string> vary;
  std::vector<const CLI::Option*> instead_of_file = {};

  /// --vary comes under this heading, which is returned for more options.
  OptionGroup add_to(CLI::App& app, const std::string& heading);
  /// Throws InputError, also where an option is given together with the file.
  study::Sweep sweep() const;
};

}  // namespace tilerail::cli
