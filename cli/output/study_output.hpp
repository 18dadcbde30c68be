#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/option_group.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/painter.hpp"
#include "cli/output/progress.hpp"
#include "model/base/table.hpp"
#include "study/parallel.hpp"

namespace tilerail::cli {

/// --jobs
struct JobsOption {
  std::string count;  // "": the number of cores

  void add_to(CLI::App& app);
  /// They show the progress. Throws InputError.
  study::Workers workers(Progress& progress) const;
};

/// --csv --json --figure --jobs: options of commands that plan and simulate many times.
struct StudyOptions {
  std::string csv, json, figure;
  JobsOption jobs;

  void add_to(CLI::App& app, OptionGroup& group, const std::string& figure_help);
};

/// The output files of these commands, all or none. Construct it before any work.
class StudyOutputs {
 public:
  /// Throws InputError "OPTION: ...".
  explicit StudyOutputs(const StudyOptions& options);

  using Words = std::vector<std::string>;

  /// Writes the rows into the files, then `text` or the output for stdout, and last the
  /// figure that `command` of the Python package draws from the CSV; no figure if
  /// `command` is empty. A failure to draw does not affect the other output. Throws
  /// InputError.
  void write(const Json& rows, const Words& command, const std::string& text);

 private:
  const StudyOptions& options_;
  OutputSet files_;
  std::optional<Painter> painter_;
};

}  // namespace tilerail::cli
