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

void StudyOptions::add_to(CLI::App& app, const OptionGroup& group) {
  group.add("--csv", "FILE", csv, "Write a line for each row, or - for stdout");
  group.add("--json", "FILE", json, "Result as JSON into a file, or - for stdout");
  jobs.add_to(app);
}

StudyOutputs::StudyOutputs(const StudyOptions& options, const std::string& figure)
    : options_{options}, figure_{figure} {
  files_.expect(options.csv, "--csv");
  files_.expect(options.json, "--json");
  if (figure.empty()) return;
  check_figure(figure, "--figure");
  files_.expect(figure, "--figure");
}

void StudyOutputs::write(const Json& rows, const std::string& text,
                         const std::string& svg) {
  files_.add(options_.csv, csv_table(rows));
  files_.add(options_.json, json_table(rows));
  if (!svg.empty()) files_.add(figure_, svg);
  files_.finish(text);
}

}  // namespace tilerail::cli
