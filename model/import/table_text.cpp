#include "model/import/table_text.hpp"

#include <charconv>
#include <cmath>
#include <iterator>
#include <sstream>

namespace tilerail {

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
