#include "study/sweep/sweep_figure.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "report/figure/line_chart.hpp"

namespace tilerail::study {
namespace {

/// The axis with most numbers; without numbers, with most names. The number of axes, if
/// none has several values.
size_t across(const Sweep& sweep) {
  size_t best = sweep.axes.size();
  const auto rank = [](const SweepAxis& axis) {
    return std::pair{!axis.numbers.empty(), axis.values.size()};
  };
  for (const auto i : indices(sweep.axes))
    if (sweep.axes[i].values.size() > 1 &&
        (best == sweep.axes.size() || rank(sweep.axes[best]) < rank(sweep.axes[i])))
      best = i;
  return best;
}

std::string label_of(const SweepAxis& axis) {
  const std::string name = boost::join(axis.keys, " & ");
  return axis.unit.empty() ? name : fmt::format("{} ({})", name, axis.unit);
}

bool changes_problem(const Sweep& sweep) {
  static const std::set<std::string> keys{"gemm", "gemv", "dot", "axpy",
                                          "m",    "n",    "k",   "dtype"};
  return std::ranges::any_of(sweep.axes, [](const SweepAxis& axis) {
    return axis.values.size() > 1 &&
           std::ranges::any_of(axis.keys, [](auto& key) { return keys.contains(key); });
  });
}

/// The properties that all results share.
std::string title_of(std::span<const SweepRow* const> rows) {
  std::vector<std::string> parts;
  const auto add = [&](const auto& text_of) {
    const std::string text = text_of(*rows.front());
    if (std::ranges::all_of(rows, [&](auto* each) { return text_of(*each) == text; }))
      parts.push_back(text);
  };
  add([](const SweepRow& row) {
    return fmt::format("{} {} x {} x {}", row.text("routine"), row.number("m"),
                       row.number("n"), row.number("k"));
  });
  for (const char* column : {"dtype", "place", "plan_policy"})
    add([&](const SweepRow& row) { return row.text(column); });
  add([](const SweepRow& row) {
    const std::string machine = row.text("machine");
    return "on " + machine.substr(0, machine.find('+'));
  });
  return boost::join(parts, ", ");
}

class Figure {
 public:
  Figure(const Sweep& sweep, std::span<const SweepRow> rows)
      : sweep_{sweep}, across_{across(sweep)} {
    for (const SweepRow& row : rows)
      if (row.has_result()) rows_.push_back(&row);
    chart_.title = title_of(rows_);
    const bool has_axis = across_ < sweep.axes.size();
    if (has_axis) chart_.x_label = label_of(sweep.axes[across_]);
    if (!has_axis)
      chart_.names = {""};
    else if (sweep.axes[across_].numbers.empty())
      chart_.names = sweep.axes[across_].values;
  }

  std::string draw() && {
    const bool of_rates = changes_problem(sweep_);
    double longest = 0;
    for (const SweepRow* row : rows_)
      longest = std::max(longest, row->number("makespan_s"));
    const TimeUnit unit = time_unit(longest);
    chart_.y_label = of_rates ? "TFLOP/s" : fmt::format("makespan ({})", unit.name);
    for (const SweepRow* row : rows_) {
      ChartLine& line = line_of(*row);
      const double x = x_of(*row);
      const double makespan = row->number("makespan_s") * unit.per_second;
      const double rate = row->number("tflops");
      const Json over_bound = row->cells->at("over_bound");  // null: no bound
      line.points.push_back({x, of_rates ? rate : makespan});
      if (over_bound.is_null()) continue;
      const double times = over_bound;
      line.bounds.push_back({x, of_rates ? rate * times : makespan / times});
    }
    for (ChartLine& line : chart_.lines)
      for (auto* points : {&line.points, &line.bounds})
        std::ranges::stable_sort(*points, {}, &Point::x);
    return to_svg(chart_);
  }

 private:
  double x_of(const SweepRow& row) const {
    if (across_ == sweep_.axes.size()) return 0;
    const size_t index = sweep_.index(row.point, across_);
    const auto& numbers = sweep_.axes[across_].numbers;
    return numbers.empty() ? double(index) : numbers[index];
  }

  ChartLine& line_of(const SweepRow& row) {
    std::vector<std::string> parts;
    for (const auto i : indices(sweep_.axes)) {
      const SweepAxis& axis = sweep_.axes[i];
      if (i == across_ || axis.values.size() < 2) continue;
      parts.push_back(fmt::format("{}={}", boost::join(axis.keys, " & "),
                                  axis.values[sweep_.index(row.point, i)]));
    }
    const std::string name = boost::join(parts, ", ");
    auto& lines = chart_.lines;
    auto found = std::ranges::find(lines, name, &ChartLine::name);
    if (found == lines.end()) found = lines.insert(found, ChartLine{name, {}, {}});
    return *found;
  }

  const Sweep& sweep_;
  size_t across_;
  std::vector<const SweepRow*> rows_;
  LineChart chart_;
};

}  // namespace

void require_figure(const Sweep& sweep) {
  const size_t axis = across(sweep);
  const size_t lines =
      sweep.points() / (axis < sweep.axes.size() ? sweep.axes[axis].values.size() : 1);
  if (lines > LineChart::most_lines)
    throw fault_of("figure", fmt::format("would have {} lines", lines),
                   fmt::format("at most {}: vary fewer keys, or draw the table",
                               LineChart::most_lines));
}

std::string sweep_svg(const Sweep& sweep, std::span<const SweepRow> rows) {
  return Figure{sweep, rows}.draw();
}

}  // namespace tilerail::study
