#include "model/machine/topology_toml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/files.hpp"
#include "model/machine/topology_reader.hpp"

namespace tilerail {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{16} << 20;

/// Where the key of a line has one part, "a.b.c", more than `most`; quoted parts, texts and comments are skipped.
std::size_t end_of_long_key(std::string_view line, std::size_t most) {
  char quote = '\0';  // that is open
  std::size_t dots = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == '\\' && quote == '"')
        ++i;
      else if (c == quote)
        quote = '\0';
    } else if (c == '#') {
      break;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.' && ++dots == most) {
      return i;
    } else if (std::string_view{"=,[]{}"}.find(c) != std::string_view::npos) {
      dots = 0;
    }
  }
  return std::string_view::npos;
}

/// toml++ goes down tables by recursion, and bounds the depth of values but not that of keys.
void check_keys(std::string_view text, const std::string& file) {
  constexpr std::size_t most_parts = 32;  // machines have keys of three
  for (std::size_t line = 1, begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t at = end_of_long_key(text.substr(begin, end - begin), most_parts);
    if (at != std::string_view::npos)
      throw InputError{
          fmt::format("{}:{}:{}: the key has more than {} parts; expected fewer", file, line, at + 1, most_parts)};
    begin = end + 1;
  }
}

toml::table parsed(std::string_view text, const std::string& file) {
  if (text.size() > max_file_bytes)
    throw InputError{fmt::format("{}: the file has {} bytes; expected at most 16 MiB", file, text.size())};
  check_keys(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError{TomlPlace{file, error.source().begin}.prefix() + std::string{error.description()} +
                     "; expected TOML"};
  }
}

}  // namespace

Topology read_topology(std::string_view text, const std::string& file) {
  const toml::table root = parsed(text, file);
  TopologyReader reader{root, file};
  Topology::Description description = reader.description();
  try {
    return Topology{std::move(description)};
  } catch (const TopologyDefect& defect) {
    throw InputError{reader.place_of(defect).prefix() + defect.what()};
  }
}

Topology load_topology(const std::string& path) { return read_topology(read_file(path), path); }

}  // namespace tilerail
