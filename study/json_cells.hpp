#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tilerail::study {

/// The names of an object's members as the header of a CSV table, and its values as a line: null is empty. With a line
/// break at the end.
std::string csv_header(const nlohmann::ordered_json& cells);
std::string csv_line(const nlohmann::ordered_json& cells);

}  // namespace tilerail::study
