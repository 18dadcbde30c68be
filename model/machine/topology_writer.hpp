#pragma once

#include <string>
#include <string_view>

#include "model/machine/topology.hpp"

namespace tilerail {

/// The inverse of read_topology: reading the result gives an equal topology. Throws
/// InputError if an entry names a source that the description lacks. Used by calibration.
std::string to_toml(const Topology::Description& description);

/// 16 hexadecimal digits over the whole machine, including its name, after templates,
/// includes and settings: equivalent descriptions have the same hash. Comments are
/// ignored. Throws like to_toml.
std::string machine_hash(const Topology& machine);

/// Parts of a file: figures of copies, issue and kernels; a line of [sources]; capacity,
/// engines and watts of a [[memory]]; a text in quotes.
std::string costs_to_toml(const Topology::Description& description);
std::string source_to_toml(const Source& source);
std::string figures_to_toml(const Memory& memory);
std::string toml_text(std::string_view text);

}  // namespace tilerail
