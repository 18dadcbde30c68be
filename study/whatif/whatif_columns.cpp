#include <fmt/format.h>

#include <cmath>

#include "model/base/text.hpp"
#include "study/whatif/whatif.hpp"

namespace tilerail::study {

std::string change_text(double factor) {
  if (!std::isfinite(factor)) return "no limit";
  return factor < 1 ? fmt::format("x1/{:g}", 1 / factor) : fmt::format("x{:g}", factor);
}

Columns<WhatIfRow> columns_of(const WhatIf& what) {
  const double base = what.now.makespan;
  const auto saved = [=](const Trial& trial) { return trial.saved(base); };
  const auto of_all = [](const auto& value) { return [&value](auto&) { return value; }; };
  using E = Evaluation;
  const Columns<Trial> of_trial{
      {Columns<E>{"best_s", &E::makespan}, &Trial::best},
      {"saved_s", saved, "saved", seconds_text},
      {"", saved, "/ makespan",
       [=](double seconds) { return fmt::format("{:+.1f}%", 100 * seconds / base); }},
      {Columns<E>{"planned_s", &E::makespan, "re-planned", seconds_text},
       &Trial::planned},
      {Columns<E>{"kept_s", &E::makespan, "plan kept", seconds_text}, &Trial::kept},
      {Columns<E>{"", &E::kernels, "kernels", share_text}, &Trial::best},
      {Columns<E>{{"bound_s", &E::bound},
                  {"bound_by", &E::binding},
                  {"kernels", &E::kernels},
                  {"bottleneck", &E::bottleneck},
                  {"tile", &E::tile},
                  {"ops", &E::ops},
                  {"plan_hash", &E::plan_hash}},
       &Trial::planned}};
  const TimelineMetadata& metadata = what.summary.metadata;
  return {{Columns<Part>{{"part", &Part::name, "part"},
                         {"knobs", [](auto& part) { return part.knobs.size(); }},
                         {"now", &Part::now, "now"}},
           [&](auto& row) { return &what.parts[row.part]; }},
          {"factor", &WhatIfRow::factor, "speed", change_text},
          {of_trial, &WhatIfRow::trial},
          {"error", &WhatIfRow::error},
          {"machine", of_all(metadata.machine)},
          {"problem", of_all(metadata.problem)},
          {"policy", of_all(metadata.policy)},
          {"version", of_all(metadata.version)},
          {"base_s", of_all(what.now.makespan)},
          {"base_bound_s", of_all(what.now.bound)},
          {"base_bound_by", of_all(what.now.binding)},
          {"base_plan_hash", of_all(what.now.plan_hash)}};
}

}  // namespace tilerail::study
