#include "model/base/json.hpp"
#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include "model/base/table.hpp"
#include "model/base/text.hpp"

namespace tilerail {
namespace {

/// `unit` is the suffix of the keys: "s" or "j".
Json figures_json(const Figures& figures, const std::string& unit = "s") {
  return {{"predicted_" + unit, figures.predicted},
          {"measured_" + unit, figures.measured},
          {"error", cell_of(figures.error())}};
}

std::vector<std::string> figures_line(const std::string& name, const Figures& figures,
                                      std::string (*text)(double) = seconds_text) {
  return {name, text(figures.predicted), text(figures.measured),
          error_text(figures.error())};
}

/// Whether the measured makespan is in the prediction interval.
std::string interval_line(const PredictedInterval& interval, double measured) {
  const char* const where = interval.holds(measured)  ? "lies in it"
                            : measured < interval.low ? "is below it"
                                                      : "is above it";
  return fmt::format("\nmakespan expected: {}; the measured one {}\n",
                     interval_text(interval), where);
}

std::vector<std::string> header(const char* title, const Comparison& comparison) {
  const auto& [first, second] = comparison.sides;
  return {title, first, second, comparison.of_prediction ? "error" : "difference"};
}

std::string signed_seconds(double seconds) {
  return fmt::format("{}{}", seconds > 0 ? "+" : "", seconds_text(seconds));
}

/// Differences of durations.
Columns<Comparison::OpDifference> difference_columns(const Comparison& comparison) {
  using D = Comparison::OpDifference;
  const auto& [first, second] = comparison.sides;
  return {
      {"op", &D::op, "op, by duration"},
      {"kind", &D::kind, "kind"},
      {"queue", &D::queue, "queue"},
      {"label", &D::label, "region"},
      {Columns<Figures>{
           {"predicted_duration_s", &Figures::predicted, first, seconds_text},
           {"measured_duration_s", &Figures::measured, second, seconds_text},
           {"duration_difference_s", &Figures::difference, "difference", signed_seconds}},
       &D::duration}};
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json json = {{"schema", 1},
               {"plan_hash", comparison.predicted.plan_hash},
               {"problem", comparison.predicted.problem},
               {"policy", comparison.predicted.policy},
               {"predicted",
                {{"machine", comparison.predicted.machine},
                 {"backend", comparison.predicted.backend}}},
               {"measured",
                {{"machine", comparison.measured.machine},
                 {"backend", comparison.measured.backend}}},
               {"ops", comparison.ops},
               {"makespan", figures_json(comparison.makespan)},
               {"kernel", figures_json(comparison.kernels)},
               {"copy", figures_json(comparison.copies)},
               {"waiting", figures_json(comparison.waiting)},
               {"idle", figures_json(comparison.idle)},
               {"worst_durations",
                difference_columns(comparison).json_rows(comparison.worst_durations)}};
  if (const auto& interval = comparison.interval)
    json["interval"] = {{"level", Uncertainty::level},
                        {"low_s", interval->low},
                        {"high_s", interval->high},
                        {"holds", interval->holds(comparison.makespan.measured)}};
  if (comparison.energy) json["energy"] = figures_json(*comparison.energy, "j");
  if (comparison.counted_energy)
    json["counted_energy"] = figures_json(*comparison.counted_energy, "j");
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string comparison_table(const Comparison& comparison) {
  std::string text = aligned(
      {{"problem", comparison.predicted.problem},
       {"policy", comparison.predicted.policy},
       {"plan",
        fmt::format("{}, {} operations", comparison.predicted.plan_hash, comparison.ops)},
       {comparison.sides[0], fmt::format("{} on {}", comparison.predicted.backend,
                                         comparison.predicted.machine)},
       {comparison.sides[1], fmt::format("{} on {}", comparison.measured.backend,
                                         comparison.measured.machine)}},
      "l");
  Lines totals = {header("total", comparison),
                  figures_line("makespan", comparison.makespan),
                  figures_line("kernels", comparison.kernels),
                  figures_line("copies", comparison.copies),
                  figures_line("waiting (ready to start)", comparison.waiting),
                  figures_line("idle queues", comparison.idle)};
  if (comparison.energy)
    totals.push_back(figures_line("energy, modelled", *comparison.energy, joules_text));
  if (comparison.counted_energy)
    totals.push_back(figures_line("energy, counted by the GPUs",
                                  *comparison.counted_energy, joules_text));
  text += fmt::format("\n{}", aligned(totals, "lr"));
  if (comparison.interval)
    text += interval_line(*comparison.interval, comparison.makespan.measured);
  if (!comparison.worst_durations.empty())
    text +=
        "\n" + aligned(difference_columns(comparison).lines(comparison.worst_durations),
                       "llllr");
  return text;
}

}  // namespace tilerail
