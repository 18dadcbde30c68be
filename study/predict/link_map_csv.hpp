#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::study {

/// The link map of a machine's routes (docs/formats.md#link-map).
std::string link_map_csv(const Topology& topology);

}  // namespace tilerail::study
