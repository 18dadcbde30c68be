#include "cli/output/study_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "study/evaluation.hpp"

namespace tilerail::cli {
namespace {

using Row = const study::SweepRow*;
using Rows = std::vector<Row>;
using SweepColumn = Column<study::SweepRow>;
using SweepColumns = Columns<study::SweepRow>;

constexpr size_t most_rows = 40, fastest_rows = 10;

std::string cell(Row row, const SweepColumn& column) {
  return cell_text(column.cell(*row));
}

using Holds = std::function<bool(Row)>;

constexpr size_t most_groups = 24;
constexpr double next_to_nothing = 1.05;  // times the best time with a larger value

double makespan(Row row) { return row->number("makespan_s"); }
double kernels(Row row) { return row->number("kernels"); }

/// The effect of a larger figure of the machine: faster copies, faster kernels, or
/// neither.
enum class More { none, copies, kernels };

bool is_of_kernels(const std::string& key) { return key.starts_with("kernels:"); }

/// The effect of the last key's figure; none if kernels and other parts are mixed.
More more_of(const study::SweepAxis& axis) {
  constexpr const char* of_copies[] = {"bandwidth", "per_flow", "capacity",
                                       "both_busy", "bounds",   "h2d",
                                       "d2h",       "peer",     "total"};
  constexpr const char* of_kernels[] = {"rate", "memory_bandwidth"};
  const std::string& key = axis.keys.back();
  const std::string_view figure = std::string_view{key}.substr(key.rfind('.') + 1);
  const auto begins = [&](const char* name) { return figure.starts_with(name); };
  const auto of_kernel_keys = std::ranges::count_if(axis.keys, is_of_kernels);
  if (of_kernel_keys == std::ssize(axis.keys))
    return std::ranges::any_of(of_kernels, begins) ? More::kernels : More::none;
  const bool is_of_copies = of_kernel_keys == 0 && key.find(':') != std::string::npos &&
                            std::ranges::any_of(of_copies, begins);
  return is_of_copies ? More::copies : More::none;
}

/// The least value from which on a condition holds; "nowhere" if the condition fails at
/// the largest value.
std::string from_value(const Rows& by_value, const SweepColumn& axis,
                       const Holds& holds) {
  const auto last = std::find_if_not(by_value.rbegin(), by_value.rend(), holds);
  if (last == by_value.rbegin()) return "nowhere";
  return (last == by_value.rend() ? "at all of them, from " : "from ") +
         cell(*last.base(), axis);
}

/// The largest value up to which a condition holds; "nowhere" if the condition fails at
/// the least value.
std::string up_to_value(const Rows& by_value, const SweepColumn& axis,
                        const Holds& holds) {
  const auto first = std::ranges::find_if_not(by_value, holds);
  if (first == by_value.begin()) return "nowhere";
  return (first == by_value.end() ? "at all of them, up to " : "up to ") +
         cell(*std::prev(first), axis);
}

/// The value from which, or up to which, the problem is compute bound; if no value is,
/// the largest share of kernels.
std::string compute_bound(const Rows& rows, const SweepColumn& axis, More more) {
  const auto holds = [](Row row) { return kernels(row) >= study::compute_bound_from; };
  std::string words =
      (more == More::kernels ? up_to_value : from_value)(rows, axis, holds);
  if (words != "nowhere") return words;
  return fmt::format("nowhere, kernels {} at most",
                     share_text(kernels(*std::ranges::max_element(rows, {}, kernels))));
}

/// Groups rows by their cells in these columns, in the order of the points.
std::vector<std::pair<std::vector<std::string>, Rows>> groups_of(
    const Rows& done, const SweepColumns& columns) {
  std::vector<std::pair<std::vector<std::string>, Rows>> groups;
  for (Row row : done) {
    const std::vector<std::string> cells = columns.line(*row);
    auto group =
        std::ranges::find(groups, cells, [](const auto& known) { return known.first; });
    if (group == groups.end()) group = groups.insert(group, {cells, {}});
    group->second.push_back(row);
  }
  std::erase_if(groups, [](const auto& group) {
    return group.second.size() < 2;
  });  // all other points failed
  return groups;
}

class SweepText {
 public:
  explicit SweepText(const study::Sweep& sweep)
      : sweep_{sweep}, columns_{columns_of(sweep)}, axes_{columns_} {
    const auto first = columns_.all.begin() + 1;
    axes_.all = {first, first + std::ssize(sweep.axes)};
  }

  std::string table(const Rows& rows) const {
    Lines lines{columns_.head()};
    for (Row row : rows) lines.push_back(columns_.line(*row));
    return aligned(lines, "r" + std::string(sweep_.axes.size(), 'l') + "r");
  }

  std::string failures(const Rows& failed, size_t points) const {
    if (failed.empty()) return {};
    std::string text = fmt::format("\n{} of {} points failed:\n", failed.size(), points);
    for (Row row : std::span{failed}.first(std::min(failed.size(), most_rows))) {
      for (const SweepColumn& axis : axes_.all)
        text += fmt::format("{}={} ", axis.name, cell(row, axis));
      text += fmt::format("point {}: {}\n", row->point, *row->error);
    }
    if (failed.size() > most_rows)
      text += fmt::format("and {} more\n", failed.size() - most_rows);
    return text;
  }

  std::string answers(const Rows& done) const {
    std::string text;
    for (const auto axis : indices(sweep_.axes)) {
      const More more = more_of(sweep_.axes[axis]);
      if (more != More::none && !sweep_.axes[axis].numbers.empty())
        text += answers(done, axis, more);
    }
    return text;
  }

 private:
  std::string answers(const Rows& done, size_t index, More more) const {
    SweepColumns others = axes_;
    others.all.erase(others.all.begin() + std::ptrdiff_t(index));
    const auto groups = groups_of(done, others);
    if (groups.empty() || groups.size() > most_groups) return {};
    const SweepColumn& axis = axes_.all[index];
    Lines lines{others.head()};
    lines[0].insert(lines[0].end(), {"more gains < 5%", "compute bound", "by the bound"});
    for (auto [cells, rows] : groups) {
      std::ranges::stable_sort(rows, {}, [&](Row row) {
        return sweep_.axes[index].numbers[sweep_.index(row->point, index)];
      });
      const auto enough = [&, &rows = rows](Row row) {
        const auto at = std::ranges::find(rows, row);
        return makespan(row) <= next_to_nothing * makespan(*std::ranges::min_element(
                                                      at, rows.end(), {}, makespan));
      };
      const auto by_bound = [](Row row) {
        return row->text("bound_by").starts_with(to_string(TimeUse::kernels));
      };
      const bool saturates =
          enough(rows[rows.size() - 2]);  // the last row has no larger value
      cells.push_back(saturates ? from_value(rows, axis, enough)
                                : "beyond " + cell(rows.back(), axis));
      cells.push_back(compute_bound(rows, axis, more));
      cells.push_back(
          (more == More::kernels ? up_to_value : from_value)(rows, axis, by_bound));
      lines.push_back(std::move(cells));
    }
    return fmt::format("\nwhich {}?\n", axis.name) + aligned(lines, "l");
  }

  const study::Sweep& sweep_;
  SweepColumns columns_, axes_;
};

}  // namespace

std::string to_text(const study::Sweep& sweep, std::span<const study::SweepRow> rows) {
  Rows done, failed;
  for (const study::SweepRow& row : rows)
    (row.has_result() ? done : failed).push_back(&row);
  const SweepText text{sweep};
  std::string failures = text.failures(failed, rows.size());
  if (done.empty()) return failures;
  std::string listed;
  if (done.size() > most_rows) {
    Rows fastest = done;
    std::ranges::stable_sort(fastest, {}, makespan);
    fastest.resize(fastest_rows);
    listed = fmt::format("the {} fastest of {} points\n{}", fastest_rows, done.size(),
                         text.table(fastest));
  } else {
    listed = text.table(done);
  }
  return listed + text.answers(done) + failures;
}

}  // namespace tilerail::cli
