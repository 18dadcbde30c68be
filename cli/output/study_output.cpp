#include "cli/output/study_output.hpp"

#include "model/base/parse.hpp"
#include "model/base/threads.hpp"

namespace tilerail::cli {

void JobsOption::add_to(CLI::App& app) {
  OptionGroup{app, "WORK"}.add("-j,--jobs", "N", count,
                               "Threads that simulate simultaneously [all cores]");
}

study::Workers JobsOption::workers(Progress& progress) const {
  constexpr int64_t most = 4096;
  return {count.empty() ? usable_cores().size()
                        : size_t(parse_integer(count, "jobs", 1, most)),
          [&](size_t done, size_t all) { progress.show(done, all); }};
}

void StudyOptions::add_to(CLI::App& app, OptionGroup& group,
                          const std::string& figure_help) {
  group.add("--csv", "FILE", csv, "Write a line for each row, or - for stdout");
  group.add("--figure", "FILE", figure, figure_help + ", as .png or .svg");
  group.add("--json", "FILE", json, "Result as JSON into a file, or - for stdout");
  jobs.add_to(app);
}

StudyOutputs::StudyOutputs(const StudyOptions& options) : options_{options} {
  files_.expect(options.csv, "--csv");
  files_.expect(options.json, "--json");
  if (options.figure.empty()) return;
  check_extension(options.figure, "--figure", figure_extensions);
  files_.expect(options.figure, "--figure");
  painter_.emplace("--figure");
}

void StudyOutputs::write(const Json& rows, const Words& command,
                         const std::string& text) {
  const std::string csv = csv_table(rows);
  files_.add(options_.csv, csv);
  files_.add(options_.json, json_table(rows));
  files_.finish(text);
  if (painter_ && !command.empty())
    StagedFile{options_.figure, painter_->draw(command, {csv}, options_.figure)}.commit();
}

}  // namespace tilerail::cli
