#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/output/interruption.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/study_output.hpp"
#include "cli/output/study_text.hpp"
#include "model/base/error.hpp"
#include "model/base/output_target.hpp"
#include "study/sweep/journal.hpp"
#include "study/sweep/sweep_figure.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* sweep_footer =
    R"(Plans and simulates every combination of values, on all cores, and writes one table.
KEY is an option (gemm, m, n, k, dtype, place, topology, devices, policy, tile, effort ...), a field of policies (routing ...)
or a setting of the machine (link:host->gpu*.bandwidth, group:host memory.capacity, gpus ...).
With --csv FILE, the same command continues an interrupted sweep.
VALUES are a list, in which 25..1600 x2 GB/s and 2..8 +2 are ranges; lists of values with commas are separated by ';'.
Examples:
  tilerail sweep --gemm 16K --topology hgx-h200-4 --vary 'link:host<->*.bandwidth=25..200 x2 GB/s' --csv pcie.csv
  tilerail sweep --topology clx-ai --vary 'gemm=4K..32K x2' --vary policy=tilerail,gemmex --figure sizes.svg)";

struct SweepOptions {
  study::JobText job;
  std::vector<std::string> vary;
  std::string figure;
  StudyOptions study;
};

std::vector<study::SweepRow> run(const study::Sweep& sweep, const JobsOption& jobs,
                                 const study::Machines& machines, const StopRequest& stop,
                                 study::SweepJournal* journal) {
  Progress progress{"sweeping"};
  study::Workers workers = jobs.workers(progress);
  workers.stop_asked = [&] { return stop.is_asked(); };
  return study::run_sweep(sweep, machines, workers, journal);
}

/// The file for the rows of an interrupted sweep, next to its table; "" if the table is
/// not a file.
std::string journal_file(const std::string& csv) {
  if (csv.empty() || csv == "-") return {};
  const OutputTarget target = output_target(csv);
  return target.kind == OutputTarget::Kind::file ? target.place.string() + ".part" : "";
}

/// The note about the placement of the first point.
std::string place_note(const study::Sweep& sweep, const study::Machines& machines) {
  const study::JobText first = sweep.job(0);
  return note_text(first.problem.place_note(study::machine_of(first, machines)));
}

int run_sweep(const SweepOptions& options) {
  StudyOutputs outputs{options.study, options.figure};
  const std::string journal_path = journal_file(options.study.csv);
  outputs.expect(journal_path);
  const study::Sweep sweep = study::sweep_of(options.job, options.vary);
  if (!options.figure.empty()) study::require_figure(sweep);
  const study::Machines machines = study::check_sweep(sweep);
  const StopRequest stop;
  std::unique_ptr<study::SweepJournal> journal;
  if (!journal_path.empty())
    journal = std::make_unique<study::SweepJournal>(sweep, machines, journal_path);
  const auto rows = run(sweep, options.study.jobs, machines, stop, journal.get());
  const bool is_whole = rows.size() == sweep.points();
  const bool any = std::ranges::any_of(rows, &study::SweepRow::has_result);
  const std::string progress =
      fmt::format("after {} of {} points", rows.size(), sweep.points());
  if (rows.empty()) {
    journal.reset();
    stop.end_program(fmt::format("{}; {}", progress, nothing_is_kept));
  }
  const bool has_figure = !options.figure.empty() && any && is_whole;
  const bool has_reader =
      is_whole || (options.study.csv.empty() && options.study.json.empty());
  outputs.write(study::columns_of(sweep).json_rows(rows),
                has_reader ? place_note(sweep, machines) + to_text(sweep, rows) : "",
                has_figure ? study::sweep_svg(sweep, rows) : "");
  if (!is_whole)
    stop.end_program(progress + "; the outputs contain these" +
                     (journal ? ", and the same command continues" : ""));
  if (journal) journal->remove();
  if (!any)
    throw fault_of("", fmt::format("all {} points failed, the first with: {}",
                                   rows.size(), *rows.front().error));
  return exit_ok;
}

}  // namespace

Command add_sweep(CLI::App& root) {
  return make_command<SweepOptions>(
      root, "sweep", "Plan and simulate all combinations of values of any keys",
      sweep_footer, run_sweep, [](CLI::App& app, SweepOptions& options) {
        add_options(app, options.job, false);
        OptionGroup{app, "SWEEP"}.add(
            "--vary", "KEY=VALUES", options.vary,
            "Keys with several values; keys joined by & take the same");
        const OptionGroup output{app, "OUTPUT"};
        options.study.add_to(app, output);
        output.add("--figure", "FILE", options.figure,
                   "Times or rates over the varied keys, as .svg");
      });
}

}  // namespace tilerail::cli
