#include "study/json_cells.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/base/csv_cells.hpp"

namespace tilerail::study {

std::string csv_header(const nlohmann::ordered_json& cells) {
  std::string line;
  bool first = true;
  for (const auto& [name, _] : cells.items()) {
    if (!std::exchange(first, false)) line += ',';
    append_cell(line, name);
  }
  return line + '\n';
}

std::string csv_line(const nlohmann::ordered_json& cells) {
  std::string line;
  bool first = true;
  for (const auto& [_, value] : cells.items()) {
    if (!std::exchange(first, false)) line += ',';
    if (value.is_string()) append_cell(line, value.get<std::string>());
    if (value.is_number_float()) append_number(line, value.get<double>());
    if (value.is_number_integer()) append_number(line, value.get<int64_t>());
  }
  return line + '\n';
}

}  // namespace tilerail::study
