#include "study/cases/case_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "model/base/csv_cells.hpp"
#include "model/kernels/energy.hpp"

namespace tilerail::study {
namespace {

using Cell = std::variant<std::monostate, double, std::int64_t, std::string>;
using Cells = std::vector<std::pair<std::string_view, Cell>>;

Cell cell(const std::optional<double>& value) { return value ? Cell{*value} : Cell{}; }
Cell count(std::size_t value) { return static_cast<std::int64_t>(value); }
Cell text(std::string_view value) { return value.empty() ? Cell{} : Cell{std::string{value}}; }

void add_problem(Cells& cells, const CaseResult& result) {
  const GemmProblem& p = result.job.plan.problem;
  cells.insert(cells.end(), {{"routine", text(to_string(p.routine))},
                             {"m", p.m},
                             {"n", p.n},
                             {"k", p.k},
                             {"dtype", text(to_string(p.dtype))},
                             {"transa", text(to_string(p.trans_a))},
                             {"transb", text(to_string(p.trans_b))},
                             {"alpha", p.alpha},
                             {"beta", p.beta},
                             {"place", result.what.problem.place_or_default()}});
}

void add_plan(Cells& cells, const CaseResult& result) {
  const Plan& plan = result.job.plan;
  cells.insert(cells.end(), {{"devices", count(plan.devices.size())},
                             {"policy", plan.policy},
                             {"group", text(result.what.group)},
                             {"label", text(result.what.label)},
                             {"tile", plan.tile},
                             {"ops", count(plan.ops.size())},
                             {"plan_s", result.job.plan_s},
                             {"plan_cache", text(result.job.plan_cache)},
                             {"without_effect", text(fmt::format("{}", fmt::join(plan.origin.without_effect, "; ")))}});
}

void add_times(Cells& cells, const CaseResult& result) {
  const RunResult& measured = result.measured;
  const auto of_gpu = [&](double GpuRunFacts::*figure) {
    return measured.gpu ? Cell{(*measured.gpu).*figure} : Cell{};
  };
  const auto part = [&](double ErrorSplit::*figure) { return result.predicted ? Cell{result.split.*figure} : Cell{}; };
  const std::optional<bool> in = result.in_interval();
  cells.insert(cells.end(),
               {{"first_s", of_gpu(&GpuRunFacts::first_s)},
                {"bound_s", result.bound.time.value},
                {"bound_by", text(result.bound.binding)},
                {"predicted_s", cell(result.predicted)},
                {"interval_low_s", result.interval ? Cell{result.interval->low} : Cell{}},
                {"interval_high_s", result.interval ? Cell{result.interval->high} : Cell{}},
                {"in_interval", in ? text(*in ? "yes" : "no") : Cell{}},
                {"measured_s", measured.median()},
                {"measured_min_s", *std::min_element(measured.makespans.begin(), measured.makespans.end())},
                {"over_bound", cell(result.over_bound())},
                {"traced_s", of_gpu(&GpuRunFacts::traced_s)},
                {"issue_per_op_s", of_gpu(&GpuRunFacts::issue_per_op)},
                {"kernel_s", part(&ErrorSplit::kernel)},
                {"copy_s", part(&ErrorSplit::copy)},
                {"waiting_s", part(&ErrorSplit::waiting)},
                {"issue_s", part(&ErrorSplit::issue)}});
}

/// Of the prediction energy and energy times makespan; of the measured timeline; and as counted, with the time of a
/// call.
void add_energy(Cells& cells, const CaseResult& result) {
  const auto delay = [](double joules, double seconds) { return energy_delay(Joules{joules}, Seconds{seconds}); };
  const CountedEnergy* counted = result.counted();
  cells.insert(cells.end(),
               {{"predicted_energy_j", cell(result.predicted_j)},
                {"predicted_edp_js", result.predicted_j ? Cell{delay(*result.predicted_j, *result.predicted)} : Cell{}},
                {"modelled_energy_j", cell(result.modelled_j)},
                {"counted_energy_j", counted ? Cell{counted->total()} : Cell{}},
                {"counted_call_s", counted ? Cell{counted->seconds} : Cell{}},
                {"counted_edp_js", counted ? Cell{delay(counted->total(), counted->seconds)} : Cell{}}});
}

Cells cells_of(const CaseResult& result) {
  Cells cells;
  add_problem(cells, result);
  add_plan(cells, result);
  add_times(cells, result);
  add_energy(cells, result);
  cells.emplace_back("check", !result.measured.check ? Cell{} : text(result.failed() ? "FAILED" : "passed"));
  return cells;
}

void append(std::string& csv, const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) append_number(csv, *number);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) append_number(csv, *whole);
  if (const auto* words = std::get_if<std::string>(&cell)) append_cell(csv, *words);
}

nlohmann::ordered_json json_of(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          return nullptr;
        else
          return value;
      },
      cell);
}

nlohmann::ordered_json json_of(const CaseSummary& summary) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const RankedGroup& group : summary.groups)
    groups.push_back(
        {{"group", group.name}, {"alternatives", group.alternatives}, {"tau", group.tau}, {"regret", group.regret}});
  return {{"median", summary.median},           {"within_95", summary.within_95},
          {"largest", summary.largest},         {"intervals", summary.intervals},
          {"in_interval", summary.in_interval}, {"wide_intervals", summary.wide_intervals},
          {"groups", std::move(groups)}};
}

}  // namespace

std::string to_csv(std::span<const CaseResult> results) {
  std::string csv;
  const auto line = [&](const Cells& cells, auto append_one) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) csv += ',';
      append_one(cells[i]);
    }
    csv += '\n';
  };
  for (const CaseResult& result : results) {
    const Cells cells = cells_of(result);
    if (csv.empty()) line(cells, [&](const auto& named) { csv += named.first; });
    line(cells, [&](const auto& named) { append(csv, named.second); });
  }
  return csv;
}

std::string to_json(std::span<const CaseResult> results, const Topology& topology, const std::string& backend) {
  nlohmann::ordered_json json{{"schema", 1}, {"machine", topology.name()}, {"backend", backend}};
  for (const CaseResult& result : results) {
    nlohmann::ordered_json object;
    for (const auto& [name, value] : cells_of(result)) object[std::string{name}] = json_of(value);
    json["cases"].push_back(std::move(object));
  }
  const auto summary = summary_of(results);
  json["errors"] = summary ? json_of(*summary) : nlohmann::ordered_json(nullptr);
  return json.dump(2) + "\n";
}

}  // namespace tilerail::study
