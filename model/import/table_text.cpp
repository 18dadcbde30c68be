#include "model/import/table_text.hpp"

#include <cmath>
#include <sstream>

#include "model/base/number_text.hpp"
#include "model/base/parse.hpp"

namespace tilerail {

std::vector<std::string_view> lines_of(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines) {
    if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  return lines;
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string{line}};
  return {std::istream_iterator<std::string>{in}, {}};
}

std::optional<double> finite_number(std::string_view text) {
  const auto value = number_in<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<int> whole_number(std::string_view text, int least, int most) {
  const auto value = number_in<int>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

}  // namespace tilerail
