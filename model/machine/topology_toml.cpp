#include "model/machine/topology_toml.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/base/files.hpp"
#include "model/machine/topology_reader.hpp"

namespace tilerail {
namespace {

/// As the files are included, and then as they stand in each.
std::vector<std::string> in_order(std::vector<TomlError> errors, const MachineFiles& files) {
  std::map<std::string, std::size_t> ranks;
  for (const MachineFile& file : files.files()) ranks.emplace(file.file.name, ranks.size());
  std::ranges::stable_sort(errors, {}, [&](const TomlError& error) {
    return std::tuple{ranks[error.place.file], error.place.position.line, error.place.position.column};
  });
  std::vector<std::string> texts;
  for (const TomlError& error : errors) texts.push_back(error.place.prefix() + error.message);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

}  // namespace

Topology read_topology(std::string_view text, const std::string& file, const FileReader& read) {
  MachineFiles files{text, file, read, nullptr};
  TopologyReader reader{files, nullptr};
  Topology::Description description = reader.description();
  try {
    return Topology{std::move(description)};
  } catch (const TopologyDefect& defect) {
    throw InputError{reader.place_of(defect).prefix() + defect.what()};
  }
}

Topology load_topology(const std::string& path) { return read_topology(read_file(path), path, read_file); }

std::vector<std::string> topology_errors(std::string_view text, const std::string& file, const FileReader& read) try {
  std::vector<TomlError> errors;
  MachineFiles files{text, file, read, &errors};
  TopologyReader reader{files, &errors};
  collecting(&errors, [&] { reader.add_defects(reader.description()); });
  return in_order(std::move(errors), files);
} catch (const InputError& error) {  // no TOML at all
  return {error.what()};
}

}  // namespace tilerail
