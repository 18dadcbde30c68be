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

  /// One more file that the command writes, by itself.
  void expect(const std::string& path, const std::string& option) { files_.expect(path, option); }

  using Words = std::vector<std::string>;

  /// The files, the figure that `command` of the Python package draws of the CSV, without words none, and then `text`
  /// or what goes to stdout instead. All else is written, too, where the figure cannot be drawn: see require_figure().
  void write(const std::string& csv, const std::string& json, const Words& command, const std::string& text);

  /// Throws InputError when the figure of write() could not be drawn.
  void require_figure() const;

 private:
  const StudyOptions& options_;
  OutputSet files_;
  std::optional<Painter> painter_;
  std::string fault_;  // of the figure
};

}  // namespace tilerail::cli
