#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/options.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/study_output.hpp"
#include "cli/output/sweep_text.hpp"
#include "model/base/error.hpp"
#include "study/sweep/journal.hpp"
#include "study/sweep/keys.hpp"
#include "study/sweep/run_sweep.hpp"
#include "study/sweep/sweep_file.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(Plans and simulates every combination of values, on all cores, and writes one table. A sweep that was ended goes on
where it was when it is started again with the same --csv; --part does a share of it, which join puts together.
KEY is an option (gemm, m, n, k, dtype, place, topology, devices, policy, tile ...), a field of policies (routing ...)
or a setting of the machine (link:host->gpu*.bandwidth, group:host memory.capacity, gpus ...).
VALUES are a list, in which 25..1600 x2 GB/s and 2..8 +2 are ranges; lists of values with commas are parted by ';'.
Examples:
  tilerail sweep --gemm 16K --topology hgx-h200-4 --vary 'link:host<->*.bandwidth=25..200 x2 GB/s' --csv pcie.csv
  tilerail sweep --topology clx-ai --vary gemm=4K..32K x2 --vary policy=tilerail,gemmex --figure sizes.svg
  tilerail sweep sweep.toml --part 3/8 --csv part3.csv
  tilerail sweep join part*.csv --csv all.csv --figure all.svg)";

constexpr const char* figure_help = "Times or rates against what was varied";

struct SweepOptions {
  std::string file;
  study::JobText job;
  std::vector<std::string> vary;
  std::string backend, part;
  BenchOptions bench{.iterations = "5", .warmup = "2"};
  StudyOptions study;
  std::vector<const CLI::Option*> instead_of_file;
};

/// What the file of a sweep says is said there alone.
void refuse_beside_file(const SweepOptions& options) {
  for (const CLI::Option* option : options.instead_of_file)
    if (option->count() > 0)
      throw InputError{fmt::format("{}: is given beside the sweep {}; expected it in that file alone",
                                   option->get_name(), options.file)};
}

study::Sweep sweep_of(const SweepOptions& options) {
  if (!options.file.empty()) refuse_beside_file(options);
  study::Sweep sweep = options.file.empty() ? study::Sweep{} : study::load_sweep(options.file);
  if (options.file.empty()) {
    sweep.base = options.job;
    for (const std::string& text : options.vary) sweep.axes.push_back(study::parse_axis(text));
  }
  if (options.backend.empty() || options.backend == "sim") return sweep;
  study::require_backend(options.backend);
  sweep.backend = options.backend;
  sweep.run = options.bench.settings(1, options.backend);
  for (const study::SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys)
      if (study::is_machine_setting(key))
        throw InputError{fmt::format("{}--backend {} runs on the machine as it is; expected no '{}'", axis.place,
                                     options.backend, key)};
  return sweep;
}

study::SweepRun run(const study::Sweep& sweep, const SweepOptions& options, const study::SweepPart& part,
                    study::Journal* journal, const study::SweepStamp& stamp, const study::Machines& machines) {
  CountedProgress progress{"sweeping"};
  study::Processes processes{.count = sweep.backend == "sim" ? options.study.processes() : 1};
  processes.tick = [&](std::size_t done, std::size_t all) { progress.show(done, all); };
  return study::run_sweep(sweep, machines, stamp, part, journal, processes);
}

bool checks_failed(const study::SweepRun& run) {
  for (const auto& [_, cells] : run.rows)
    if (cells.contains("check") && cells["check"] == "FAILED") return true;
  return false;
}

/// No pipe and no device: beside these there is no place for a journal.
bool is_table_file(const std::string& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  return !path.empty() && path != "-" && (!exists || std::filesystem::is_regular_file(path, error));
}

int run_sweep(const SweepOptions& options) {
  StudyOutputs outputs{options.study};
  const bool has_journal = is_table_file(options.study.csv);
  if (has_journal) outputs.expect(options.study.csv + ".journal", "--csv");
  const study::SweepPart part = options.part.empty() ? study::SweepPart{} : study::parse_part(options.part);
  const study::Sweep sweep = sweep_of(options);
  const study::Machines machines = study::check_sweep(sweep);
  if (part.number > sweep.points())
    throw InputError{fmt::format("--part: '{}' is empty: the sweep has {} points", options.part, sweep.points())};
  const study::SweepStamp stamp{study::hash_of(sweep, machines, TILERAIL_VERSION), TILERAIL_VERSION};
  std::optional<study::Journal> journal;
  if (has_journal) journal.emplace(options.study.csv + ".journal", study::journal_header(stamp, part));
  const study::SweepRun done = run(sweep, options, part, journal ? &*journal : nullptr, stamp, machines);
  if (done.resumed > 0) spdlog::info("{} of {} points were done before", done.resumed, done.rows.size());
  const std::string csv = to_csv(done);
  outputs.write(csv, to_json(done), {"sweep"}, to_text(study::read_sweep_table(csv, "the sweep")));
  if (journal) journal->remove();
  if (part.of == 1 && done.failed.size() == done.rows.size()) return exit_bad_input;
  return checks_failed(done) ? exit_check_failed : exit_ok;
}

struct JoinOptions {
  std::vector<std::string> files;
  StudyOptions study;
};

int run_join(const JoinOptions& options) {
  StudyOutputs outputs{options.study};
  const study::SweepTable table = study::joined(options.files);
  outputs.write(to_csv(table), "", {"sweep"}, to_text(table));
  return exit_ok;
}

void add_join(CLI::App& app, JoinOptions& options) {
  app.add_option("FILES", options.files, "The tables of all parts")->required();
  OptionGroup group{app, "OUTPUT"};
  options.study.add_tables(group, figure_help);
}

}  // namespace

Command add_sweep(CLI::App& root) {
  auto options = std::make_shared<SweepOptions>();
  auto join = std::make_shared<JoinOptions>();
  CLI::App* app = root.add_subcommand("sweep", "Plan and simulate all combinations of values of any keys");
  app->footer(footer);
  CLI::App* join_app = app->add_subcommand("join", "Put the tables of all parts of a sweep together");
  add_join(*join_app, *join);
  const CLI::Option* const file =
      app->add_option("FILE", options->file, "A sweep (.toml), instead of the next options");
  add_options(*app, options->job, false);
  OptionGroup group{*app, "SWEEP"};
  group.add("--vary", "KEY=VALUES", options->vary, "What takes several values; keys joined by & take the same");
  for (const CLI::Option* option : app->get_options())
    if (option != file && option->get_name() != "--help") options->instead_of_file.push_back(option);
  group.add("--part", "I/N", options->part, "Only this share of the points");
  group.add("--backend", "NAME", options->backend, "sim, or host or cuda: run there, too, one after another [sim]");
  options->bench.add_to(*app, group);
  OptionGroup output{*app, "OUTPUT"};
  options->study.add_to(*app, output, figure_help);
  return {app, [options, join, join_app] { return join_app->parsed() ? run_join(*join) : run_sweep(*options); }};
}

}  // namespace tilerail::cli
