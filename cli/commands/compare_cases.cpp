#include "cli/commands/compare_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>

#include "backends/factory.hpp"
#include "backends/simulator.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "cli/study.hpp"
#include "cost/energy.hpp"
#include "model/base/csv_cells.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/kernels/energy.hpp"
#include "study/cases.hpp"
#include "study/error_split.hpp"
#include "study/ranking.hpp"
#include "study/runner.hpp"

namespace tilerail::cli {
namespace {

struct Row {
  const Case* what = nullptr;
  Job job;
  RunResult measured = {};
  std::optional<double> predicted = {};
  ErrorSplit split = {};                                    // where there is a prediction
  std::optional<double> predicted_j = {}, modelled_j = {};  // energy of the predicted and of the measured timeline

  const CountedEnergy* counted() const {
    return measured.gpu && measured.gpu->energy ? &*measured.gpu->energy : nullptr;
  }
  double error() const { return *predicted / measured.median() - 1; }
};

std::vector<Row> plan_all(const std::vector<Case>& cases, const Topology& topology, const std::string& file) {
  const Progress progress{"planning"};
  std::vector<Row> rows;
  for (const Case& c : cases) {
    MachineText machine;
    machine.devices = c.devices;
    try {
      rows.push_back({.what = &c, .job = plan_job(topology, c.problem, machine, c.policy)});
    } catch (const InputError& error) {
      throw InputError{fmt::format("{}:{}: {}", file, c.line, error.what())};
    }
  }
  return rows;
}

std::optional<double> energy_of(const Row& row, const Topology& topology, const Timeline& timeline) {
  const auto devices = device_energies(row.job.plan, topology, timeline.ops);
  if (!devices) return std::nullopt;
  return std::accumulate(devices->begin(), devices->end(), Joules{0}).value;
}

void simulate(Executor& simulator, std::vector<Row>& rows, const Topology& topology, std::vector<Timeline>& predicted) {
  const Progress progress{"simulating"};
  for (Row& row : rows) {
    predicted.push_back(simulator.execute(row.job.plan));
    row.predicted = predicted.back().makespan().value;
    row.predicted_j = energy_of(row, topology, predicted.back());
  }
}

std::string name_of(const Row& row) {
  const Case& c = *row.what;
  const std::string routine = c.routine == "gemm" ? "" : c.routine + " ";
  std::string name = c.label.empty() ? fmt::format("{}{} {} {}", routine, fmt::join(c.sizes, ","), c.problem.dtype,
                                                   c.problem.place_or_default())
                                     : c.label;
  return name + fmt::format(" x{}", row.job.plan.devices.size());
}

std::string table_of(const std::vector<Row>& rows) {
  std::string text = fmt::format(
      "{:<44} {:<28} {:>6} {:>10} {:>10} {:>7}   {:>8} {:>8} {:>8} {:>8}   {:>9} {:>9}  {}\n", "case", "policy", "tile",
      "predicted", "measured", "error", "kernel", "copy", "waiting", "issue", "energy", "counted", "check");
  for (const Row& row : rows) {
    const double median = row.measured.median();
    const auto share = [&](double seconds) {
      return row.predicted ? fmt::format("{:+.1f}%", 100 * seconds / median) : "-";
    };
    text += fmt::format("{:<44} {:<28} {:>6} {:>10} {:>10} {:>7}   {:>8} {:>8} {:>8} {:>8}   {:>9} {:>9}  {}\n",
                        name_of(row), row.job.plan.policy, row.job.plan.tile,
                        row.predicted ? seconds_text(*row.predicted) : "-", seconds_text(median),
                        row.predicted ? fmt::format("{:+.1f}%", 100 * row.error()) : "-", share(row.split.kernel),
                        share(row.split.copy), share(row.split.waiting), share(row.split.issue),
                        row.predicted_j ? joules_text(*row.predicted_j) : "-",
                        row.counted() ? joules_text(row.counted()->total()) : "-",
                        !row.measured.check          ? "-"
                        : row.measured.check->passed ? "passed"
                                                     : "FAILED");
  }
  return text;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

/// Of each set of alternatives: how alike prediction and measurement order it, and what choosing by prediction costs.
std::string ranking_of(const std::vector<Row>& rows) {
  std::vector<std::string> groups;
  for (const Row& row : rows)
    if (!row.what->group.empty() && std::find(groups.begin(), groups.end(), row.what->group) == groups.end())
      groups.push_back(row.what->group);
  std::string text;
  double taus = 0, regrets = 0;
  int count = 0;
  for (const std::string& group : groups) {
    std::vector<double> predicted, measured;
    for (const Row& row : rows)
      if (row.what->group == group) predicted.push_back(*row.predicted), measured.push_back(row.measured.median());
    if (predicted.size() < 2) continue;
    const double tau = kendall_tau(predicted, measured), cost = regret(predicted, measured);
    taus += tau, regrets += cost, ++count;
    text += fmt::format("{:<44} {:>3} alternatives: Kendall tau {:+.3f}, regret {:.2f}%\n", group, predicted.size(),
                        tau, 100 * cost);
  }
  if (count > 0)
    text += fmt::format("{} sets of alternatives: mean tau {:+.3f}, mean regret {:.2f}%\n", count, taus / count,
                        100 * regrets / count);
  return text;
}

std::string summary_of(const std::vector<Row>& rows) {
  if (!rows.front().predicted) return "";
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(std::abs(row.error()));
  return fmt::format("\n{} cases: error median {:.1f}%, 95% within {:.1f}%, largest {:.1f}%\n", errors.size(),
                     100 * quantile(errors, 0.5), 100 * quantile(errors, 0.95), 100 * quantile(errors, 1)) +
         ranking_of(rows);
}

/// Of the prediction energy and energy times makespan; of the measured timeline; and as counted, with the time of a
/// call.
void append_energy(std::string& csv, const Row& row) {
  const auto cell = [&](const std::optional<double>& value) {
    value ? append_number(csv, *value) : void(), csv += ',';
  };
  const auto delay = [](double joules, double seconds) { return energy_delay(Joules{joules}, Seconds{seconds}); };
  std::optional<double> predicted_delay, joules, seconds, counted_delay;
  if (row.predicted_j) predicted_delay = delay(*row.predicted_j, *row.predicted);
  if (const auto* counted = row.counted()) {
    joules = counted->total(), seconds = counted->seconds;
    counted_delay = delay(*joules, *seconds);
  }
  for (const auto& value : {row.predicted_j, predicted_delay, row.modelled_j, joules, seconds, counted_delay})
    cell(value);
}

std::string csv_of(const std::vector<Row>& rows) {
  std::string csv =
      "routine,m,n,k,dtype,transa,transb,alpha,beta,place,devices,policy,group,label,tile,ops,plan_s,first_s,"
      "predicted_s,measured_s,measured_min_s,traced_s,issue_per_op_s,kernel_s,copy_s,waiting_s,issue_s,"
      "predicted_energy_j,predicted_edp_js,modelled_energy_j,counted_energy_j,counted_call_s,counted_edp_js,check\n";
  for (const Row& row : rows) {
    const GemmProblem& p = row.job.plan.problem;
    const auto cell = [&](auto value) { append_number(csv, value), csv += ','; };
    const auto text = [&](std::string_view value) { append_cell(csv, value), csv += ','; };
    const auto maybe = [&](bool there, double value) { there ? append_number(csv, value) : void(), csv += ','; };
    text(to_string(p.routine)), cell(p.m), cell(p.n), cell(p.k), text(to_string(p.dtype)), text(to_string(p.trans_a)),
        text(to_string(p.trans_b));
    cell(p.alpha), cell(p.beta), text(row.what->problem.place_or_default());
    cell(static_cast<std::int64_t>(row.job.plan.devices.size())), text(row.job.plan.policy), text(row.what->group);
    text(row.what->label), cell(row.job.plan.tile), cell(static_cast<std::int64_t>(row.job.plan.ops.size()));
    cell(row.job.plan_s);
    const auto& gpu = row.measured.gpu;
    maybe(gpu.has_value(), gpu ? gpu->first_s : 0), maybe(row.predicted.has_value(), row.predicted.value_or(0));
    cell(row.measured.median());
    cell(*std::min_element(row.measured.makespans.begin(), row.measured.makespans.end()));
    maybe(gpu.has_value(), gpu ? gpu->traced_s : 0), maybe(gpu.has_value(), gpu ? gpu->issue_per_op : 0);
    for (const double part : {row.split.kernel, row.split.copy, row.split.waiting, row.split.issue})
      maybe(row.predicted.has_value(), part);
    append_energy(csv, row);
    const auto& check = row.measured.check;
    append_cell(csv, !check ? "" : check->passed ? "passed" : "FAILED");
    csv += '\n';
  }
  return csv;
}

}  // namespace

int compare_cases(const CompareCasesOptions& options) {
  const RunSettings settings = options.bench.settings(1);
  if (options.backend.empty()) throw InputError{"--backend: the hardware is missing; write host or cuda"};
  require_real_executor(options.backend);
  OutputSet outputs;
  if (!options.csv.empty()) outputs.expect(options.csv, "--csv");
  const std::vector<Case> cases = read_cases(options.cases);
  MachineText machine;
  machine.topology = options.topology;
  const Topology topology = machine.load();
  const auto simulator = options.no_simulate ? nullptr : make_simulator(topology);
  if (!options.no_simulate && !simulator)
    throw HardwareError{"this build has no simulator; --no-simulate only measures"};
  std::vector<Row> rows = plan_all(cases, topology, options.cases);
  std::vector<Timeline> predicted;
  if (simulator) simulate(*simulator, rows, topology, predicted);

  std::vector<const Plan*> plans;
  for (const Row& row : rows) plans.push_back(&row.job.plan);
  Runner runner{make_real_executor(options.backend, topology), plans, settings};
  bool passed = true;
  for (Row& row : rows) {
    row.measured = runner.run(row.job.plan);
    if (row.predicted)
      row.split = split_error(row.job.plan, topology, predicted[static_cast<std::size_t>(&row - rows.data())],
                              row.measured.timeline);
    row.modelled_j = energy_of(row, topology, row.measured.timeline);
    row.measured.timeline = {};
    passed = passed && (!row.measured.check || row.measured.check->passed);
    spdlog::debug("{}: {}", name_of(row), seconds_text(row.measured.median()));
  }
  if (!options.csv.empty()) outputs.add(options.csv, csv_of(rows));
  outputs.commit();
  std::fputs((table_of(rows) + summary_of(rows)).c_str(), stdout);
  return passed ? exit_ok : exit_check_failed;
}

}  // namespace tilerail::cli
