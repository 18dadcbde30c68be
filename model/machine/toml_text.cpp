#include "model/machine/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/toml_table.hpp"

namespace tilerail {
namespace {

constexpr size_t max_bytes = size_t{16} << 20;

/// Behind the string that begins at `begin`. One of a single line ends at a line break, too, where toml++ refuses it.
size_t end_of_string(std::string_view text, size_t begin) {
  const char quote = text[begin];
  const std::string_view three = quote == '"' ? R"(""")" : "'''";
  const bool single_line = !text.substr(begin).starts_with(three);
  size_t i = begin + (single_line ? 1 : three.size());
  while (i < text.size()) {
    if (text[i] == '\\' && quote == '"') {
      ++i;  // to what it escapes
    } else if (single_line && (text[i] == quote || text[i] == '\n')) {
      return i + 1;
    } else if (!single_line && text.substr(i).starts_with(three)) {
      const size_t longest = i + three.size() + 2;  // two quotes may stand before those that end it
      return std::min(text.find_first_not_of(quote, i), longest);
    }
    ++i;
  }
  return i;
}

/// Where a key has one part, "a.b.c", more than `most`; strings and comments are passed over.
size_t end_of_long_key(std::string_view text, size_t most) {
  size_t dots = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'')
      i = end_of_string(text, i) - 1;
    else if (c == '#')
      i = std::min(text.find('\n', i), text.size()) - 1;
    else if (c == '.' && ++dots == most)
      return i;
    else if (std::string_view{"=,[]{}\n"}.find(c) != std::string_view::npos)
      dots = 0;
  }
  return std::string_view::npos;
}

/// toml++ goes down tables by recursion, and bounds the depth of values but not that of keys.
void check_keys(std::string_view text, const std::string& file) {
  constexpr size_t most_parts = 32;  // machines have keys of three
  const size_t at = end_of_long_key(text, most_parts);
  if (at == std::string_view::npos) return;
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t column = at - before.rfind('\n');  // npos + 1 is 0
  throw InputError{
      fmt::format("{}:{}:{}: the key has more than {} parts; expected fewer", file, line, column, most_parts)};
}

}  // namespace

toml::table parsed_toml(std::string_view text, const std::string& file, size_t bytes) {
  if (bytes > max_bytes)
    throw InputError{fmt::format("{}: the file{} {} bytes; expected at most 16 MiB", file,
                                 bytes == text.size() ? " has" : ", with those that it is included with, has", bytes)};
  check_keys(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError{error.description(), "TOML"}.at(toml_place(file, error.source().begin));
  }
}

}  // namespace tilerail
