#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"

namespace {

std::optional<tilerail::Topology> accepted(std::string_view text) {
  try {
    return tilerail::read_topology(text, "fuzz.toml");
  } catch (const tilerail::InputError&) {
    return std::nullopt;
  }
}

}  // namespace

/// Any text is refused with an InputError, or is a machine that can be written and read
/// again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto topology = accepted({reinterpret_cast<const char*>(data), size});
  if (topology)
    tilerail::read_topology(tilerail::to_toml(topology->description()), "again.toml");
  return 0;
}
