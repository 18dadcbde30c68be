#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/output/note_text.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/study_output.hpp"
#include "model/base/text.hpp"
#include "study/whatif/answers.hpp"
#include "study/whatif/whatif_table.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(Re-plans the problem with each link, group, engine, kernel table, latency and the issue cost twice as fast, half as
fast and infinitely fast, and simulates the existing plan with it. Equivalent parts share a row.
A PATTERN selects parts: link:host->plx0, group:host memory, engine:gpu0.h2d, kernels:h200, latency:host->plx0, issue, with
* ? and [0-3] as in a shell.
Examples:
  tilerail whatif --gemm 16K --topology karolina-hgx-a100 --figure tornado.svg
  tilerail whatif --gemm 8K --dtype bf16 --topology clx-ai --only 'link:gpu0->*' --each
  tilerail whatif --gemm 16K --topology karolina-hgx-a100 --together 'link:*host* & group:host*')";

struct WhatIfOptions {
  study::JobText job;
  study::PartSelection selection;
  StudyOptions study;
};

using study::Part;
using study::WhatIf;
using study::WhatIfRow;
using Lines = std::vector<std::vector<std::string>>;

/// The time and its share of the makespan; negative if a change costs time.
std::string saving(const WhatIf& what, double seconds) {
  return fmt::format("{} ({:.1f}%)", seconds_text(seconds), 100 * seconds / what.now.makespan);
}

std::string bound_text(const study::Evaluation& of) {
  return fmt::format("{} ({})", seconds_text(of.bound), of.binding);
}

std::string head(const WhatIf& what) {
  const auto& metadata = what.summary.metadata;
  const study::Evaluation& now = what.now;
  Lines lines{{"problem", metadata.problem},
              {"machine", fmt::format("{}, devices {}", metadata.machine, fmt::join(metadata.devices, " "))},
              {"policy", fmt::format("{}, tile {}", metadata.policy, metadata.tile)},
              {"plan", fmt::format("{}, {} operations", metadata.plan_hash, now.ops)},
              {"makespan", seconds_text(now.makespan)}};
  if (what.better)
    lines.back().back() += fmt::format("; by the plan made for {} {}: the one made for the machine as it is takes {}",
                                       what.parts[what.better->first].name, study::change_text(what.better->second),
                                       seconds_text(what.planned.makespan));
  if (now.bound > 0) lines.push_back({"bound", fmt::format("{}, {:.2f} x", bound_text(now), now.makespan / now.bound)});
  if (now.makespan > 0)
    lines.push_back({"bottleneck", fmt::format("{}, most of it {}; kernels {} of the critical path",
                                               to_string(now.bottleneck), now.busiest, share_text(now.kernels))});
  return aligned(lines, "l");
}

/// Only rows that change something; how many others there are is said below.
std::string table(const WhatIf& what) {
  Lines lines{{"part", "knobs", "now", "change", "saved", "makespan", "bound"}};
  std::string failed;
  size_t left_out = 0;
  for (const WhatIfRow& row : what.rows) {
    const Part& part = what.parts[row.part];
    const std::string change = study::change_text(row.factor);
    const double saved = what.saved(row);
    if (!row.trial) {
      failed += fmt::format("{} {} failed: {}\n", part.name, change, row.error);
    } else if (std::abs(saved) < study::negligible_share * what.now.makespan) {
      ++left_out;
    } else {
      const std::string now = value_of(part, what.question.topology, what.plan.problem);
      lines.push_back({part.name, std::to_string(part.knobs.size()), now, change, saving(what, saved),
                       seconds_text(row.trial->best().makespan), bound_text(row.trial->planned)});
    }
  }
  std::string text = lines.size() > 1 ? "\n" + aligned(lines, "lrllrrl") : "\n";
  if (left_out > 0)
    text += fmt::format("{} more changes save or cost less than {}\n", left_out, share_text(study::negligible_share));
  return text + failed;
}

void add_worth(Lines& lines, const WhatIf& what) {
  constexpr size_t most = 4;
  std::vector<size_t> parts = study::worth_upgrading(what);
  if (parts.size() > most) parts.resize(most);
  for (const size_t part : parts) {
    const double saved = what.saved(*what.row(part, 2));
    std::string words = fmt::format("{}: x2 saves {}", what.parts[part].name, saving(what, saved));
    if (const WhatIfRow* all = what.row(part, study::without_limit); all && all->trial)
      words += fmt::format(", no limit {}", saving(what, what.saved(*all)));
    lines.push_back({part == parts.front() ? "worth upgrading" : "", words});
  }
  if (parts.empty()) lines.push_back({"worth upgrading", "no part alone saves 1% when it is doubled"});
  if (!what.together) return;
  const double saved = what.now.makespan - what.together->makespan;
  if (saved < 0.01 * what.now.makespan) return;
  lines.push_back({"together", fmt::format("all x2 save {}:", saving(what, saved))});
  for (const size_t part : what.together->parts) lines.push_back({"", what.parts[part].name});
}

/// How much of the critical path is kernels, and by which part it is most.
void add_now(Lines& lines, const WhatIf& what) {
  const bool bound = what.now.compute_bound();
  lines.push_back({"compute bound, simulated",
                   fmt::format("{}: kernels are {} of the critical path", bound ? "yes, as it is" : "not as it is",
                               share_text(what.now.kernels))});
  const WhatIfRow* const most = bound ? nullptr : study::most_kernels(what);
  if (!most) return;
  lines.back().back() += ",";
  lines.push_back({"", fmt::format("at most {} by {} {}", share_text(most->trial->best().kernels),
                                   what.parts[most->part].name, study::change_text(most->factor))});
}

/// Parts by which the last line becomes so, or may get worse before it is not.
void add_turns(Lines& lines, const WhatIf& what, bool now, std::optional<double> study::Turn::*factor) {
  const size_t before = lines.size();
  for (const study::Turn& turn : what.turns) {
    const double times = (turn.*factor).value_or(0);
    if (times == 0) continue;
    const Part& part = what.parts[turn.part];
    lines.push_back({"", fmt::format("{} {} {} (now {})", now ? "down to" : "from",
                                     std::isfinite(times) ? fmt::format("x{:.3g}", times) : "without limit", part.name,
                                     value_of(part, what.question.topology, what.plan.problem))});
  }
  if (lines.size() == before)
    lines.back().back() += now ? ", whatever becomes of any one part" : ", and no part alone makes it so";
}

std::string answers(const WhatIf& what) {
  Lines lines;
  add_worth(lines, what);
  add_now(lines, what);
  add_turns(lines, what, what.now.compute_bound(), &study::Turn::by_simulation);
  const bool bound = what.now.bound_by_kernels();
  lines.push_back({"compute bound, by the bound", bound ? "yes, as it is" : "not as it is"});
  add_turns(lines, what, bound, &study::Turn::by_bound);
  for (const study::Turn& turn : what.turns)
    if (!turn.error.empty())
      lines.push_back({"failed", fmt::format("compute bound by {}: {}", what.parts[turn.part].name, turn.error)});
  if (!what.together_error.empty()) lines.push_back({"failed", "together: " + what.together_error});
  return "\n" + aligned(lines, "l");
}

std::string to_text(const WhatIf& what) {
  if (what.rows.empty()) return head(what) + "\nnothing takes time here: no part can save any\n";
  return head(what) + table(what) + answers(what);
}

int run_whatif(const WhatIfOptions& options) {
  StudyOutputs outputs{options.study};
  study::Workers workers = options.study.workers();
  study::Question question{options.job.machine.load(), options.job};
  const std::string places = note_text(options.job.problem.place_note(question.topology));
  const WhatIf what = [&] {
    Progress progress{"changing the machine"};
    workers.ended = [&](size_t done, size_t all) { progress.show(done, all); };
    return study::what_if(std::move(question), options.selection, workers);
  }();
  outputs.write(study::to_csv(what), study::to_json(what), {"tornado"}, places + to_text(what));
  return exit_ok;
}

}  // namespace

Command add_whatif(CLI::App& root) {
  auto options = std::make_shared<WhatIfOptions>();
  CLI::App* app = root.add_subcommand("whatif", "Rank upgrades of a machine by the time that they save");
  app->footer(footer);
  add_options(*app, options->job, false);
  OptionGroup group{*app, "PARTS"};
  app->add_flag("--each", options->selection.each, "Each part alone, even where others are alike")
      ->group(group.heading);
  group.add("--only", "PATTERN", options->selection.only, "Only parts of this name");
  group.add("--together", "PATTERN & ...", options->selection.together, "One more part: all these at once");
  OptionGroup output{*app, "OUTPUT"};
  options->study.add_to(*app, output, "What each part saves and costs as a tornado");
  return {app, [options] { return run_whatif(*options); }};
}

}  // namespace tilerail::cli
