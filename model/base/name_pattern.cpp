#include "model/base/name_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/number_text.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr const char* expected_bracket = "such as [0-7] or [0,2,4-6]";

/// The first `most + 1` numbers of a bracket, "0,2,4-6".
std::vector<std::string> numbers_in(std::string_view list, std::string_view text,
                                    size_t most) {
  constexpr size_t most_digits = 9;
  std::vector<std::string> numbers;
  for (const std::string_view range : split(list, ',')) {
    const auto ends = split(range, '-');
    const auto first = number_in<int>(ends.front()), last = number_in<int>(ends.back());
    if (ends.size() > 2 || ends.front().size() > most_digits || !first || !last ||
        *last < *first)
      throw InputError{"", text,
                       fmt::format("has the bracket {}, which is not a list of ranges",
                                   in_quotes(list)),
                       expected_bracket};
    const size_t digits = ends.front().starts_with('0') ? ends.front().size() : 1;
    for (int64_t value = *first; value <= *last && numbers.size() <= most; ++value)
      numbers.push_back(fmt::format("{:0{}}", value, digits));
  }
  return numbers;
}

}  // namespace

std::vector<std::string> expanded_names(std::string_view text, size_t most) {
  std::vector<std::string> names{""};
  for (std::string_view rest = text; !rest.empty();) {
    size_t end = std::min(rest.find('['), rest.size());
    std::vector<std::string> endings{std::string{rest.substr(0, end)}};
    if (end == 0) {
      end = rest.find(']');
      if (end == std::string_view::npos)
        throw InputError{"", text, "has a bracket that is not closed", expected_bracket};
      endings = numbers_in(rest.substr(1, end++ - 1), text, most);
    }
    rest.remove_prefix(end);
    if (names.size() * endings.size() > most)
      throw InputError{"", text, "stands for too many names",
                       fmt::format("at most {}", most)};
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& ending : endings) longer.push_back(name + ending);
    names = std::move(longer);
  }
  return names;
}

/// After a mismatch, the latest '*' takes one more character: earlier ones need not.
bool fits_pattern(std::string_view pattern, std::string_view name) {
  size_t at = 0, next = 0, star = pattern.npos, taken = 0;
  while (next < name.size()) {
    const char wanted = at < pattern.size() ? pattern[at] : '\0';
    if (wanted == '*')
      star = at++, taken = next;
    else if (at < pattern.size() && (wanted == '?' || wanted == name[next]))
      ++at, ++next;
    else if (star == pattern.npos)
      return false;
    else
      at = star + 1, next = ++taken;
  }
  return pattern.find_first_not_of('*', at) == pattern.npos;
}

}  // namespace tilerail
