#include "cli/output/sweep_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "model/base/text.hpp"
#include "study/evaluation.hpp"

namespace tilerail::cli {
namespace {

using study::SweepTable;
using Lines = std::vector<std::vector<std::string>>;
using Row = const SweepTable::Row*;
using Rows = std::vector<Row>;

constexpr size_t most_rows = 40, fastest_rows = 10;

double number(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }
bool is_number(const std::string& cell) {
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);
  return !cell.empty() && *end == '\0';
}

/// Measured where it was.
const char* time_column(const SweepTable& table) { return table.has("measured_s") ? "measured_s" : "makespan_s"; }

std::string percent(const std::string& share) { return share.empty() ? "" : share_text(number(share)); }

Lines head_of(const SweepTable& table) {
  std::vector<std::string> head{"point"};
  for (size_t axis = 0; axis < table.axes; ++axis) head.push_back(table.columns[table.first_axis + axis]);
  for (const char* column : {"T", "ops", "makespan", "TFLOP/s", "bound", "over it", "kernels"})
    head.emplace_back(column);
  if (table.has("measured_s")) head.insert(head.end(), {"measured", "error"});
  return {head};
}

std::vector<std::string> line_of(const SweepTable& table, const SweepTable::Row& row) {
  const auto cell = [&](const char* column) -> const std::string& { return table.cell(row, column); };
  std::vector<std::string> line{row.cells[1]};
  for (size_t axis = 0; axis < table.axes; ++axis) line.push_back(row.cells[table.first_axis + axis]);
  line.insert(line.end(), {cell("plan_tile"), cell("ops"), seconds_text(number(cell("makespan_s"))),
                           fmt::format("{:.4g}", number(cell("tflops"))), seconds_text(number(cell("bound_s"))),
                           cell("over_bound").empty() ? "-" : fmt::format("{:.2f} x", number(cell("over_bound"))),
                           percent(cell("kernels"))});
  if (!table.has("measured_s")) return line;
  const double measured = number(cell("measured_s"));
  line.insert(line.end(),
              {seconds_text(measured),
               measured > 0 ? fmt::format("{:+.1f}%", 100 * (number(cell("makespan_s")) / measured - 1)) : "-"});
  return line;
}

std::string alignment(const SweepTable& table) { return "r" + std::string(table.axes, 'l') + "r"; }

std::string listed(const SweepTable& table, const Rows& rows) {
  Lines lines = head_of(table);
  for (Row row : rows) lines.push_back(line_of(table, *row));
  return aligned(lines, alignment(table));
}

std::string failures_text(const SweepTable& table, const Rows& failed) {
  if (failed.empty()) return {};
  std::string text = fmt::format("\n{} of {} points failed:\n", failed.size(), table.rows.size());
  for (Row row : std::span{failed}.first(std::min(failed.size(), most_rows))) {
    std::string values;
    for (size_t axis = 0; axis < table.axes; ++axis)
      values += fmt::format("{}={} ", table.columns[table.first_axis + axis], row->cells[table.first_axis + axis]);
    text += fmt::format("{}point {}: {}\n", values, row->cells[1], table.cell(*row, "error"));
  }
  if (failed.size() > most_rows) text += fmt::format("and {} more\n", failed.size() - most_rows);
  return text;
}

using Holds = std::function<bool(Row)>;

constexpr size_t most_groups = 24;
constexpr double next_to_nothing = 1.05;  // times as long as with the best of the larger values

double makespan(const SweepTable& table, Row row) { return number(table.cell(*row, time_column(table))); }

/// The effect of a larger figure of the machine: faster copies, faster kernels, or neither.
enum class More { none, copies, kernels };

/// The effect of a column's figures, such as "link:host->gpu0.bandwidth_GB/s & group:host.capacity_GB/s".
More more_of(const std::string& column) {
  constexpr const char* of_copies[] = {"bandwidth", "per_flow", "capacity", "both_busy", "bounds",
                                       "h2d",       "d2h",      "peer",     "total"};
  constexpr const char* of_kernels[] = {"rate", "memory_bandwidth"};
  const auto is_kernels = [](std::string_view text) { return text.starts_with("kernels:"); };
  const std::string_view figure = std::string_view{column}.substr(column.rfind('.') + 1);
  const auto begins = [&](const char* name) { return figure.starts_with(name); };
  if (column.find(':') == std::string::npos) return More::none;
  if (is_kernels(column)) return std::ranges::any_of(of_kernels, begins) ? More::kernels : More::none;
  if (column.find("& kernels:") != std::string::npos) return More::none;
  return std::ranges::any_of(of_copies, begins) ? More::copies : More::none;
}

/// The least value from which on a condition holds; "nowhere" if the condition fails at the largest value.
std::string from_value(const Rows& by_value, size_t column, const Holds& holds) {
  const auto last = std::find_if_not(by_value.rbegin(), by_value.rend(), holds);
  if (last == by_value.rbegin()) return "nowhere";
  return (last == by_value.rend() ? "at all of them, from " : "from ") + (*last.base())->cells[column];
}

/// The largest value up to which a condition holds; "nowhere" if the condition fails at the least value.
std::string up_to_value(const Rows& by_value, size_t column, const Holds& holds) {
  const auto first = std::ranges::find_if_not(by_value, holds);
  if (first == by_value.begin()) return "nowhere";
  return (first == by_value.end() ? "at all of them, up to " : "up to ") + (*std::prev(first))->cells[column];
}

/// The value from which, or up to which, the problem is compute bound; if no value is, the largest share of kernels.
std::string compute_bound(const SweepTable& table, const Rows& rows, size_t column, More more) {
  const auto share = [&](Row row) { return number(table.cell(*row, "kernels")); };
  const auto holds = [&](Row row) { return share(row) >= study::compute_bound_from; };
  std::string words = (more == More::kernels ? up_to_value : from_value)(rows, column, holds);
  if (words != "nowhere") return words;
  return fmt::format("nowhere, kernels {} at most", share_text(share(*std::ranges::max_element(rows, {}, share))));
}

std::string axis_answers(const SweepTable& table, size_t column, More more) {
  std::map<std::vector<std::string>, Rows> groups;  // by the values of the other keys
  std::vector<std::vector<std::string>> order;
  for (const auto& [_, row] : table.rows) {
    if (!table.cell(row, "error").empty()) continue;
    if (!is_number(row.cells[column])) return {};
    std::vector<std::string> others(row.cells.begin() + ptrdiff_t(table.first_axis),
                                    row.cells.begin() + ptrdiff_t(table.first_axis + table.axes));
    others.erase(others.begin() + ptrdiff_t(column - table.first_axis));
    if (!groups.contains(others)) order.push_back(others);
    groups[others].push_back(&row);
  }
  std::erase_if(order, [&](const auto& others) { return groups.at(others).size() < 2; });  // the others have failed
  if (order.empty() || order.size() > most_groups) return {};
  std::vector<std::vector<std::string>> lines(1);
  for (size_t axis = table.first_axis; axis < table.first_axis + table.axes; ++axis)
    if (axis != column) lines[0].push_back(table.columns[axis]);
  lines[0].insert(lines[0].end(), {"more gains < 5%", "compute bound", "by the bound"});
  for (const auto& others : order) {
    Rows rows = groups.at(others);
    std::ranges::stable_sort(rows, {}, [&](Row row) { return number(row->cells[column]); });
    const auto time = [&](Row row) { return makespan(table, row); };
    const auto enough = [&](Row row) {
      const auto at = std::ranges::find(rows, row);
      return time(row) <= next_to_nothing * time(*std::ranges::min_element(at, rows.end(), {}, time));
    };
    lines.push_back(others);
    const auto by_bound = [&](Row row) { return table.cell(*row, "bound_by").starts_with("kernels"); };
    const bool saturates = enough(rows[rows.size() - 2]);  // the last of all has none above it
    lines.back().push_back(saturates ? from_value(rows, column, enough) : "beyond " + rows.back()->cells[column]);
    lines.back().push_back(compute_bound(table, rows, column, more));
    lines.back().push_back((more == More::kernels ? up_to_value : from_value)(rows, column, by_bound));
  }
  return fmt::format("\nwhich {}?\n", table.columns[column]) + aligned(lines, "l");
}

std::string answers(const SweepTable& table) {
  std::string text;
  for (size_t column = table.first_axis; column < table.first_axis + table.axes; ++column)
    if (const More more = more_of(table.columns[column]); more != More::none) text += axis_answers(table, column, more);
  return text;
}

}  // namespace

std::string to_text(const SweepTable& table) {
  Rows done, failed;
  for (const auto& [_, row] : table.rows) (table.cell(row, "error").empty() ? done : failed).push_back(&row);
  if (table.rows.empty()) return "this part of the sweep has no points\n";
  if (done.empty()) return failures_text(table, failed);
  std::string text;
  if (done.size() > most_rows) {
    Rows fastest = done;
    std::ranges::stable_sort(fastest, {}, [&](Row row) { return makespan(table, row); });
    fastest.resize(fastest_rows);
    text = fmt::format("the {} fastest of {} points\n{}", fastest_rows, done.size(), listed(table, fastest));
  } else {
    text = listed(table, done);
  }
  return text + answers(table) + failures_text(table, failed);
}

}  // namespace tilerail::cli
