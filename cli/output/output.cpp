#include "cli/output/output.hpp"

#include "cli/options/option_group.hpp"
#include "cli/output/progress.hpp"
#include "report/timeline/timeline_csv.hpp"

namespace tilerail::cli {
void OutputOptions::add_to(CLI::App& app, TraceKind kind) {
  OptionGroup group{app, "OUTPUT"};
  group.add("--json", "FILE", json, "Result as JSON into a file, or - for stdout");
  if (kind == TraceKind::one_timeline) {
    group.add("--timeline", "FILE", traces,
              "Timeline as .csv, or as a trace .json (Perfetto, Chrome)");
  } else {
    group.add("--trace", "FILE", traces,
              "Both timelines in one trace .json (Perfetto, Chrome)");
  }
  group.add("--gantt", "FILE", gantts, "Figure as .png or .svg");
}

Outputs::Outputs(const OutputOptions& options, TraceKind kind) : options_{options} {
  const bool single = kind == TraceKind::one_timeline;
  for (const std::string& path : options.traces) {
    const char* option = single ? "--timeline" : "--trace";
    check_extension(path, option,
                    single ? std::vector<std::string>{".csv", ".json"}
                           : std::vector<std::string>{".json"});
    files_.expect(path, option);
  }
  for (const std::string& path : options.gantts) {
    check_extension(path, "--gantt", figure_extensions);
    files_.expect(path, "--gantt");
  }
  files_.expect(options.json, "--json");
  if (!options.gantts.empty()) painter_.emplace("--gantt");
}

void Outputs::write(const std::vector<NamedTimeline>& timelines, const std::string& text,
                    const std::string& json) {
  const Progress progress{"writing"};
  for (const std::string& path : options_.traces)
    files_.add(path, path.ends_with(".csv") ? to_csv(*timelines.front().timeline)
                                            : to_chrome_json(timelines));
  for (const std::string& path : options_.gantts) {
    std::vector<std::string> tables;
    for (const NamedTimeline& named : timelines)
      tables.push_back(to_csv(*named.timeline));
    files_.add(path, painter_->draw({"gantt"}, tables, path));
  }
  files_.add(options_.json, json);
  files_.finish(text);
}

}  // namespace tilerail::cli
