#include "model/base/name_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/base/error.hpp"
#include "model/base/number_text.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr size_t most_digits = 9;  // of a number in a name

/// The number, if all characters are digits.
std::optional<int64_t> number_of(std::string_view digits) {
  const bool is_number = digits.size() <= most_digits &&
                         digits.find_first_not_of("0123456789") == digits.npos;
  return is_number ? number_in<int64_t>(digits) : std::nullopt;
}

}  // namespace

std::string NamePattern::Range::number(int64_t value) const {
  return fmt::format("{:0{}}", value, digits);
}

NamePattern::NamePattern(std::string_view text) : text_{text} {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*' || text[i] == '?') {
      parts_.push_back({text[i] == '*' ? Kind::any : Kind::one, {}, {}});
    } else if (text[i] == '[') {
      const size_t end = text.find(']', i);
      if (end == std::string_view::npos)
        throw InputError{"", text_, "has a bracket that is not closed",
                         "such as [0-7] or [0,2,4-6]"};
      parts_.push_back(numbers(text.substr(i + 1, end - i - 1)));
      i = end;
    } else {
      if (parts_.empty() || parts_.back().kind != Kind::text)
        parts_.push_back({Kind::text, {}, {}});
      parts_.back().text += text[i];
    }
  }
}

/// Parses the text between brackets: "0,2,4-6".
NamePattern::Part NamePattern::numbers(std::string_view list) const {
  Part part{Kind::numbers, {}, {}};
  for (const std::string_view range : split(list, ',')) {
    const auto ends = split(range, '-');
    const auto first = number_of(ends.front()), last = number_of(ends.back());
    if (ends.size() > 2 || !first || !last || *last < *first)
      throw InputError{"", text_,
                       fmt::format("has the bracket {}, which is not a list of ranges",
                                   in_quotes(list)),
                       "such as [0-7] or [0,2,4-6]"};
    const bool filled = ends.front().size() > 1 && ends.front().front() == '0';
    part.ranges.push_back({*first, *last, filled ? ends.front().size() : 1});
  }
  return part;
}

/// Possible ends of the part in `name` if it begins at `begin`.
std::vector<size_t> NamePattern::ends_of(const Part& part, std::string_view name,
                                         size_t begin) {
  std::vector<size_t> ends;
  const std::string_view rest = name.substr(begin);
  if (part.kind == Kind::text && rest.starts_with(part.text))
    ends.push_back(begin + part.text.size());
  if (part.kind == Kind::one && !rest.empty()) ends.push_back(begin + 1);
  if (part.kind != Kind::numbers) return ends;
  for (size_t length = 1; length <= std::min(rest.size(), most_digits); ++length) {
    const std::string_view digits = rest.substr(0, length);
    const auto value = number_of(digits);
    if (value && std::ranges::any_of(part.ranges, [&](const Range& range) {
          return *value >= range.first && *value <= range.last &&
                 digits == range.number(*value);
        }))
      ends.push_back(begin + length);
  }
  return ends;
}

/// Tracks all possible ends of the parts so far, so that the time is at most parts times
/// length, however many '*' there are.
bool NamePattern::matches(std::string_view name) const {
  std::vector<bool> here(name.size() + 1, false);
  here[0] = true;
  for (const Part& part : parts_) {
    std::vector<bool> next(name.size() + 1, false);
    for (size_t begin = 0; begin <= name.size(); ++begin) {
      if (!here[begin]) continue;
      if (part.kind == Kind::any) {
        std::fill(next.begin() + ptrdiff_t(begin), next.end(), true);
        break;
      }
      for (const size_t end : ends_of(part, name, begin)) next[end] = true;
    }
    here = std::move(next);
  }
  return here[name.size()];
}

std::vector<std::string> NamePattern::expanded(size_t most) const {
  std::vector<std::string> names{""};
  for (const Part& part : parts_) {
    std::vector<std::string> endings{part.kind == Kind::any   ? "*"
                                     : part.kind == Kind::one ? "?"
                                                              : part.text};
    if (part.kind == Kind::numbers) endings.clear();
    for (const Range& range : part.ranges)
      for (int64_t value = range.first; value <= range.last && endings.size() <= most;
           ++value)
        endings.push_back(range.number(value));
    if (names.size() * endings.size() > most)
      throw InputError{"", text_, "stands for too many names",
                       fmt::format("at most {}", most)};
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& ending : endings) longer.push_back(name + ending);
    names = std::move(longer);
  }
  return names;
}

}  // namespace tilerail
