#pragma once

#include <string>
#include <string_view>

#include "model/base/file_reader.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Reads a machine description (docs/formats.md#topology). `file` names the place in errors, and what it includes lies
/// beside it; `read` reads that, and without it nothing can be included.
/// Throws InputError "file:line:column: ..." naming field, value and expectation.
Topology read_topology(std::string_view toml, const std::string& file, const FileReader& read = {});
Topology load_topology(const std::string& path);

}  // namespace tilerail
