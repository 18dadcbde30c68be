#include "study/json_cells.hpp"

#include <cstdint>

#include "model/base/csv_cells.hpp"
#include "model/base/json.hpp"

namespace tilerail::study {
namespace {

template <class Text>
void append_line(std::string& csv, const Json& row, const Text& text) {
  std::string line;
  for (const auto& [name, value] : row.items()) {
    line += ',';
    append_cell(line, text(name, value));
  }
  csv += line.substr(1) + '\n';
}

}  // namespace

std::string cell_text(const Json& value) {
  std::string text;
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) append_number(text, value.get<double>());
  if (value.is_number_integer()) append_number(text, value.get<int64_t>());
  return text;
}

std::string csv_table(const Json& rows) {
  std::string csv;
  if (rows.empty()) return csv;
  append_line(csv, rows.front(),
              [](const std::string& name, const Json&) { return name; });
  for (const Json& row : rows)
    append_line(csv, row,
                [](const std::string&, const Json& value) { return cell_text(value); });
  return csv;
}

std::string json_table(const Json& rows) {
  const Json table{{"schema", 1}, {"rows", rows}};
  return table.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilerail::study
