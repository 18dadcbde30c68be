#pragma once

#include <string>
#include <string_view>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Reads a machine description (docs/formats.md#topology). `file` names the place in
/// errors. Throws InputError "file:line:column: ..." with the field, the value and the
/// expectation.
Topology read_topology(std::string_view toml, const std::string& file);
Topology load_topology(const std::string& path);

}  // namespace tilerail
