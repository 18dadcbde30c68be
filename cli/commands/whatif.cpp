#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/output/study_output.hpp"
#include "cli/output/study_text.hpp"
#include "study/whatif/whatif.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* whatif_footer =
    R"(Re-plans the problem with each link, group, engine, kernel table, the latency and the issue cost twice as fast, half as
fast and infinitely fast, and simulates the existing plan with it. Parts of equal figures share a row if their
names differ only in numbers.
A PATTERN selects parts: link:host->plx0, group:host memory, engine:gpu0.h2d, kernels:h200, latency, issue, with * ? and
[0-3] as in a shell.
Examples:
  tilerail whatif --gemm 16K --topology karolina-hgx-a100 --csv whatif.csv
  tilerail whatif --gemm 8K --dtype bf16 --topology clx-ai --only 'link:gpu0->*' --each)";

struct WhatIfOptions {
  study::JobText job;
  study::PartSelection selection;
  StudyOptions study;
};

int run_whatif(const WhatIfOptions& options) {
  StudyOutputs outputs{options.study};
  const Topology machine = options.job.machine.load();
  const std::string places = note_text(options.job.problem.place_note(machine));
  const study::WhatIf what = [&] {
    Progress progress{"changing the machine"};
    return study::what_if(machine, options.job, options.selection,
                          options.study.jobs.workers(progress));
  }();
  outputs.write(study::columns_of(what).json_rows(what.rows), places + to_text(what));
  return exit_ok;
}

}  // namespace

Command add_whatif(CLI::App& root) {
  return make_command<WhatIfOptions>(
      root, "whatif", "Rank upgrades of a machine by the time that they save",
      whatif_footer, run_whatif, [](CLI::App& app, WhatIfOptions& options) {
        add_options(app, options.job, false);
        OptionGroup group{app, "PARTS"};
        group.flag("--each", options.selection.each,
                   "Each part alone, even if others are equivalent");
        group.add("--only", "PATTERN", options.selection.only, "Only parts of this name");
        options.study.add_to(app, {app, "OUTPUT"});
      });
}

}  // namespace tilerail::cli
