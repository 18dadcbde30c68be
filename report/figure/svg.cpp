#include "report/figure/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/markup.hpp"
#include "model/base/text.hpp"

namespace tilerail {
namespace {

/// At most two decimal places.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string markup(std::string_view text) { return xml_text(escaped(text)); }

constexpr std::string_view anchors[] = {"start", "middle", "end"};

}  // namespace

Svg::Svg(double width, double height)
    : svg_{fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
          "viewBox=\"0 0 {0} {1}\" font-family=\"DejaVu Sans, Helvetica, Arial, "
          "sans-serif\" fill=\"{2}\">\n",
          number(width), number(height), text_colour)} {
  rect({0, 0}, width, height, "white");
}

void Svg::rect(Point corner, double width, double height, std::string_view colour) {
  svg_ += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
      number(corner.x), number(corner.y), number(width), number(height), colour);
}

void Svg::line(std::span<const Point> points, const Stroke& stroke) {
  if (points.empty()) return;
  std::string places;
  for (const Point& point : points)
    places += fmt::format("{}{},{}", places.empty() ? "" : " ", number(point.x),
                          number(point.y));
  svg_ += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
      places, stroke.colour, number(stroke.width),
      stroke.dashed ? " stroke-dasharray=\"5 4\"" : "");
}

void Svg::line(Point from, Point to, const Stroke& stroke) {
  const Point ends[] = {from, to};
  line(ends, stroke);
}

void Svg::circle(Point centre, double radius, std::string_view colour) {
  svg_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n",
                      number(centre.x), number(centre.y), number(radius), colour);
}

void Svg::text(Point at, std::string_view text, const TextStyle& style) {
  const std::string x = number(at.x), y = number(at.y);
  const std::string turn =
      style.upwards ? fmt::format(" transform=\"rotate(-90 {} {})\"", x, y) : "";
  svg_ += fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
      number(style.size), anchors[size_t(style.anchor)],
      style.bold ? " font-weight=\"bold\"" : "", turn, markup(text));
}

std::string Svg::finish() && { return std::move(svg_) + "</svg>\n"; }

double text_width(std::string_view text, double size) {
  constexpr double letter = 0.62;  // times the size, of a wide sans-serif font
  return letter * size * double(letters_in(text));
}

double Scale::at(double value) const {
  const auto place = [&](double v) { return logarithmic ? std::log(v) : v; };
  return begin +
         (end - begin) * (place(value) - place(first)) / (place(last) - place(first));
}

std::vector<double> Scale::ticks() const {
  constexpr double most = 10, rounding = 1e-9;
  std::vector<double> all;
  if (logarithmic) {
    const int lowest = int(std::floor(std::log10(first)));
    const int decades = int(std::ceil(std::log10(last))) - lowest;
    for (int i = 0; i <= decades; ++i)
      for (const double digit : {1.0, 2.0, 5.0})
        if (digit == 1 || decades <= 3) all.push_back(digit * std::pow(10, lowest + i));
    std::erase_if(all, [&](double v) {
      return v < first * (1 - rounding) || v > last * (1 + rounding);
    });
    return all;
  }
  double step = std::pow(10, std::floor(std::log10((last - first) / most)));
  for (const double digit : {2.0, 2.5, 2.0})  // 2, 5, 10 times the power
    if ((last - first) / step > most) step *= digit;
  const double begin_at = std::ceil(first / step - rounding);
  for (double i = begin_at; i * step <= last + rounding * step; ++i)
    all.push_back(i * step + 0.0);  // not -0
  return all;
}

TimeUnit time_unit(double seconds) {
  constexpr double least = 2;  // in this unit
  if (seconds >= least) return {1, "s"};
  if (seconds >= least * 1e-3) return {1e3, "ms"};
  return {1e6, "us"};
}

}  // namespace tilerail
