#include "cli/output/output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>

#include "cli/options/option_group.hpp"
#include "cli/output/progress.hpp"
#include "model/base/error.hpp"
#include "report/timeline/timeline_csv_writer.hpp"
#include "report/trace/chrome_json.hpp"

namespace tilerail::cli {
namespace {

using Extensions = std::initializer_list<std::string_view>;

std::string extension_of(const std::string& path) { return std::filesystem::path{path}.extension().string(); }

void check_extension(const std::string& path, const std::string& option, Extensions known) {
  std::string expected;
  for (std::string_view extension : known) {
    if (extension_of(path) == extension) return;
    expected += fmt::format("{}{}", expected.empty() ? "" : ", ", extension);
  }
  throw InputError{option, path, "has no extension that is known", fmt::format("one of: {}", expected)};
}

}  // namespace

void OutputOptions::add_to(CLI::App& app, TraceKind kind) {
  OptionGroup group{app, "OUTPUT"};
  group.add("--json", "FILE", json, "Result as JSON into a file, or - for stdout");
  if (kind == TraceKind::one_timeline) {
    group.add("--timeline", "FILE", traces, "Timeline as .csv, or as a trace .json (Perfetto, Chrome)");
  } else {
    group.add("--trace", "FILE", traces, "Both timelines in one trace .json (Perfetto, Chrome)");
  }
  group.add("--gantt", "FILE", gantts, "Figure as .png or .svg");
}

Outputs::Outputs(const OutputOptions& options, TraceKind kind) : options_{options} {
  const bool single = kind == TraceKind::one_timeline;
  for (const std::string& path : options.traces) {
    const char* option = single ? "--timeline" : "--trace";
    check_extension(path, option, single ? Extensions{".csv", ".json"} : Extensions{".json"});
    files_.expect(path, option);
  }
  for (const std::string& path : options.gantts) {
    check_figure_name(path, "--gantt");
    files_.expect(path, "--gantt");
  }
  files_.expect(options.json, "--json");
  if (!options.gantts.empty()) painter_.emplace("--gantt");
}

void Outputs::add_trace(const std::string& path, const std::vector<NamedTimeline>& timelines) {
  const std::string extension = extension_of(path);
  if (extension == ".csv") files_.add(path, to_csv(*timelines.front().timeline));
  if (extension == ".json") files_.add(path, to_chrome_json(timelines));
}

std::string Outputs::figure(const std::string& path, const std::vector<NamedTimeline>& timelines) const {
  std::vector<StagedFile> scratch;  // never committed: these files vanish with it
  std::vector<std::string> command{"gantt"};
  for (const NamedTimeline& named : timelines) {
    scratch.emplace_back(fmt::format("{}.{}.csv", path, scratch.size()), to_csv(*named.timeline));
    command.push_back(scratch.back().staged());
  }
  return painter_->draw(command, extension_of(path).substr(1));
}

void Outputs::write(const std::vector<NamedTimeline>& timelines, const std::string& text, const std::string& json) {
  const Progress progress{"writing"};
  for (const std::string& path : options_.traces) add_trace(path, timelines);
  for (const std::string& path : options_.gantts) files_.add(path, figure(path, timelines));
  files_.add(options_.json, json);
  files_.finish(text);
}

}  // namespace tilerail::cli
