#include "model/base/table.hpp"

#include "model/base/csv_cells.hpp"
#include "model/base/json.hpp"

namespace tilerail {

std::string cell_text(const Json& value) {
  std::string text;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float())
    append_number(text, value.get<double>());
  else if (!value.is_null())
    text = value.dump();
  return text;
}

std::string csv_table(const Json& rows) {
  std::string csv;
  if (rows.empty()) return csv;
  for (const auto& [name, cell] : rows.front().items()) {
    append_cell(csv, name);
    csv += ',';
  }
  csv.back() = '\n';
  for (const Json& row : rows) {
    for (const Json& cell : row) {
      append_cell(csv, cell_text(cell));
      csv += ',';
    }
    csv.back() = '\n';
  }
  return csv;
}

std::string json_table(const Json& rows) {
  const Json table{{"schema", 1}, {"rows", rows}};
  return table.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilerail
