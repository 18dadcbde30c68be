#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options/option_group.hpp"
#include "cli/output/output_set.hpp"
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

/// --csv --json --jobs: options of commands that plan and simulate many times.
struct StudyOptions {
  std::string csv, json;
  JobsOption jobs;

  void add_to(CLI::App& app, const OptionGroup& group);
};

/// The output files of these commands, all or none. Construct it before any work.
class StudyOutputs {
 public:
  /// `figure`: its file, or "". Throws InputError "OPTION: ...".
  explicit StudyOutputs(const StudyOptions& options, const std::string& figure = "");

  /// A further file of the command, which no other output or input can be. Call before
  /// any work. Throws InputError.
  void expect(const std::string& path) { files_.expect(path, "--csv"); }

  /// Writes the rows into the files, the SVG of the figure, and `text` or the output for
  /// stdout. Without an SVG there is no figure. Throws InputError.
  void write(const Json& rows, const std::string& text, const std::string& svg = "");

 private:
  const StudyOptions& options_;
  std::string figure_;
  OutputSet files_;
};

}  // namespace tilerail::cli
