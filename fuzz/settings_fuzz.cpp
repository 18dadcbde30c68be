#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"

namespace {

const tilerail::Topology& machine() {
  static const tilerail::Topology machine =
      tilerail::load_topology("topologies/two-gpu.toml");
  return machine;
}

}  // namespace

/// Any settings, one per line, are refused with an InputError, or give a machine that can
/// be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  std::vector<std::string> settings;
  for (const std::string_view line : tilerail::split(text, '\n'))
    if (!line.empty()) settings.emplace_back(line);
  try {
    const tilerail::Topology changed = tilerail::with_settings(machine(), settings);
    tilerail::read_topology(tilerail::to_toml(changed.description()), "again.toml");
  } catch (const tilerail::InputError&) {
  }
  return 0;
}
