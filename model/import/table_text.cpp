#include "model/import/table_text.hpp"

#include <charconv>
#include <cmath>
#include <iterator>
#include <sstream>

#include "model/base/parse.hpp"

namespace tilerail {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines) {
    if (line.starts_with(utf8_mark)) line.remove_prefix(utf8_mark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  return lines;
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string{line}};
  return {std::istream_iterator<std::string>{in}, {}};
}

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
  return whole ? std::optional{value} : std::nullopt;
}

}  // namespace tilerail
