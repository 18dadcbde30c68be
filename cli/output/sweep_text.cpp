#include "cli/output/sweep_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "cli/output/sweep_answers.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using study::SweepTable;
using Lines = std::vector<std::vector<std::string>>;
using Rows = std::vector<const SweepTable::Row*>;

constexpr std::size_t most_rows = 40, fastest_rows = 10;

double number(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }

/// Measured where it was.
const char* time_column(const SweepTable& table) { return table.has("measured_s") ? "measured_s" : "makespan_s"; }

std::string percent(const std::string& share) { return share.empty() ? "" : share_text(number(share)); }

Lines head_of(const SweepTable& table) {
  std::vector<std::string> head{"point"};
  for (std::size_t axis = 0; axis < table.axes; ++axis) head.push_back(table.columns[table.first_axis + axis]);
  for (const char* column : {"T", "ops", "makespan", "TFLOP/s", "bound", "over it", "kernels"})
    head.emplace_back(column);
  if (table.has("measured_s")) head.insert(head.end(), {"measured", "error"});
  return {head};
}

std::vector<std::string> line_of(const SweepTable& table, const SweepTable::Row& row) {
  const auto cell = [&](const char* column) -> const std::string& { return table.cell(row, column); };
  std::vector<std::string> line{row.cells[1]};
  for (std::size_t axis = 0; axis < table.axes; ++axis) line.push_back(row.cells[table.first_axis + axis]);
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
  for (const SweepTable::Row* row : rows) lines.push_back(line_of(table, *row));
  return aligned(lines, alignment(table));
}

std::string failures_text(const SweepTable& table, const Rows& failed) {
  if (failed.empty()) return {};
  std::string text = fmt::format("\n{} of {} points failed:\n", failed.size(), table.rows.size());
  for (const SweepTable::Row* row : std::span{failed}.first(std::min(failed.size(), most_rows))) {
    std::string values;
    for (std::size_t axis = 0; axis < table.axes; ++axis)
      values += fmt::format("{}={} ", table.columns[table.first_axis + axis], row->cells[table.first_axis + axis]);
    text += fmt::format("{}point {}: {}\n", values, row->cells[1], table.cell(*row, "error"));
  }
  if (failed.size() > most_rows) text += fmt::format("and {} more\n", failed.size() - most_rows);
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
    std::ranges::stable_sort(fastest, {},
                             [&](const SweepTable::Row* row) { return number(table.cell(*row, time_column(table))); });
    fastest.resize(fastest_rows);
    text = fmt::format("the {} fastest of {} points\n{}", fastest_rows, done.size(), listed(table, fastest));
  } else {
    text = listed(table, done);
  }
  return text + answers(table) + failures_text(table, failed);
}

}  // namespace tilerail::cli
