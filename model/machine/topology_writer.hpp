#pragma once

#include <string>
#include <string_view>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The inverse of read_topology: reading the result gives an equal topology. Throws
/// InputError when an entry names a source that the description has not. Used by
/// calibration.
std::string to_toml(const Topology::Description& description);

/// 16 hexadecimal digits over all that a machine is, with its name, after templates,
/// includes and settings: two descriptions of the same machine have the same hash,
/// however they are written. Comments do not count. Throws as above.
std::string machine_hash(const Topology& machine);

/// Parts of a file: what copies, issue and kernels cost; a line of [sources]; what a
/// [[memory]] says of its capacity, engines and watts; a text in quotes.
std::string costs_to_toml(const Topology::Description& description);
std::string source_to_toml(const Source& source);
std::string figures_to_toml(const Memory& memory);
std::string toml_text(std::string_view text);

}  // namespace tilerail
