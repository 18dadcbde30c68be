#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/figure/svg.hpp"

namespace tilerail {

/// A line through points with ascending x; the points of its bound are drawn dashed.
struct ChartLine {
  std::string name;
  std::vector<Point> points, bounds;
};

/// Axes are logarithmic if values are positive and span a factor of 8 (x) or 20 (y); else
/// y begins at 0.
struct LineChart {
  static constexpr size_t most_lines = 12;

  std::string title, x_label, y_label;
  std::vector<std::string> names;  // of x = 0, 1, ...; empty: x is a number
  std::vector<ChartLine> lines;    // at most most_lines, at least one point in all
};

/// An SVG file. Equal charts give equal bytes.
std::string to_svg(const LineChart& chart);

}  // namespace tilerail
