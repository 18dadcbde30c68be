#include "study/sweep/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <regex>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"

namespace tilerail::study {
namespace {

constexpr size_t longest = 200;  // of what may be a number or a range: std::regex recurses

/// A number and its unit; that of a factor, which is written before it, is "x".
struct Number {
  double value = 0;
  std::string unit;

  std::string text() const {
    const std::string digits = typed(value);
    return unit == "x" ? "x" + digits : unit.empty() ? digits : fmt::format("{} {}", digits, unit);
  }
};

/// Infinite where it is too large or too small for a number.
double real_in(const std::string& digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} ? value : std::numeric_limits<double>::infinity();
}

/// "16K" is 16384, as sizes are.
std::optional<Number> number_in(const std::string& text) {
  static const std::regex form{R"((x?)([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)([KM]?)\s*([A-Za-z/]*))"};
  std::smatch parts;
  if (text.size() > longest || !std::regex_match(text, parts, form)) return std::nullopt;
  const bool of_size = parts[4].length() == 0;  // else the letter belongs to the unit: "400MB/s"
  const double scale = !of_size ? 1 : parts[3] == "K" ? 1024 : parts[3] == "M" ? 1024 * 1024 : 1;
  if (parts[1] == "x" && !of_size) return std::nullopt;
  Number number{real_in(parts[2]) * scale, parts[1] == "x" ? "x" : of_size ? "" : parts[3].str() + parts[4].str()};
  if (!std::isfinite(number.value)) return std::nullopt;
  return number;
}

[[noreturn]] void refuse_range(const std::string& item) {
  throw InputError{"", item, "is not a range", "such as '25..1600 x2 GB/s' or '512..4096 +512'"};
}

/// A path may hold dots, too, but begins with no number.
bool is_range(const std::string& item) {
  static const std::regex begin{R"(x?\.?[0-9].*\.\..*)"};
  return item.size() <= longest && std::regex_match(item, begin);
}

struct ValueRange {
  double first, last, step;
  bool multiplies;  // the step is a factor
  std::string unit;

  bool ascends() const { return first <= last && (multiplies ? step > 1 && first > 0 : step > 0); }
  double value(size_t i) const {
    const double n = double(i);
    const double exact = multiplies ? first * std::pow(step, n) : first + n * step;
    return std::abs(exact - std::round(exact)) < 1e-9 * exact ? std::round(exact) : exact;
  }
};

/// "FIRST..LAST STEP UNIT", where the step is xF or +S.
ValueRange parse_range(const std::string& item) {
  static const std::regex form{R"((.+?)\s*\.\.\s*(.+?)\s+([x+])\s*(\S+)\s*([A-Za-z/]*))"};
  std::smatch parts;
  if (!std::regex_match(item, parts, form)) refuse_range(item);
  const auto first = number_in(parts[1]), last = number_in(parts[2]), step = number_in(parts[4]);
  if (!first || !last || !step || !step->unit.empty() || first->unit != last->unit) refuse_range(item);
  const std::string unit = parts[5].str();
  if (!unit.empty() && !first->unit.empty() && unit != first->unit)
    throw InputError{"", item, fmt::format("has values in {} and a range in {}", first->unit, unit), "one unit"};
  return {first->value, last->value, step->value, parts[3] == "x", unit.empty() ? first->unit : unit};
}

std::vector<Number> range_in(const std::string& item) {
  const ValueRange range = parse_range(item);
  if (!range.ascends())
    throw InputError{"", item, "does not ascend", "a last value above the first, and a step x above 1 or + above 0"};
  constexpr double rounding = 1 + 1e-9;
  std::vector<Number> numbers;
  for (size_t i = 0; range.value(i) <= range.last * rounding; ++i) {
    numbers.push_back({range.value(i), range.unit});
    if (numbers.size() > most_values)
      throw InputError{"", item, "has too many values", fmt::format("at most {}", most_values)};
  }
  return numbers;
}

/// Bare numbers get the unit of the last value. Nothing unless all are numbers of one unit.
std::optional<std::vector<Number>> of_one_unit(const std::vector<std::optional<Number>>& items) {
  std::vector<Number> numbers;
  for (const auto& item : items) {
    if (!item) return std::nullopt;
    numbers.push_back(*item);
  }
  const std::string unit = numbers.back().unit;
  for (Number& number : numbers) {
    if (number.unit.empty() && unit != "x") number.unit = unit;
    if (number.unit != unit) return std::nullopt;
  }
  return numbers;
}

/// Of one key.
void require_once(const std::vector<std::string>& texts) {
  if (texts.empty()) throw InputError{"there are no values", "at least one"};
  if (texts.size() > most_values)
    throw InputError{fmt::format("{} values", texts.size()), fmt::format("at most {}", most_values)};
  std::vector<std::string> sorted = texts;
  std::ranges::sort(sorted);
  if (const auto same = std::ranges::adjacent_find(sorted); same != sorted.end()) throw given_twice("", *same);
}

std::string value_in(const std::string& item) {
  std::string value = trimmed(item);
  if (value.empty()) throw InputError{"", "", "is not a value", "one between separators"};
  return value;
}

}  // namespace

SweepValues expand_values(const std::vector<std::string>& items) {
  std::vector<std::optional<Number>> numbers;
  SweepValues values;
  for (const std::string& each : items) {
    const std::string item = value_in(each);
    if (!is_range(item)) {
      values.texts.push_back(item), numbers.push_back(number_in(item));
      continue;
    }
    for (const Number& number : range_in(item)) values.texts.push_back(number.text()), numbers.push_back(number);
  }
  if (const auto alike = numbers.empty() ? std::nullopt : of_one_unit(numbers)) {
    values.unit = alike->front().unit;
    values.texts.clear();
    for (const Number& number : *alike) values.numbers.push_back(number.value), values.texts.push_back(number.text());
  }
  require_once(values.texts);
  return values;
}

SweepValues texts_in(const std::vector<std::string>& items) {
  SweepValues values;
  for (const std::string& item : items) values.texts.push_back(value_in(item));
  require_once(values.texts);
  return values;
}

std::vector<std::string> items_in(std::string_view text) {
  const char separator = text.find(';') == std::string_view::npos ? ',' : ';';
  std::vector<std::string> items(1);
  int open = 0;  // parentheses, within which nothing separates
  for (const char c : text) {
    open += (c == '(') - (c == ')');
    if (c == separator && open <= 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

}  // namespace tilerail::study
