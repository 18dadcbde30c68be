#include "study/whatif/whatif_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "study/json_cells.hpp"
#include "study/whatif/answers.hpp"

namespace tilerail::study {
namespace {

using Json = nlohmann::ordered_json;

/// The cells of a line, in order; those of the trial are null where there is none.
Json cells_of(const WhatIf& what, const WhatIfRow& row) {
  const Part& part = what.parts[row.part];
  Json cells{{"part", part.name},
             {"knobs", part.knobs.size()},
             {"now", value_of(part, what.question.topology, what.plan.problem)},
             {"factor", row.factor}};
  for (const char* figure : {"best_s", "saved_s", "planned_s", "kept_s", "other_s", "taken_back_s", "bound_s",
                             "bound_by", "kernels", "bottleneck", "tile", "ops", "plan_hash"})
    cells[figure] = nullptr;
  if (row.trial) {
    const Evaluation& planned = row.trial->planned;
    cells["best_s"] = row.trial->best().makespan;
    cells["saved_s"] = what.saved(row);
    cells["planned_s"] = planned.makespan;
    cells["kept_s"] = row.trial->kept.makespan;
    if (row.trial->other) cells["other_s"] = row.trial->other->makespan;
    cells["taken_back_s"] = row.trial->taken_back;
    cells["bound_s"] = planned.bound;
    cells["bound_by"] = planned.binding;
    cells["kernels"] = planned.kernels;
    cells["bottleneck"] = to_string(planned.bottleneck);
    cells["tile"] = planned.tile;
    cells["ops"] = planned.ops;
    cells["plan_hash"] = planned.plan_hash;
  }
  cells.update({{"error", row.error},
                {"machine", what.summary.metadata.machine},
                {"problem", what.summary.metadata.problem},
                {"policy", what.summary.metadata.policy},
                {"version", what.summary.metadata.version},
                {"base_s", what.now.makespan},
                {"as_planned_s", what.planned.makespan},
                {"base_bound_s", what.now.bound},
                {"base_bound_by", what.now.binding},
                {"base_plan_hash", what.now.plan_hash}});
  return cells;
}

}  // namespace

std::string change_text(double factor) {
  if (!std::isfinite(factor)) return "no limit";
  return factor < 1 ? fmt::format("x1/{:g}", 1 / factor) : fmt::format("x{:g}", factor);
}

std::string to_csv(const WhatIf& what) {
  std::string csv;
  for (const WhatIfRow& row : what.rows) {
    const Json cells = cells_of(what, row);
    if (csv.empty()) csv = csv_header(cells);
    csv += csv_line(cells);
  }
  return csv;
}

std::string to_json(const WhatIf& what) {
  Json json{{"schema", 1}, {"rows", Json::array()}};
  for (const WhatIfRow& row : what.rows) json["rows"].push_back(cells_of(what, row));
  return json.dump(2) + "\n";
}

}  // namespace tilerail::study
