#include "study/whatif/whatif_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "study/json_cells.hpp"
#include "study/whatif/answers.hpp"

namespace tilerail::study {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity.
Json number(double factor) { return std::isfinite(factor) ? Json(factor) : Json(nullptr); }

Json json_of(const Evaluation& e) {
  return {{"makespan_s", e.makespan},
          {"bound_s", e.bound},
          {"bound_by", e.binding},
          {"kernels", e.kernels},
          {"bottleneck", to_string(e.bottleneck)},
          {"busiest", e.busiest},
          {"plan_hash", e.plan_hash},
          {"tile", e.tile},
          {"ops", e.ops},
          {"devices", e.devices}};
}

Json json_of(const std::vector<ChangedRoute>& routes) {
  Json json = Json::array();
  for (const ChangedRoute& route : routes)
    json.push_back({{"from", route.from}, {"to", route.to}, {"before", route.before}, {"after", route.after}});
  return json;
}

Json error_json(const std::string& error) { return error.empty() ? Json(nullptr) : Json(error); }

/// The cells of a line, in order; those of the trial are null where there is none.
Json cells_of(const WhatIf& what, const WhatIfRow& row) {
  const Part& part = what.parts[row.part];
  Json cells{{"part", part.name},
             {"knobs", part.knobs.size()},
             {"now", value_of(part, what.question.topology, what.plan.problem)},
             {"factor", number(row.factor)}};
  for (const char* figure : {"best_s", "saved_s", "planned_s", "kept_s", "other_s", "taken_back_s", "bound_s",
                             "bound_by", "kernels", "bottleneck", "tile", "ops", "plan_hash"})
    cells[figure] = nullptr;
  if (row.trial) {
    const Evaluation& planned = row.trial->planned;
    cells["best_s"] = row.trial->best().makespan, cells["saved_s"] = what.saved(row);
    cells["planned_s"] = planned.makespan, cells["kept_s"] = row.trial->kept.makespan;
    if (row.trial->other) cells["other_s"] = row.trial->other->makespan;
    cells["taken_back_s"] = row.trial->taken_back;
    cells["bound_s"] = planned.bound, cells["bound_by"] = planned.binding;
    cells["kernels"] = planned.kernels, cells["bottleneck"] = to_string(planned.bottleneck);
    cells["tile"] = planned.tile, cells["ops"] = planned.ops, cells["plan_hash"] = planned.plan_hash;
  }
  cells["error"] = error_json(row.error);
  return cells;
}

/// What every line says: of the machine as it is.
Json base_of(const WhatIf& what) {
  return {{"machine", what.summary.metadata.machine},
          {"problem", what.summary.metadata.problem},
          {"policy", what.summary.metadata.policy},
          {"version", what.summary.metadata.version},
          {"base_s", what.now.makespan},
          {"as_planned_s", what.planned.makespan},
          {"base_bound_s", what.now.bound},
          {"base_bound_by", what.now.binding},
          {"base_plan_hash", what.now.plan_hash}};
}

Json names(const WhatIf& what, const std::vector<std::size_t>& parts) {
  Json list = Json::array();
  for (const std::size_t part : parts) list.push_back(what.parts[part].name);
  return list;
}

/// A factor; "inf" only without any limit; null: by no factor.
Json turn_json(const std::optional<double>& factor) {
  if (!factor) return nullptr;
  return std::isfinite(*factor) ? Json(*factor) : Json("inf");
}

/// A part that is better while the problem takes longer, or worse while it takes less.
Json anomaly_json(const WhatIf& what, const WhatIfRow& row) {
  return {{"part", what.parts[row.part].name},
          {"factor", number(row.factor)},
          {"seconds", std::abs(what.saved(row))},
          {"routes", json_of(row.trial->routes)}};
}

Json answers_json(const WhatIf& what) {
  Json json{{"worth_upgrading", names(what, worth_upgrading(what))},
            {"does_nothing", names(what, idle_parts(what))},
            {"compute_bound",
             {{"now_by_bound", what.now.bound_by_kernels()},
              {"now_by_simulation", what.now.compute_bound()},
              {"kernels_now", what.now.kernels},
              {"kernels_most", nullptr},
              {"from", Json::array()}}}};
  if (const WhatIfRow* most = most_kernels(what))
    json["compute_bound"]["kernels_most"] = {{"part", what.parts[most->part].name},
                                             {"factor", number(most->factor)},
                                             {"kernels", most->trial->best().kernels}};
  for (const Turn& turn : what.turns)
    json["compute_bound"]["from"].push_back({{"part", what.parts[turn.part].name},
                                             {"factor_by_bound", turn_json(turn.by_bound)},
                                             {"factor_by_simulation", turn_json(turn.by_simulation)},
                                             {"error", error_json(turn.error)}});
  json["better_plan"] = nullptr;
  if (what.better)
    json["better_plan"] = {{"made_for", what.parts[what.better->first].name}, {"factor", number(what.better->second)}};
  json["together"] = nullptr;
  if (what.together)
    json["together"] = {{"parts", names(what, what.together->parts)}, {"makespan_s", what.together->makespan}};
  json["together_error"] = error_json(what.together_error);
  json["slower"] = json["faster"] = Json::array();
  for (const WhatIfRow* row : slower_rows(what)) json["slower"].push_back(anomaly_json(what, *row));
  for (const WhatIfRow* row : faster_rows(what)) json["faster"].push_back(anomaly_json(what, *row));
  return json;
}

}  // namespace

std::string change_text(double factor) {
  if (!std::isfinite(factor)) return "no limit";
  return factor < 1 ? fmt::format("x1/{:g}", 1 / factor) : fmt::format("x{:g}", factor);
}

std::string to_csv(const WhatIf& what) {
  std::string csv;
  const Json base = base_of(what);
  for (const WhatIfRow& row : what.rows) {
    Json cells = cells_of(what, row);
    if (!std::isfinite(row.factor)) cells["factor"] = "inf";
    cells.update(base);
    if (csv.empty()) csv = csv_header(cells);
    csv += csv_line(cells);
  }
  return csv;
}

std::string to_json(const WhatIf& what) {
  Json json{{"schema", 1}};
  json.update(base_of(what));
  json["base"] = json_of(what.now);
  json["parts"] = Json::array();
  for (const Part& part : what.parts) {
    json["parts"].push_back({{"part", part.name}, {"knobs", Json::array()}});
    for (const Knob& knob : part.knobs) json["parts"].back()["knobs"].push_back(name_of(knob, what.question.topology));
  }
  json["rows"] = Json::array();
  for (const WhatIfRow& row : what.rows) {
    json["rows"].push_back(cells_of(what, row));
    json["rows"].back()["change"] = change_text(row.factor);
    json["rows"].back()["routes"] = row.trial ? json_of(row.trial->routes) : Json::array();
  }
  json["answers"] = answers_json(what);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilerail::study
