#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/bench_options.hpp"
#include "cli/options/point_options.hpp"
#include "cli/output/interruption.hpp"
#include "cli/output/note_text.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/study_output.hpp"
#include "cli/output/sweep_text.hpp"
#include "model/base/error.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "study/json_cells.hpp"
#include "study/sweep/run_sweep.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(Plans and simulates every combination of values, on all cores, and writes one table. --part computes a share of it; join
puts the shares together.
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
  PointOptions points;
  std::string backend, part;
  bool hash = false;
  BenchOptions bench{.iterations = "5", .warmup = "2"};
  StudyOptions study;
};

/// Hardware is the machine that it is.
void refuse_other_machines(const study::Sweep& sweep) {
  const auto refuse = [&](const std::string& place, const std::string& what) {
    throw InputError{"backend", sweep.backend, "runs on the machine as it is", fmt::format("no '{}'", what), place};
  };
  if (!sweep.base.machine.settings.empty()) {
    const std::string& setting = sweep.base.machine.settings.front();
    const auto place = sweep.base_places.find(split_setting(setting).first);
    refuse(place == sweep.base_places.end() ? "" : place->second, setting);
  }
  for (const study::SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys)
      if (begins_as_setting(key) || (key == "topology" && axis.values.texts.size() > 1)) refuse(axis.place, key);
}

study::Sweep sweep_of(const SweepOptions& options) {
  study::Sweep sweep = options.points.sweep();
  const auto run = options.bench.settings_unless_simulated(options.backend);
  if (!run) return sweep;
  sweep.backend = options.backend, sweep.run = *run;
  refuse_other_machines(sweep);
  return sweep;
}

study::SweepRun run(const study::Sweep& sweep, study::Workers workers, const study::SweepPart& part,
                    const study::SweepStamp& stamp, const study::Machines& machines, const StopRequest& stop) {
  Progress progress{"sweeping"};
  if (sweep.is_measured()) workers.count = 1;
  workers.ended = [&](size_t done, size_t all) { progress.show(done, all); };
  workers.stop_asked = [&] { return stop.is_asked(); };
  return study::run_sweep(sweep, machines, stamp, part, workers);
}

bool checks_failed(const study::SweepRun& run) {
  for (const auto& [_, cells] : run.rows)
    if (cells.contains("check") && cells["check"] == "FAILED") return true;
  return false;
}

/// Of the first point.
std::string place_note(const study::Sweep& sweep, const study::Machines& machines) {
  const study::JobText first = sweep.job(0);
  return note_text(first.problem.place_note(study::machine_of(first, machines)));
}

int run_sweep(const SweepOptions& options) {
  StudyOutputs outputs{options.study};
  const study::SweepPart part = options.part.empty() ? study::SweepPart{} : study::parse_part(options.part);
  const study::Workers workers = options.study.workers();
  const study::Sweep sweep = sweep_of(options);
  const study::Machines machines = study::check_sweep(sweep);
  const study::SweepStamp stamp{study::hash_of(sweep, machines, TILERAIL_VERSION), TILERAIL_VERSION};
  if (options.hash) {
    print(stamp.hash + "\n");
    return exit_ok;
  }
  const StopRequest stop;
  const study::SweepRun done = run(sweep, workers, part, stamp, machines, stop);
  const bool is_whole = done.rows.size() == done.points, any = done.failed < done.rows.size();
  const std::string progress = fmt::format("after {} of {} points", done.rows.size(), done.points);
  if (!is_whole && done.rows.empty()) stop.end_program(fmt::format("{}; {}", progress, nothing_is_kept));
  const std::string csv = to_csv(done);
  const bool has_reader = is_whole || (options.study.csv.empty() && options.study.json.empty());
  outputs.write(csv, to_json(done), any && is_whole ? StudyOutputs::Words{"sweep"} : StudyOutputs::Words{},
                has_reader ? place_note(sweep, machines) + to_text(study::read_sweep_table(csv, "the sweep")) : "");
  if (!is_whole) stop.end_program(progress + "; the outputs contain these");
  if (part.of == 1 && !any) return exit_bad_input;
  return checks_failed(done) ? exit_check_failed : exit_ok;
}

struct JoinOptions {
  std::vector<std::string> files;
  StudyOptions study;
};

int run_join(const CLI::App& app, const JoinOptions& options) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) throw fault_of(option->get_name(), "means nothing to join", "FILES and its outputs");
  StudyOutputs outputs{options.study};
  const study::SweepTable table = study::joined(options.files);
  const bool any =
      std::ranges::any_of(table.rows, [&](const auto& row) { return table.cell(row.second, "error").empty(); });
  outputs.write(to_csv(table), "", any ? StudyOutputs::Words{"sweep"} : StudyOutputs::Words{}, to_text(table));
  return any ? exit_ok : exit_bad_input;
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
  OptionGroup group = options->points.add_to(*app, "SWEEP");
  group.add("--part", "I/N", options->part, "Only this share of the points");
  group.add("--backend", "NAME", options->backend,
            "host or cuda: each point is run there, too, one after another [fluid]");
  options->bench.add_to(*app, group);
  OptionGroup output{*app, "OUTPUT"};
  options->study.add_to(*app, output, figure_help);
  app->add_flag("--hash", options->hash, "Print the hash of the sweep alone, and do nothing")->group(output.heading);
  return {app,
          [app, options, join, join_app] { return join_app->parsed() ? run_join(*app, *join) : run_sweep(*options); }};
}

}  // namespace tilerail::cli
