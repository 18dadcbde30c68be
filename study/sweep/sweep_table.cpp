#include "study/sweep/sweep_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "model/base/csv_cells.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"

namespace tilerail::study {
namespace {

constexpr std::int64_t most_points = 1000000;

/// The columns before the axes and the first after them say where these are.
void read_header(SweepTable& table, CsvReader& csv) {
  if (!csv.next_line()) csv.fail(1, "is empty; expected the table of a sweep");
  table.header = csv.line();
  for (const auto& cell : csv.cells()) table.columns.emplace_back(cell.text);
  const std::vector<std::string> before{"sweep", "point", "points"};
  const auto after = std::ranges::find(table.columns, "machine");
  if (table.columns.size() < before.size() || !std::equal(before.begin(), before.end(), table.columns.begin()) ||
      after == table.columns.end() || !table.has("error"))
    csv.fail(1, "is not the header of a sweep; expected sweep,point,points, axes, machine, ... and error");
  table.first_axis = before.size();
  table.axes = static_cast<std::size_t>(after - table.columns.begin()) - before.size();
}

std::string missing_text(const SweepTable& table) {
  constexpr std::size_t most = 5;
  std::vector<std::size_t> missing;
  for (std::size_t point = 0; point < table.points && missing.size() <= most; ++point)
    if (!table.rows.contains(point)) missing.push_back(point);
  const bool more = missing.size() > most;
  if (more) missing.pop_back();
  return fmt::format("{}{}", fmt::join(missing, ", "), more ? ", ..." : "");
}

}  // namespace

bool SweepTable::has(std::string_view column) const { return std::ranges::find(columns, column) != columns.end(); }

const std::string& SweepTable::cell(const Row& row, std::string_view column) const {
  return row.cells[static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin())];
}

SweepTable read_sweep_table(const std::string& text, const std::string& file) {
  SweepTable table;
  CsvReader csv{text, file};
  read_header(table, csv);
  while (csv.next_line()) {
    const auto& cells = csv.cells();
    if (cells.size() != table.columns.size())
      csv.fail(1, fmt::format("has {} cells; expected {}, as in the header", cells.size(), table.columns.size()));
    SweepTable::Row row{{}, std::string{csv.line()}};
    for (const auto& cell : cells) row.cells.emplace_back(cell.text);
    const auto points = static_cast<std::size_t>(csv.integer(cells[2], "points", most_points));
    if (table.rows.empty()) table.sweep = row.cells[0], table.points = points;
    if (row.cells[0] != table.sweep)
      csv.fail(cells[0], fmt::format("'{}' is another sweep than '{}' above", row.cells[0], table.sweep));
    if (points != table.points)
      csv.fail(cells[2], fmt::format("{} points; expected {} as above", points, table.points));
    const auto point = static_cast<std::size_t>(csv.integer(cells[1], "point", most_points));
    if (point >= points) csv.fail(cells[1], fmt::format("point {} is not below {}", point, points));
    if (!table.rows.emplace(point, std::move(row)).second)
      csv.fail(cells[1], fmt::format("point {} is there twice; expected it once", point));
  }
  if (table.rows.empty()) csv.fail(1, "has no rows; expected at least one");
  return table;
}

SweepTable joined(const std::vector<std::string>& files) {
  SweepTable all = read_sweep_table(read_file(files.front()), files.front());
  for (std::size_t i = 1; i < files.size(); ++i) {
    SweepTable part = read_sweep_table(read_file(files[i]), files[i]);
    if (part.sweep != all.sweep || part.header != all.header || part.points != all.points)
      throw InputError{fmt::format("{}: is of sweep {}, {} of {}; expected parts of one sweep", files[i], part.sweep,
                                   files[0], all.sweep)};
    for (auto& [point, row] : part.rows)
      if (!all.rows.emplace(point, std::move(row)).second)
        throw InputError{fmt::format("{}: point {} is in a file before, too; expected each once", files[i], point)};
  }
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
