#pragma once

#include <string>

namespace tilerail::api {

/// `given`, else the environment variable TILERAIL_TOPOLOGY, else "".
std::string wanted_machine(const std::string& given);

/// The file that `text` means: a path as it is, else NAME.toml in $TILERAIL_TOPOLOGIES, in share/tilerail/topologies
/// beside the folder that this library (or the program that holds it) lies in, or in ./topologies. Throws InputError
/// naming the folders.
std::string find_machine(const std::string& text);

}  // namespace tilerail::api
