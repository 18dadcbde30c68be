#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/option_group.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/painter.hpp"
#include "study/parallel.hpp"

namespace tilerail::cli {

/// --csv --json --figure --jobs: of commands that plan and simulate many times.
struct StudyOptions {
  std::string csv, json, figure;
  std::string jobs = {};  // "": as many as there are cores

  void add_to(CLI::App& app, OptionGroup& group, const std::string& figure_help);
  /// Throws InputError.
  study::Workers workers() const;
};

/// Their files, all or none. To be constructed before any work.
class StudyOutputs {
 public:
  /// Throws InputError "OPTION: ...".
  explicit StudyOutputs(const StudyOptions& options);

  using Words = std::vector<std::string>;

  /// The files, and then `text` or what goes to stdout instead. At last the figure that
  /// `command` of the Python package draws of the CSV, without words none: all else is
  /// there even if it cannot be drawn. Throws InputError.
  void write(const std::string& csv, const std::string& json, const Words& command,
             const std::string& text);

 private:
  const StudyOptions& options_;
  OutputSet files_;
  std::optional<Painter> painter_;
};

}  // namespace tilerail::cli
