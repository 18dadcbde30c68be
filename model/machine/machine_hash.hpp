#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail {

/// 16 hexadecimal digits over all that a machine is, with its name, after templates, includes and settings: two
/// descriptions that are the same machine have the same hash, however they are written. Comments do not count. Throws
/// InputError where an entry names a source that the description has not.
std::string machine_hash(const Topology& machine);

}  // namespace tilerail
