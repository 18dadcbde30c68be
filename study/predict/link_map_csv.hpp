#pragma once

#include <string>

#include "model/published/link_map.hpp"

namespace tilerail::study {

/// The file format of docs/formats.md#link-map. Reading throws InputError naming file, line and column, the value and
/// what was expected. What was written of a topology reads back as its LinkMap.
LinkMap read_link_map(const std::string& file, const Topology& topology);
std::string link_map_csv(const Topology& topology);

}  // namespace tilerail::study
