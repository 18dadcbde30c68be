#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/base/json.hpp"
#include "model/base/text.hpp"

namespace tilerail {

/// A cell in CSV: a text, a number, or null, which is empty.
std::string cell_text(const Json& cell);

/// Enumerators and parts with a text are texts, absent values are null.
template <class Value>
Json cell_of(const Value& value) {
  if constexpr (requires { value.has_value(); })
    return value ? cell_of(*value) : Json{};
  else if constexpr (std::is_enum_v<Value>)
    return to_string(value);
  else if constexpr (std::is_constructible_v<Json, const Value&>)
    return value;
  else
    return to_text(value);
}

template <class Row>
struct Column {
  std::string name;  // in CSV and JSON; "": not there
  std::function<Json(const Row&)> cell;
  std::string heading = {};  // in tables for users; "": not there
  std::function<std::string(const Json&)> text = cell_text;  // of a cell there
};

/// Describes the members of a result: its CSV, its JSON and its table for users.
template <class Row>
struct Columns {
  std::vector<Column<Row>> all;

  /// One column. `of` is a member or a function of a row.
  template <class Of, class... Shown>
  Columns(std::string name, Of of, Shown... shown)
      : all{{std::move(name),
             [of](const Row& row) { return cell_of(std::invoke(of, row)); },
             std::move(shown)...}} {}
  /// The columns of a part of a row, which may be optional or a pointer.
  template <class Part, class Of>
  Columns(const Columns<Part>& columns, Of of) {
    for (const Column<Part>& column : columns.all)
      all.push_back({column.name,
                     [cell = column.cell, of](const Row& row) {
                       const auto& part = std::invoke(of, row);
                       if constexpr (requires { *part; })
                         return part ? cell(*part) : Json{};
                       else
                         return cell(part);
                     },
                     column.heading, column.text});
  }
  Columns(std::initializer_list<Columns> groups) {
    for (const Columns& group : groups) add(group);
  }

  void add(const Columns& group) {
    all.insert(all.end(), group.all.begin(), group.all.end());
  }

  /// Of columns with one name, the last with a value counts.
  Json json(const Row& row) const {
    Json cells;
    for (const auto& [name, cell, heading, text] : all)
      if (const Json value = cell(row);
          !name.empty() && (!value.is_null() || !cells.contains(name)))
        cells[name] = value;
    return cells;
  }
  Json json_rows(std::span<const Row> rows) const {
    Json list = Json::array();
    for (const Row& row : rows) list.push_back(json(row));
    return list;
  }

  /// For users: the headings, a row's cells, and the table of both. Null is "-".
  std::vector<std::string> head() const {
    return shown([](const Column<Row>& column) { return column.heading; });
  }
  std::vector<std::string> line(const Row& row) const {
    return shown([&](const Column<Row>& column) {
      const Json cell = column.cell(row);
      return cell.is_null() ? "-" : column.text(cell);
    });
  }
  Lines lines(std::span<const Row> rows) const {
    Lines lines{head()};
    for (const Row& row : rows) lines.push_back(line(row));
    return lines;
  }

 private:
  std::vector<std::string> shown(const auto& text) const {
    std::vector<std::string> cells;
    for (const Column<Row>& column : all)
      if (!column.heading.empty()) cells.push_back(text(column));
    return cells;
  }
};

/// Rows of equal columns as CSV: a header with the names and a line per row; "" without
/// rows.
std::string csv_table(const Json& rows);
/// An object with "schema" and "rows".
std::string json_table(const Json& rows);

}  // namespace tilerail
