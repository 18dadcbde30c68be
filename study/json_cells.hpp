#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tilerail::study {

/// Rows of a table: a JSON array of objects with the same members: texts, numbers or
/// null.

/// Null is the empty text.
std::string cell_text(const nlohmann::ordered_json& value);
/// A header with the members' names and a line per row; "" without rows.
std::string csv_table(const nlohmann::ordered_json& rows);
/// An object with "schema" and "rows".
std::string json_table(const nlohmann::ordered_json& rows);

}  // namespace tilerail::study
