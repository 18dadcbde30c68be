#include "model/machine/toml_text.hpp"

#include <fmt/format.h>

#include "model/base/toml_table.hpp"

namespace tilerail {
namespace {

constexpr size_t most_bytes = size_t{16} << 20;

/// Limits the depth of keys, "a.b.c": toml++ visits tables recursively, but limits only
/// the depth of values.
void check_keys(std::string_view text, const std::string& file) {
  constexpr size_t most_dots = 1000;  // machine files have keys with two parts
  size_t dots = 0, line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (std::string_view{"=,[]{}\n"}.find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > most_dots)
      throw fault_of("key", "has too many parts", fmt::format("at most {}", most_dots))
          .at(file, line);
  }
}

}  // namespace

toml::table parsed_toml(std::string_view text, const std::string& file) {
  if (text.size() > most_bytes)
    throw fault_of("file", fmt::format("has {} bytes", text.size()), "at most 16 MiB")
        .at(file);
  check_keys(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw fault_of("", error.description(), "TOML")
        .at(toml_place(file, error.source().begin));
  }
}

}  // namespace tilerail
