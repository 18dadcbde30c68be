#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/output/output_set.hpp"
#include "report/trace/trace.hpp"

namespace tilerail::cli {

enum class TraceKind { one_timeline, comparison };

/// OUTPUT of simulate, run and compare.
struct OutputOptions {
  std::string json;  // a file, "-" for stdout, or "" for none
  std::vector<std::string>
      traces;  // --timeline (.csv, .json), or --trace of compare (.json)
  std::vector<std::string> gantts;

  void add_to(CLI::App& app, TraceKind kind);
};

/// Writes the requested output, all or nothing. Construct it before any work, to detect a
/// wrong extension or a missing folder early.
class Outputs {
 public:
  /// Throws InputError "OPTION: ...".
  Outputs(const OutputOptions& options, TraceKind kind);

  /// Writes the files, then the result to stdout: `json` if --json is "-", else `text`.
  void write(const std::vector<NamedTimeline>& timelines, const std::string& text,
             const std::string& json);

 private:
  const OutputOptions& options_;
  OutputSet files_;
};

}  // namespace tilerail::cli
