#include "cli/output/sweep_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "model/base/text.hpp"
#include "study/evaluation.hpp"

namespace tilerail::cli {
namespace {

using study::SweepTable;
using Row = const SweepTable::Row*;
using Holds = std::function<bool(Row)>;

constexpr std::size_t most_groups = 24;
constexpr double next_to_nothing = 1.05;  // times as long as with the best of the larger values

std::optional<double> number(const std::string& cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc{} && end == cell.data() + cell.size() ? std::optional{value} : std::nullopt;
}

double makespan(const SweepTable& table, Row row) {
  return number(table.cell(*row, table.has("measured_s") ? "measured_s" : "makespan_s")).value_or(0);
}

/// What more of a figure of the machine is: better for copies, better for kernels, or nothing that is asked for.
enum class More { none, copies, kernels };

/// Of a column such as "link:host->gpu0.bandwidth_GB/s & group:host.capacity_GB/s".
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

/// The least value from which on something holds; "nowhere" where not even at the largest.
std::string from_value(const std::vector<Row>& by_value, std::size_t column, const Holds& holds) {
  const auto last = std::find_if_not(by_value.rbegin(), by_value.rend(), holds);
  if (last == by_value.rbegin()) return "nowhere";
  return (last == by_value.rend() ? "at all of them, from " : "from ") + (*last.base())->cells[column];
}

/// The largest value up to which something holds; "nowhere" where not even at the least.
std::string up_to_value(const std::vector<Row>& by_value, std::size_t column, const Holds& holds) {
  const auto first = std::ranges::find_if_not(by_value, holds);
  if (first == by_value.begin()) return "nowhere";
  return (first == by_value.end() ? "at all of them, up to " : "up to ") + (*std::prev(first))->cells[column];
}

/// From or up to which value the problem is compute bound; where it is nowhere, how near it comes.
std::string compute_bound(const SweepTable& table, const std::vector<Row>& rows, std::size_t column, More more) {
  const auto share = [&](Row row) { return number(table.cell(*row, "kernels")).value_or(0); };
  const auto holds = [&](Row row) { return share(row) >= study::compute_bound_from; };
  std::string words = (more == More::kernels ? up_to_value : from_value)(rows, column, holds);
  if (words != "nowhere") return words;
  return fmt::format("nowhere, kernels {} at most", share_text(share(*std::ranges::max_element(rows, {}, share))));
}

std::string axis_answers(const SweepTable& table, std::size_t column, More more) {
  std::map<std::vector<std::string>, std::vector<Row>> groups;  // by the values of the other keys
  std::vector<std::vector<std::string>> order;
  for (const auto& [_, row] : table.rows) {
    if (!table.cell(row, "error").empty()) continue;
    if (!number(row.cells[column])) return {};
    std::vector<std::string> others(row.cells.begin() + static_cast<std::ptrdiff_t>(table.first_axis),
                                    row.cells.begin() + static_cast<std::ptrdiff_t>(table.first_axis + table.axes));
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(column - table.first_axis));
    if (!groups.contains(others)) order.push_back(others);
    groups[others].push_back(&row);
  }
  std::erase_if(order, [&](const auto& others) { return groups.at(others).size() < 2; });  // the others have failed
  if (order.empty() || order.size() > most_groups) return {};
  std::vector<std::vector<std::string>> lines(1);
  for (std::size_t axis = table.first_axis; axis < table.first_axis + table.axes; ++axis)
    if (axis != column) lines[0].push_back(table.columns[axis]);
  lines[0].insert(lines[0].end(), {"more gains < 5%", "compute bound", "by the bound"});
  for (const auto& others : order) {
    std::vector<Row> rows = groups.at(others);
    std::ranges::stable_sort(rows, {}, [&](Row row) { return *number(row->cells[column]); });
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

}  // namespace

std::string answers(const SweepTable& table) {
  std::string text;
  for (std::size_t column = table.first_axis; column < table.first_axis + table.axes; ++column)
    if (const More more = more_of(table.columns[column]); more != More::none) text += axis_answers(table, column, more);
  return text;
}

}  // namespace tilerail::cli
