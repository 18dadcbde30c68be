#include "report/figure/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

constexpr double width = 760, plot_height = 340, top = 40, left = 80, right = 30,
                 bottom = 56, legend_row = 18;
constexpr std::array<std::string_view, LineChart::most_lines> colours{
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b",
    "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#30363d", "#b07aa1"};

class Drawing {
 public:
  explicit Drawing(const LineChart& chart)
      : chart_{chart},
        svg_{width,
             top + plot_height + bottom + legend_row * double(chart.lines.size() + 1)} {
    std::set<double> ys;
    for (const ChartLine& line : chart.lines) {
      for (const Point& point : line.points)
        x_values_.insert(point.x), ys.insert(point.y);
      for (const Point& point : line.bounds) ys.insert(point.y);
    }
    x_ = {*x_values_.begin(), *x_values_.rbegin(), left + 12, width - right};
    x_.logarithmic = chart.names.empty() && x_.first > 0 && x_.last >= 8 * x_.first;
    if (x_.first == x_.last) --x_.first, ++x_.last;
    y_ = {*ys.begin(), *ys.rbegin(), top + plot_height, top};
    y_.logarithmic = y_.first > 0 && y_.last >= 20 * y_.first;
    if (!y_.logarithmic) y_.first = 0, y_.last *= 1.05;
    if (y_.last <= y_.first) y_.last = y_.first + 1;
  }

  std::string draw() && {
    svg_.text({12, 22}, chart_.title, {.size = 13, .bold = true});
    draw_x();
    draw_y();
    for (const auto i : indices(chart_.lines))
      draw_line(chart_.lines[i], colours[i % colours.size()]);
    draw_legend();
    return std::move(svg_).finish();
  }

 private:
  void draw_x() {
    const double base = top + plot_height;
    const std::vector<double> values(x_values_.begin(), x_values_.end());
    constexpr size_t most_labels = 12;
    const bool has_room = !chart_.names.empty() || values.size() <= most_labels;
    double free_from = 0;  // labels do not overlap
    for (const double x : has_room ? values : x_.ticks()) {
      const std::string label =
          chart_.names.empty() ? fmt::format("{:g}", x) : chart_.names[size_t(x)];
      const double at = x_.at(x), half = text_width(label) / 2;
      svg_.line({at, top}, {at, base}, {Svg::grid_colour, 0.6});
      if (at - half < free_from) continue;
      svg_.text({at, base + 16}, label, {Svg::Anchor::middle});
      free_from = at + half + 6;
    }
    svg_.text({left + (width - left - right) / 2, base + 36}, chart_.x_label,
              {Svg::Anchor::middle});
  }

  void draw_y() {
    for (const double y : y_.ticks()) {
      svg_.line({left, y_.at(y)}, {width - right, y_.at(y)}, {Svg::grid_colour, 0.6});
      svg_.text({left - 6, y_.at(y) + 4}, fmt::format("{:g}", y), {Svg::Anchor::end});
    }
    svg_.text({18, top + plot_height / 2}, chart_.y_label,
              {.anchor = Svg::Anchor::middle, .upwards = true});
  }

  std::vector<Point> placed(const std::vector<Point>& points) const {
    std::vector<Point> places;
    for (const Point& point : points) places.push_back({x_.at(point.x), y_.at(point.y)});
    return places;
  }

  void draw_line(const ChartLine& line, std::string_view colour) {
    svg_.line(placed(line.bounds), {colour, 1, true});
    svg_.line(placed(line.points), {colour, 1.6});
    for (const Point& place : placed(line.points)) svg_.circle(place, 3, colour);
  }

  void draw_legend() {
    double y = top + plot_height + bottom + 8;
    const auto entry = [&](const std::string& name, const Svg::Stroke& stroke) {
      svg_.line({left, y - 4}, {left + 24, y - 4}, stroke);
      svg_.text({left + 32, y}, name);
      y += legend_row;
    };
    if (chart_.lines.size() > 1)
      for (const auto i : indices(chart_.lines))
        entry(chart_.lines[i].name, {colours[i % colours.size()], 1.6});
    entry("bound", {Svg::text_colour, 1, true});
  }

  const LineChart& chart_;
  std::set<double> x_values_;
  Scale x_, y_;
  Svg svg_;
};

}  // namespace

std::string to_svg(const LineChart& chart) { return Drawing{chart}.draw(); }

}  // namespace tilerail
