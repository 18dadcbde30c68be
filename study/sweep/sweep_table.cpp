#include "study/sweep/sweep_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "model/base/csv_cells.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::study {
namespace {

/// The columns before the axes and the first after them say where these are.
void read_header(SweepTable& table, CsvReader& csv) {
  if (!csv.next_line()) csv.fail(1, "is empty; expected the table of a sweep");
  table.header = csv.line();
  table.columns.clear();
  for (const auto& cell : csv.cells()) table.columns.emplace_back(cell.text);
  const std::vector<std::string> before{"sweep", "point", "points"};
  const auto after = std::ranges::find(table.columns, "machine");
  if (table.columns.size() < before.size() || !std::equal(before.begin(), before.end(), table.columns.begin()) ||
      after == table.columns.end() || !table.has("error"))
    csv.fail(1, "is not the header of a sweep; expected sweep,point,points, axes, machine, ... and error");
  table.first_axis = before.size();
  table.axes = size_t(after - table.columns.begin()) - before.size();
}

std::string missing_text(const SweepTable& table) {
  constexpr size_t most = 5;
  std::vector<size_t> missing;
  for (size_t point = 0; point < table.points && missing.size() <= most; ++point)
    if (!table.rows.contains(point)) missing.push_back(point);
  const bool more = missing.size() > most;
  if (more) missing.pop_back();
  return fmt::format("{}{}", fmt::join(missing, ", "), more ? ", ..." : "");
}

void add_sweep_table(SweepTable& table, const std::string& text, const std::string& file) {
  CsvReader csv{text, file};
  const std::string header = table.header;
  read_header(table, csv);
  if (!header.empty() && header != table.header)
    throw InputError{"has other columns than the file before", "parts of one sweep"}.at(file);
  while (csv.next_line()) {
    const auto& cells = csv.cells();
    if (cells.size() != table.columns.size())
      csv.fail(1, fmt::format("has {} cells; expected {}, as in the header", cells.size(), table.columns.size()));
    SweepTable::Row row{{}, std::string{csv.line()}};
    for (const auto& cell : cells) row.cells.emplace_back(cell.text);
    const auto points = size_t(csv.integer(cells[2], "points", most_points));
    if (table.rows.empty()) table.sweep = row.cells[0], table.points = points;
    if (row.cells[0] != table.sweep)
      csv.fail(cells[0], fmt::format("'{}' is another sweep than '{}' above", row.cells[0], table.sweep));
    if (points != table.points)
      csv.fail(cells[2], fmt::format("{} points; expected {} as above", points, table.points));
    const auto point = size_t(csv.integer(cells[1], "point", most_points));
    if (point >= points) csv.fail(cells[1], fmt::format("point {} is not below {}", point, points));
    if (!table.rows.emplace(point, std::move(row)).second)
      csv.fail(cells[1], fmt::format("point {} is there twice; expected it once", point));
  }
}

}  // namespace

bool SweepTable::has(std::string_view column) const { return std::ranges::find(columns, column) != columns.end(); }

const std::string& SweepTable::cell(const Row& row, std::string_view column) const {
  return row.cells[size_t(std::ranges::find(columns, column) - columns.begin())];
}

SweepTable read_sweep_table(const std::string& text, const std::string& file) {
  SweepTable table;
  add_sweep_table(table, text, file);
  return table;
}

SweepTable joined(const std::vector<std::string>& files) {
  SweepTable all;
  for (const std::string& file : files) add_sweep_table(all, read_file(file), file);
  if (all.rows.empty()) throw InputError{"has no rows", "parts with points"}.at(files[0]);
  if (all.rows.size() < all.points)
    throw InputError{
        fmt::format("{} of {} points are in these files; missing: {}", all.rows.size(), all.points, missing_text(all))};
  return all;
}

std::string to_csv(const SweepTable& table) {
  std::string csv = table.header + "\n";
  for (const auto& [_, row] : table.rows) csv += row.line + "\n";
  return csv;
}

}  // namespace tilerail::study
