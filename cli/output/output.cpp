#include "cli/output/output.hpp"

#include "cli/options/option_group.hpp"
#include "cli/output/progress.hpp"
#include "report/figure/gantt.hpp"
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
  group.add("--gantt", "FILE", gantts, "Figure as .svg");
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
    check_figure(path, "--gantt");
    files_.expect(path, "--gantt");
  }
  files_.expect(options.json, "--json");
}

void Outputs::write(const std::vector<NamedTimeline>& timelines, const std::string& text,
                    const std::string& json) {
  const Progress progress{"writing"};
  for (const std::string& path : options_.traces)
    files_.add(path, path.ends_with(".csv") ? to_csv(*timelines.front().timeline)
                                            : to_chrome_json(timelines));
  if (!options_.gantts.empty()) {
    const std::string figure = gantt_svg(timelines);
    for (const std::string& path : options_.gantts) files_.add(path, figure);
  }
  files_.add(options_.json, json);
  files_.finish(text);
}

}  // namespace tilerail::cli
