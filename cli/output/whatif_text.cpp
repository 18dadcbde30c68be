#include "cli/output/whatif_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/text.hpp"
#include "study/whatif/answers.hpp"
#include "study/whatif/whatif_table.hpp"

namespace tilerail::cli {
namespace {

using study::WhatIf;
using study::WhatIfRow;
using Lines = std::vector<std::vector<std::string>>;

std::string bound_text(double seconds, const std::string& by) {
  return fmt::format("{} ({})", seconds_text(seconds), by);
}

std::string share_of_makespan(const WhatIf& what, double seconds) {
  return fmt::format("{:+.1f}%", 100 * seconds / what.now.makespan);
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
  if (now.bound > 0)
    lines.push_back(
        {"bound", fmt::format("{}, {:.2f} x", bound_text(now.bound, now.binding), now.makespan / now.bound)});
  if (now.makespan > 0)
    lines.push_back({"bottleneck", fmt::format("{}, most of it {}; kernels {} of the critical path",
                                               to_string(now.bottleneck), now.busiest, share_text(now.kernels))});
  return aligned(lines, "l");
}

/// Only rows that change something; how many others there are is said below.
std::string table(const WhatIf& what) {
  const bool others = std::ranges::any_of(what.rows, [](const auto& row) { return row.trial && row.trial->other; });
  Lines lines{{"part", "knobs", "now", "change", "saved", "of all", "re-planned", "plan kept"}};
  if (others) lines[0].emplace_back("other plan");
  lines[0].emplace_back("bound");
  size_t left_out = 0;
  for (const WhatIfRow& row : what.rows) {
    if (!row.trial) continue;
    const study::Part& part = what.parts[row.part];
    const double saved = what.saved(row);
    if (std::abs(saved) < study::negligible_share * what.now.makespan) {
      ++left_out;
      continue;
    }
    const std::string sign = saved < 0 ? "-" : "";
    lines.push_back({part.name, fmt::format("{}", part.knobs.size()),
                     value_of(part, what.question.topology, what.plan.problem), study::change_text(row.factor),
                     sign + seconds_text(std::abs(saved)), share_of_makespan(what, saved),
                     seconds_text(row.trial->planned.makespan), seconds_text(row.trial->kept.makespan)});
    if (others) lines.back().push_back(row.trial->other ? seconds_text(row.trial->other->makespan) : "-");
    lines.back().push_back(bound_text(row.trial->planned.bound, row.trial->planned.binding));
  }
  std::string text = lines.size() > 1 ? "\n" + aligned(lines, others ? "lrllrrrrrl" : "lrllrrrrl") : "\n";
  if (left_out > 0)
    text += fmt::format("{} more changes save or cost less than {}\n", left_out, share_text(study::negligible_share));
  for (const WhatIfRow& row : what.rows)
    if (!row.trial)
      text += fmt::format("{} {} failed: {}\n", what.parts[row.part].name, study::change_text(row.factor), row.error);
  return text;
}

std::string list_of(const WhatIf& what, const std::vector<size_t>& parts) {
  std::vector<std::string> names;
  for (const size_t part : parts) names.push_back(what.parts[part].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string saving(const WhatIf& what, double seconds) {
  return fmt::format("{} ({:.1f}%)", seconds_text(seconds), 100 * seconds / what.now.makespan);
}

void add_worth(Lines& lines, const WhatIf& what) {
  constexpr size_t most = 4;
  std::vector<size_t> parts = study::worth_upgrading(what);
  if (parts.size() > most) parts.resize(most);
  for (const size_t part : parts) {
    std::string words =
        fmt::format("{}: x2 saves {}", what.parts[part].name, saving(what, what.saved(*what.row(part, 2))));
    if (const WhatIfRow* all = what.row(part, study::without_limit); all && all->trial)
      words += fmt::format(", no limit {}", saving(what, what.saved(*all)));
    lines.push_back({part == parts.front() ? "worth upgrading" : "", words});
  }
  if (parts.empty()) lines.push_back({"worth upgrading", "no part alone saves 1% when it is doubled"});
  if (!what.together) return;
  const double saved = what.now.makespan - what.together->makespan;
  if (saved >= 0.01 * what.now.makespan)
    lines.push_back(
        {"together", fmt::format("all x2 save {}: {}", saving(what, saved), list_of(what, what.together->parts))});
}

std::string factor_text(const std::optional<double>& factor) {
  if (!factor) return "";
  if (*factor == 0) return "at any rate";
  return std::isfinite(*factor) ? fmt::format("x{:.3g}", *factor) : "without limit";
}

/// How much of the critical path is kernels, and by which part it is most.
std::string now_text(const WhatIf& what) {
  std::string text =
      fmt::format("{}: kernels are {} of the critical path",
                  what.now.compute_bound() ? "yes, as it is" : "not as it is", share_text(what.now.kernels));
  if (what.now.compute_bound()) return text;
  if (const WhatIfRow* most = study::most_kernels(what))
    text += fmt::format(", at most {} by {} {}", share_text(most->trial->best().kernels), what.parts[most->part].name,
                        study::change_text(most->factor));
  return text;
}

/// Searches that ended in an error.
void add_failures(Lines& lines, const WhatIf& what) {
  for (const study::Turn& turn : what.turns)
    if (!turn.error.empty())
      lines.push_back({"failed", fmt::format("compute bound by {}: {}", what.parts[turn.part].name, turn.error)});
  if (!what.together_error.empty()) lines.push_back({"failed", "together: " + what.together_error});
}

/// Parts by which it becomes so, or may get worse before it is not.
void add_turns(Lines& lines, const WhatIf& what, const char* heading, bool now, const std::string& words_of_now,
               std::optional<double> study::Turn::*factor) {
  lines.push_back({heading, words_of_now});
  bool any = false;
  for (const study::Turn& turn : what.turns) {
    if (!(turn.*factor) || *(turn.*factor) == 0) continue;
    const study::Part& part = what.parts[turn.part];
    const Topology& machine = what.question.topology;
    std::string words = fmt::format("{} {} {} (now {}", now ? "down to" : "from", factor_text(turn.*factor), part.name,
                                    value_of(part, machine, what.plan.problem));
    if (std::isfinite(*(turn.*factor)))
      words += fmt::format(", then {}",
                           value_of(part, study::improved(machine, part.knobs, *(turn.*factor)), what.plan.problem));
    lines.push_back({"", words + ")"});
    any = true;
  }
  if (!any) lines.back().back() += now ? ", whatever becomes of any one part" : ", and no part alone makes it so";
}

void add_anomalies(Lines& lines, const WhatIf& what, const char* heading, const std::vector<const WhatIfRow*>& rows) {
  for (const WhatIfRow* row : rows) {
    const double saved = what.saved(*row);
    const std::string words =
        fmt::format("{} {}: {} {} ({:+.1f}%)", what.parts[row->part].name, study::change_text(row->factor),
                    seconds_text(std::abs(saved)), saved < 0 ? "more" : "less", -100 * saved / what.now.makespan);
    lines.push_back({heading, words});
  }
}

void add_idle(Lines& lines, const WhatIf& what) {
  std::vector<size_t> unused, slack;
  for (const size_t part : study::idle_parts(what)) (what.is_used(what.parts[part]) ? slack : unused).push_back(part);
  if (!unused.empty()) lines.push_back({"does nothing here", list_of(what, unused)});
  if (!slack.empty()) lines.push_back({"could be half as good", list_of(what, slack)});
}

/// The second cells broken between words, so that they fit on most terminals; further lines are indented.
Lines broken(const Lines& lines) {
  constexpr size_t width = 84;
  Lines result;
  for (const auto& line : lines) {
    std::string_view rest = line[1];
    std::string heading = line[0], indent;
    while (rest.size() + indent.size() > width) {
      const size_t blank = rest.rfind(' ', width - indent.size());
      if (blank == std::string_view::npos) break;
      result.push_back({std::exchange(heading, ""), indent + std::string{rest.substr(0, blank)}});
      rest.remove_prefix(blank + 1);
      indent = "  ";
    }
    result.push_back({heading, indent + std::string{rest}});
  }
  return result;
}

std::string answers(const WhatIf& what) {
  Lines lines;
  add_worth(lines, what);
  const bool simulated = what.now.compute_bound(), bound = what.now.bound_by_kernels();
  add_turns(lines, what, "compute bound, simulated", simulated, now_text(what), &study::Turn::by_simulation);
  add_turns(lines, what, "compute bound, by the bound", bound, bound ? "yes, as it is" : "not as it is",
            &study::Turn::by_bound);
  add_failures(lines, what);
  add_idle(lines, what);
  add_anomalies(lines, what, "slower though better", study::slower_rows(what));
  add_anomalies(lines, what, "faster though worse", study::faster_rows(what));
  return "\n" + aligned(broken(lines), "l");
}

}  // namespace

std::string to_text(const WhatIf& what) {
  if (what.rows.empty()) return head(what) + "\nnothing takes time here: no part can save any\n";
  return head(what) + table(what) + answers(what);
}

}  // namespace tilerail::cli
