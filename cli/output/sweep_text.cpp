#include "cli/output/sweep_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>
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

std::vector<std::string> head_of(const SweepTable& table) {
  std::vector<std::string> head{"point"};
  for (size_t axis = 0; axis < table.axes; ++axis) head.push_back(table.columns[table.first_axis + axis]);
  for (const char* column : {"T", "ops", "makespan", "TFLOP/s", "bound", "over it", "kernels"})
    head.emplace_back(column);
  if (table.has("measured_s")) head.emplace_back("measured");
  return head;
}

std::vector<std::string> line_of(const SweepTable& table, const SweepTable::Row& row) {
  const auto cell = [&](const char* column) -> const std::string& { return table.cell(row, column); };
  const auto seconds = [&](const char* column) { return seconds_text(number(cell(column))); };
  std::vector<std::string> line{row.cells[1]};
  for (size_t axis = 0; axis < table.axes; ++axis) line.push_back(row.cells[table.first_axis + axis]);
  const std::string& over = cell("over_bound");
  line.insert(line.end(),
              {cell("plan_tile"), cell("ops"), seconds("makespan_s"), fmt::format("{:.4g}", number(cell("tflops"))),
               seconds("bound_s"), over.empty() ? "-" : fmt::format("{:.2f} x", number(over)),
               cell("kernels").empty() ? "" : share_text(number(cell("kernels")))});
  if (table.has("measured_s")) line.push_back(seconds("measured_s"));
  return line;
}

std::string listed(const SweepTable& table, const Rows& rows) {
  Lines lines{head_of(table)};
  for (Row row : rows) lines.push_back(line_of(table, *row));
  return aligned(lines, "r" + std::string(table.axes, 'l') + "r");
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

constexpr size_t most_groups = 24;
constexpr double next_to_nothing = 1.05;  // times as long as with the best of the larger values

/// Measured where it was.
double makespan(const SweepTable& table, Row row) {
  return number(table.cell(*row, table.has("measured_s") ? "measured_s" : "makespan_s"));
}

/// Whether it holds rates of copies, such as "link:host->gpu0.bandwidth_GB/s", of which larger ones are better.
bool has_rates(const std::string& column) {
  const std::string_view figure = std::string_view{column}.substr(column.rfind('.') + 1);
  const auto begins = [&](const char* name) { return figure.starts_with(name); };
  return column.find(':') != std::string::npos &&
         std::ranges::any_of(std::array{"bandwidth", "per_flow", "capacity", "both_busy"}, begins);
}

/// The least value from which on a condition holds; "nowhere" if the condition fails at the largest value.
std::string from_value(const Rows& by_value, size_t column, const std::function<bool(Row)>& holds) {
  const auto last = std::find_if_not(by_value.rbegin(), by_value.rend(), holds);
  if (last == by_value.rbegin()) return "nowhere";
  return (last == by_value.rend() ? "at all of them, from " : "from ") + (*last.base())->cells[column];
}

/// The value from which the problem is compute bound; if no value is, the largest share of kernels.
std::string compute_bound(const SweepTable& table, const Rows& rows, size_t column) {
  const auto share = [&](Row row) { return number(table.cell(*row, "kernels")); };
  const auto holds = [&](Row row) { return share(row) >= study::compute_bound_from; };
  const std::string words = from_value(rows, column, holds);
  if (words != "nowhere") return words;
  return fmt::format("nowhere, kernels {} at most", share_text(share(*std::ranges::max_element(rows, {}, share))));
}

/// The value from which no larger one makes the problem much faster.
std::string enough(const SweepTable& table, const Rows& rows, size_t column) {
  const auto time = [&](Row row) { return makespan(table, row); };
  const auto is_enough = [&](Row row) {
    const auto at = std::ranges::find(rows, row);
    return time(row) <= next_to_nothing * time(*std::ranges::min_element(at, rows.end(), {}, time));
  };
  const bool saturates = is_enough(rows[rows.size() - 2]);  // the last of all has none above it
  return saturates ? from_value(rows, column, is_enough) : "beyond " + rows.back()->cells[column];
}

/// The values of the axes, without that of a column.
std::vector<std::string> others_of(const SweepTable& table, const std::vector<std::string>& cells, size_t column) {
  std::vector<std::string> others;
  for (size_t axis = table.first_axis; axis < table.first_axis + table.axes; ++axis)
    if (axis != column) others.push_back(cells[axis]);
  return others;
}

std::string axis_answers(const SweepTable& table, const Rows& done, size_t column) {
  std::vector<std::pair<std::vector<std::string>, Rows>> groups;  // by the values of the other keys
  for (Row row : done) {
    if (!is_number(row->cells[column])) return {};
    const auto others = others_of(table, row->cells, column);
    auto group = std::ranges::find(groups, others, [](const auto& each) { return each.first; });
    if (group == groups.end()) group = groups.insert(group, {others, {}});
    group->second.push_back(row);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });  // the others have failed
  if (groups.empty() || groups.size() > most_groups) return {};
  Lines lines{others_of(table, table.columns, column)};
  lines[0].insert(lines[0].end(), {"more gains < 5%", "compute bound"});
  for (auto& [others, rows] : groups) {
    std::ranges::stable_sort(rows, {}, [&](Row row) { return number(row->cells[column]); });
    lines.push_back(others);
    lines.back().push_back(enough(table, rows, column));
    lines.back().push_back(compute_bound(table, rows, column));
  }
  return fmt::format("\nwhich {}?\n", table.columns[column]) + aligned(lines, "l");
}

std::string answers(const SweepTable& table, const Rows& done) {
  std::string text;
  for (size_t column = table.first_axis; column < table.first_axis + table.axes; ++column)
    if (has_rates(table.columns[column])) text += axis_answers(table, done, column);
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
  return text + answers(table, done) + failures_text(table, failed);
}

}  // namespace tilerail::cli
