#include "model/machine/topology_toml.hpp"

#include <fmt/format.h>

#include "model/base/files.hpp"
#include "model/machine/topology_reader.hpp"

namespace tilerail {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{16} << 20;

toml::table parsed(std::string_view text, const std::string& file) {
  if (text.size() > max_file_bytes)
    throw InputError{fmt::format("{}: the file has {} bytes; expected at most 16 MiB", file, text.size())};
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError{TomlPlace{file, error.source().begin}.prefix() + std::string{error.description()}};
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
