#include "cli/output/study_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using study::WhatIf;
using study::WhatIfRow;

std::string head(const WhatIf& what) {
  const auto& metadata = what.summary.metadata;
  const study::Evaluation& now = what.now;
  Lines lines{{"problem", metadata.problem},
              {"machine", fmt::format("{}, devices {}", metadata.machine,
                                      fmt::join(metadata.devices, " "))},
              {"policy", fmt::format("{}, tile {}", metadata.policy, metadata.tile)},
              {"plan", fmt::format("{}, {} operations", metadata.plan_hash, now.ops)},
              {"makespan", seconds_text(now.makespan)}};
  if (const auto times = now.over_bound())
    lines.push_back({"bound", fmt::format("{} ({}), {:.2f} x", seconds_text(now.bound),
                                          to_text(now.binding), *times)});
  if (now.makespan > 0)
    lines.push_back(
        {"bottleneck", fmt::format("{}, most of it {}; kernels {} of the critical path",
                                   to_string(now.bottleneck),
                                   to_text(what.summary.critical_path.front()),
                                   share_text(now.kernels))});
  return aligned(lines, "l");
}

/// Rows that change something; the number of the others follows the table.
std::string table(const WhatIf& what) {
  const auto columns = columns_of(what);
  Lines lines{columns.head()};
  for (const WhatIfRow& row : what.rows)
    if (row.trial && !what.is_negligible(row)) lines.push_back(columns.line(row));
  std::string text = "\n" + aligned(lines, "lllr");
  const auto negligible = std::ranges::count_if(
      what.rows, [&](const WhatIfRow& row) { return what.is_negligible(row); });
  if (negligible > 0)
    text += fmt::format("{} more changes save or cost less than 0.1%\n", negligible);
  for (const WhatIfRow& row : what.rows)
    if (!row.trial)
      text += fmt::format("{} {} failed: {}\n", what.parts[row.part].name,
                          study::change_text(row.factor), row.error);
  return text;
}

/// Parts that could be half as good without loss, and gain nothing if better.
std::string idle_parts(const WhatIf& what) {
  std::vector<std::string> names;
  for (const size_t part : what.idle_parts()) names.push_back(what.parts[part].name);
  return names.empty()
             ? ""
             : fmt::format("could be half as good: {}\n", fmt::join(names, ", "));
}

}  // namespace

std::string to_text(const WhatIf& what) {
  if (what.rows.empty())
    return head(what) + "\nnothing takes time here: no part can save any\n";
  return head(what) + table(what) + idle_parts(what);
}

}  // namespace tilerail::cli
