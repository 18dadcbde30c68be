// Parses axes of a sweep: keys, lists and ranges of values.
#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <regex>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "study/sweep/keys.hpp"
#include "study/sweep/sweep.hpp"

namespace tilerail::study {
namespace {

constexpr size_t most_values = 10000;  // per key
constexpr size_t longest = 200;        // longest number or range: std::regex recurses

/// A number and its unit; factors, with a leading x, have the unit "x".
struct Number {
  double value = 0;
  std::string unit;

  std::string text() const {
    const std::string digits = typed(value);
    return unit == "x"    ? "x" + digits
           : unit.empty() ? digits
                          : fmt::format("{} {}", digits, unit);
  }
};

/// "16K" is 16384, as in sizes. Before a unit, the letter belongs to the unit: "400MB/s".
std::optional<Number> number_in(const std::string& text) {
  static const std::regex form{
      R"((x?)([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)([KM]?)\s*([A-Za-z/]*))"};
  std::smatch parts;
  if (text.size() > longest || !std::regex_match(text, parts, form)) return std::nullopt;
  const std::string factor = parts[1], digits = parts[2], scale = parts[3],
                    unit = parts[4];
  if (!factor.empty() && !unit.empty()) return std::nullopt;
  double value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec !=
      std::errc{})
    return std::nullopt;
  if (!unit.empty()) return Number{value, scale + unit};
  constexpr double kilo = 1024;
  return Number{value * (scale == "K" ? kilo : scale == "M" ? kilo * kilo : 1), factor};
}

/// A value, or a range "FIRST..LAST STEP UNIT" with step xF or +S.
struct ValueRange {
  double first, last, step;
  bool multiplies;
  std::string unit;

  bool ascends() const {
    return first <= last && (multiplies ? step > 1 && first > 0 : step > 0);
  }
  double value(size_t i) const {
    const double exact =
        multiplies ? first * std::pow(step, double(i)) : first + double(i) * step;
    return std::abs(exact - std::round(exact)) < 1e-9 * exact ? std::round(exact) : exact;
  }
};

std::optional<ValueRange> range_in(const std::string& item) {
  static const std::regex form{R"((.+?)\s*\.\.\s*(.+?)\s+([x+])\s*(\S+)\s*([A-Za-z/]*))"};
  std::smatch parts;
  if (item.size() > longest || !std::regex_match(item, parts, form)) return std::nullopt;
  const auto first = number_in(parts[1]), last = number_in(parts[2]),
             step = number_in(parts[4]);
  if (!first || !last || !step || !step->unit.empty() || first->unit != last->unit)
    return std::nullopt;
  const std::string unit = parts[5];
  if (!unit.empty() && !first->unit.empty()) return std::nullopt;
  return ValueRange{first->value, last->value, step->value, parts[3] == "x",
                    first->unit + unit};
}

std::vector<Number> numbers_of(const ValueRange& range, const std::string& item) {
  if (!range.ascends())
    throw InputError{"", item, "does not ascend",
                     "a last value above the first, and a step x above 1 or + above 0"};
  constexpr double rounding = 1 + 1e-9;
  std::vector<Number> numbers;
  for (size_t i = 0; range.value(i) <= range.last * rounding; ++i) {
    numbers.push_back({range.value(i), range.unit});
    if (numbers.size() > most_values)
      throw InputError{"", item, "has too many values",
                       fmt::format("at most {}", most_values)};
  }
  return numbers;
}

/// Splits at semicolons or, without any, at commas, but not within parentheses.
std::vector<std::string> items_in(std::string_view text) {
  const char separator = text.find(';') == std::string_view::npos ? ',' : ';';
  std::vector<std::string> items(1);
  int open = 0;
  for (const char c : text) {
    open += (c == '(') - (c == ')');
    if (c == separator && open <= 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

/// If all values are numbers with one unit, numbers without a unit take the last value's.
void add_numbers(SweepAxis& axis, const std::vector<Number>& numbers) {
  const std::string unit = numbers.back().unit;
  const auto is_bare = [&](const Number& number) {
    return number.unit.empty() && unit != "x";
  };
  const auto has_unit = [&](const Number& number) {
    return number.unit == unit || is_bare(number);
  };
  if (numbers.size() != axis.values.size() || !std::ranges::all_of(numbers, has_unit))
    return;
  axis.unit = unit;
  for (const auto i : indices(numbers)) {
    axis.numbers.push_back(numbers[i].value);
    if (numbers[i].unit != unit) axis.values[i] += " " + unit;
  }
}

void read_values(SweepAxis& axis, std::string_view text) {
  std::vector<Number> numbers;
  for (const std::string& each : items_in(text)) {
    const std::string item = trimmed(each);
    if (item.empty())
      throw InputError{"", "", "is not a value", "one between separators"};
    if (const auto range = range_in(item)) {
      for (const Number& number : numbers_of(*range, item)) {
        axis.values.push_back(number.text());
        numbers.push_back(number);
      }
      continue;
    }
    if (const size_t dots = item.find("..");
        dots != std::string::npos && number_in(item.substr(0, dots)))
      throw InputError{"", item, "",
                       "a range with a step, such as 1..9 +1 or 1..16 x2 GB/s"};
    axis.values.push_back(item);
    if (const auto number = number_in(item)) numbers.push_back(*number);
  }
  if (!numbers.empty()) add_numbers(axis, numbers);
}

}  // namespace

std::string SweepAxis::column() const {
  const std::string name = boost::join(keys, " & ");
  return unit.empty() ? name : fmt::format("{}_{}", name, unit);
}

SweepAxis parse_axis(const std::string& text) {
  SweepAxis axis{
      .keys = {}, .values = {}, .place = fmt::format("vary {}", in_quotes(text))};
  try {
    const std::string_view all = text;
    const size_t first = all.find('=');
    if (first == std::string::npos || first == 0)
      throw InputError{"", text, "", "KEY=VALUES, such as gemm=4K..16K x2"};
    size_t equals = first;
    while (equals != std::string::npos &&
           (axis.keys = known_parts(all.substr(0, equals), is_key)).empty())
      equals = all.find('=', equals + 1);
    if (axis.keys.empty()) {  // an unknown key, which is reported later
      equals = first;
      for (const std::string_view key : split(all.substr(0, first), '&'))
        axis.keys.push_back(trimmed(key));
    }
    read_values(axis, all.substr(equals + 1));
  } catch (const InputError& error) {
    throw error.within(axis.place);
  }
  return axis;
}

}  // namespace tilerail::study
