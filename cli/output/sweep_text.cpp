#include "cli/output/study_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "model/base/text.hpp"
#include "study/evaluation.hpp"
#include "study/json_cells.hpp"

namespace tilerail::cli {
namespace {

using Row = const study::SweepRow*;
using Rows = std::vector<Row>;

constexpr size_t most_rows = 40, fastest_rows = 10;

std::string cell(Row row, const std::string& column) {
  return study::cell_text(row->cells.at(column));
}
/// 0 for an empty cell.
double number(Row row, const char* column) {
  return row->cells.at(column).is_number() ? row->cells.at(column).get<double>() : 0;
}

Lines head_of(const study::Sweep& sweep) {
  std::vector<std::string> head{"point"};
  for (const study::SweepAxis& axis : sweep.axes) head.push_back(axis.column());
  for (const char* column :
       {"T", "ops", "makespan", "TFLOP/s", "bound", "over it", "kernels"})
    head.emplace_back(column);
  return {head};
}

std::vector<std::string> line_of(const study::Sweep& sweep, Row row) {
  std::vector<std::string> line{cell(row, "point")};
  for (const study::SweepAxis& axis : sweep.axes)
    line.push_back(cell(row, axis.column()));
  const double over_bound = number(row, "over_bound");
  line.insert(
      line.end(),
      {cell(row, "plan_tile"), cell(row, "ops"), seconds_text(number(row, "makespan_s")),
       fmt::format("{:.4g}", number(row, "tflops")), seconds_text(number(row, "bound_s")),
       over_bound > 0 ? fmt::format("{:.2f} x", over_bound) : "-",
       share_text(number(row, "kernels"))});
  return line;
}

std::string listed(const study::Sweep& sweep, const Rows& rows) {
  Lines lines = head_of(sweep);
  for (Row row : rows) lines.push_back(line_of(sweep, row));
  return aligned(lines, "r" + std::string(sweep.axes.size(), 'l') + "r");
}

std::string failures_text(const study::Sweep& sweep, const Rows& failed, size_t points) {
  if (failed.empty()) return {};
  std::string text = fmt::format("\n{} of {} points failed:\n", failed.size(), points);
  for (Row row : std::span{failed}.first(std::min(failed.size(), most_rows))) {
    std::string values;
    for (const study::SweepAxis& axis : sweep.axes)
      values += fmt::format("{}={} ", axis.column(), cell(row, axis.column()));
    text +=
        fmt::format("{}point {}: {}\n", values, cell(row, "point"), cell(row, "error"));
  }
  if (failed.size() > most_rows)
    text += fmt::format("and {} more\n", failed.size() - most_rows);
  return text;
}

using Holds = std::function<bool(Row)>;

constexpr size_t most_groups = 24;
constexpr double next_to_nothing = 1.05;  // times the best time with a larger value

double makespan(Row row) { return number(row, "makespan_s"); }

/// The effect of a larger figure of the machine: faster copies, faster kernels, or
/// neither.
enum class More { none, copies, kernels };

/// The effect of a column's figures, such as "link:host->gpu0.bandwidth_GB/s &
/// group:host.capacity_GB/s".
More more_of(const std::string& column) {
  constexpr const char* of_copies[] = {"bandwidth", "per_flow", "capacity",
                                       "both_busy", "bounds",   "h2d",
                                       "d2h",       "peer",     "total"};
  constexpr const char* of_kernels[] = {"rate", "memory_bandwidth"};
  const auto is_kernels = [](std::string_view text) {
    return text.starts_with("kernels:");
  };
  const std::string_view figure = std::string_view{column}.substr(column.rfind('.') + 1);
  const auto begins = [&](const char* name) { return figure.starts_with(name); };
  if (column.find(':') == std::string::npos) return More::none;
  if (is_kernels(column))
    return std::ranges::any_of(of_kernels, begins) ? More::kernels : More::none;
  if (column.find("& kernels:") != std::string::npos) return More::none;
  return std::ranges::any_of(of_copies, begins) ? More::copies : More::none;
}

/// The least value from which on a condition holds; "nowhere" if the condition fails at
/// the largest value.
std::string from_value(const Rows& by_value, const std::string& column,
                       const Holds& holds) {
  const auto last = std::find_if_not(by_value.rbegin(), by_value.rend(), holds);
  if (last == by_value.rbegin()) return "nowhere";
  return (last == by_value.rend() ? "at all of them, from " : "from ") +
         cell(*last.base(), column);
}

/// The largest value up to which a condition holds; "nowhere" if the condition fails at
/// the least value.
std::string up_to_value(const Rows& by_value, const std::string& column,
                        const Holds& holds) {
  const auto first = std::ranges::find_if_not(by_value, holds);
  if (first == by_value.begin()) return "nowhere";
  return (first == by_value.end() ? "at all of them, up to " : "up to ") +
         cell(*std::prev(first), column);
}

/// The value from which, or up to which, the problem is compute bound; if no value is,
/// the largest share of kernels.
std::string compute_bound(const Rows& rows, const std::string& column, More more) {
  const auto share = [&](Row row) { return number(row, "kernels"); };
  const auto holds = [&](Row row) { return share(row) >= study::compute_bound_from; };
  std::string words =
      (more == More::kernels ? up_to_value : from_value)(rows, column, holds);
  if (words != "nowhere") return words;
  return fmt::format("nowhere, kernels {} at most",
                     share_text(share(*std::ranges::max_element(rows, {}, share))));
}

/// Groups rows by their values of the other keys, in the order of the points.
std::vector<std::pair<std::vector<std::string>, Rows>> groups_of(
    const study::Sweep& sweep, const Rows& done, const std::string& column) {
  std::vector<std::pair<std::vector<std::string>, Rows>> groups;
  for (Row row : done) {
    std::vector<std::string> others;
    for (const study::SweepAxis& axis : sweep.axes)
      if (axis.column() != column) others.push_back(cell(row, axis.column()));
    auto group =
        std::ranges::find(groups, others, [](const auto& known) { return known.first; });
    if (group == groups.end()) group = groups.insert(group, {others, {}});
    group->second.push_back(row);
  }
  std::erase_if(groups, [](const auto& group) {
    return group.second.size() < 2;
  });  // all other points failed
  return groups;
}

std::string axis_answers(const study::Sweep& sweep, const Rows& done,
                         const std::string& column, More more) {
  const auto groups = groups_of(sweep, done, column);
  if (groups.empty() || groups.size() > most_groups) return {};
  Lines lines(1);
  for (const study::SweepAxis& axis : sweep.axes)
    if (axis.column() != column) lines[0].push_back(axis.column());
  lines[0].insert(lines[0].end(), {"more gains < 5%", "compute bound", "by the bound"});
  for (auto [others, rows] : groups) {
    std::ranges::stable_sort(
        rows, {}, [&](Row row) { return row->cells.at(column).get<double>(); });
    const auto enough = [&, &rows = rows](Row row) {
      const auto at = std::ranges::find(rows, row);
      return makespan(row) <= next_to_nothing * makespan(*std::ranges::min_element(
                                                    at, rows.end(), {}, makespan));
    };
    const auto by_bound = [&](Row row) { return row->bound_by == TimeUse::kernels; };
    const bool saturates =
        enough(rows[rows.size() - 2]);  // the last row has no larger value
    others.push_back(saturates ? from_value(rows, column, enough)
                               : "beyond " + cell(rows.back(), column));
    others.push_back(compute_bound(rows, column, more));
    others.push_back(
        (more == More::kernels ? up_to_value : from_value)(rows, column, by_bound));
    lines.push_back(std::move(others));
  }
  return fmt::format("\nwhich {}?\n", column) + aligned(lines, "l");
}

std::string answers(const study::Sweep& sweep, const Rows& done) {
  std::string text;
  for (const study::SweepAxis& axis : sweep.axes) {
    const More more = more_of(axis.column());
    if (more != More::none && !axis.numbers.empty())
      text += axis_answers(sweep, done, axis.column(), more);
  }
  return text;
}

}  // namespace

std::string to_text(const study::Sweep& sweep, std::span<const study::SweepRow> rows) {
  Rows done, failed;
  for (const study::SweepRow& row : rows)
    (row.cells.at("error").is_null() ? done : failed).push_back(&row);
  std::string failures = failures_text(sweep, failed, rows.size());
  if (done.empty()) return failures;
  std::string text;
  if (done.size() > most_rows) {
    Rows fastest = done;
    std::ranges::stable_sort(fastest, {}, makespan);
    fastest.resize(fastest_rows);
    text = fmt::format("the {} fastest of {} points\n{}", fastest_rows, done.size(),
                       listed(sweep, fastest));
  } else {
    text = listed(sweep, done);
  }
  return text + answers(sweep, done) + failures;
}

}  // namespace tilerail::cli
