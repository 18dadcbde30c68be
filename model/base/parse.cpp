#include "model/base/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <limits>

#include "model/base/error.hpp"
#include "model/base/number_text.hpp"

namespace tilerail {
namespace {

constexpr int most_device_number = 9999;

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  boost::split(parts, text, [=](char c) { return c == separator; });
  return parts;
}

int64_t parse_size(std::string_view text, std::string_view subject) {
  constexpr std::string_view expected =
      "a size: digits with an optional K (1024) or M (1024^2), such as 16K";
  std::string_view digits = text;
  int64_t unit = 1;
  if (!digits.empty() && (digits.back() == 'K' || digits.back() == 'k')) unit = 1024;
  if (!digits.empty() && (digits.back() == 'M' || digits.back() == 'm'))
    unit = int64_t{1024} * 1024;
  if (unit > 1) digits.remove_suffix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || !std::ranges::all_of(digits, is_digit))
    throw InputError{subject, text, "", expected};
  const auto count = number_in<int64_t>(digits);
  if (!count || *count > std::numeric_limits<int64_t>::max() / unit)
    throw InputError{subject, text, "is too large", "at most 2^40"};
  return *count * unit;
}

int64_t parse_integer(std::string_view text, std::string_view subject, int64_t least,
                      int64_t most) {
  const auto number = number_in<int64_t>(text);
  if (!number || *number < least || *number > most)
    throw InputError{subject, text, "",
                     fmt::format("an integer from {} to {}", least, most)};
  return *number;
}

double parse_real(std::string_view text, std::string_view subject) {
  const auto number = number_in<double>(text.starts_with('+') ? text.substr(1) : text);
  if (!number || !std::isfinite(*number))
    throw InputError{subject, text, "", "a finite number"};
  return *number;
}

std::array<int64_t, 3> parse_shape(std::string_view text, std::string_view subject) {
  const auto parts = split(text, ',');
  if (parts.size() != 1 && parts.size() != 3)
    throw InputError{subject, text, "", "M,N,K or one size for a cube"};
  const auto empty = std::ranges::find(parts, "") - parts.begin();
  if (parts.size() == 3 && empty < 3)
    throw InputError{subject, text, fmt::format("lacks {}", "mnk"[empty]),
                     "M,N,K or one size for a cube"};
  std::array<int64_t, 3> shape{};
  for (size_t i = 0; i < 3; ++i)
    shape[i] = parse_size(parts[parts.size() == 1 ? 0 : i], subject);
  return shape;
}

std::vector<int> parse_numbers(std::string_view text, std::string_view subject) {
  std::vector<int> numbers;
  for (std::string_view part : split(text, ',')) {
    const auto ends = split(part, '-');
    const auto first = number_in<int>(ends.front()), last = number_in<int>(ends.back());
    if (ends.size() > 2 || !first || !last || *first < 0 || *last < *first ||
        *last > most_device_number)
      throw InputError{subject, text, "", "a list of numbers, such as 0,2,4-6"};
    for (int number = *first; number <= *last; ++number) {
      if (std::ranges::find(numbers, number) != numbers.end())
        throw InputError{subject, text, fmt::format("lists {} twice", number),
                         "each number once"};
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::string trimmed(std::string_view text) {
  return std::string{
      boost::trim_copy_if(text, [](char c) { return c == ' ' || c == '\t'; })};
}

std::vector<std::string> known_parts(
    std::string_view text, const std::function<bool(const std::string&)>& is_known) {
  std::vector<std::string> parts;
  std::string part;
  for (const std::string_view piece : split(text, '&')) {
    part += piece;
    if (is_known(trimmed(part))) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += '&';
    }
  }
  return part.empty() ? parts : std::vector<std::string>{};
}

}  // namespace tilerail
