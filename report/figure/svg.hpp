#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

struct Point {
  double x = 0, y = 0;
};

/// A figure as an SVG file: shapes in drawing order, lengths in pixels of 1/96 inch. The
/// same calls give the same bytes.
class Svg {
 public:
  enum class Anchor { start, middle, end };
  struct TextStyle {
    Anchor anchor = Anchor::start;
    double size = 12;  // at least 8 pt, 10.7 pixels
    bool bold = false, upwards = false;
  };
  struct Stroke {
    std::string_view colour = text_colour;
    double width = 1;
    bool dashed = false;
  };
  static constexpr std::string_view text_colour = "#30363d", grid_colour = "#d5d8dc";

  Svg(double width, double height);

  void rect(Point corner, double width, double height, std::string_view colour);
  void line(std::span<const Point> points, const Stroke& stroke);
  void line(Point from, Point to, const Stroke& stroke);
  void circle(Point centre, double radius, std::string_view colour);
  /// Any text: it is escaped. `at` is on its base line.
  void text(Point at, std::string_view text, const TextStyle& style);
  void text(Point at, std::string_view text) { this->text(at, text, {}); }
  std::string finish() &&;

 private:
  std::string svg_;
};

/// Estimated width of a text of this size, in pixels: fonts differ.
double text_width(std::string_view text, double size = 12);

/// Maps values of an axis to pixels. `first` < `last`, both above 0 if `logarithmic`.
struct Scale {
  double first = 0, last = 1, begin = 0, end = 1;
  bool logarithmic = false;

  double at(double value) const;
  /// At most about ten round values on the axis: 1, 2 or 5 times a power of ten.
  std::vector<double> ticks() const;
};

/// A unit that is readable for times up to `seconds`.
struct TimeUnit {
  double per_second = 1;
  std::string_view name = "s";
};
TimeUnit time_unit(double seconds);

}  // namespace tilerail
