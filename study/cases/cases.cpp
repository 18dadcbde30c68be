#include "study/cases/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "model/base/contains.hpp"
#include "model/base/csv_cells.hpp"
#include "model/base/files.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "study/sweep/keys.hpp"

namespace tilerail::study {
namespace {

constexpr std::array<std::string_view, 17> columns{
    "m",      "n",      "k",    "routine", "dtype",   "transa",
    "transb", "alpha",  "beta", "place",   "devices", "policy",
    "tile",   "effort", "set",  "group",   "label"};
constexpr size_t sizes = 3;  // the first columns

void set_cell(Case& c, size_t column, const std::string& text) {
  const std::string name{columns[column]};
  if (column < sizes)
    c.sizes[column] = text;
  else if (name == "routine")
    c.routine = text;
  else if (name == "group")
    c.group = text;
  else if (name == "label")
    c.label = text;
  else if (name != "set")
    set_key(c, name, text);
  else
    for (const auto part : split(text, ' '))
      if (!part.empty()) c.policy.overrides.emplace_back(part);
}

/// Derives the problem of the case's routine from its sizes as a GEMM. Throws InputError.
void state_problem(Case& c) {
  const auto& [m, n, k] = c.sizes;
  for (size_t size = 0; size < sizes; ++size) parse_size(c.sizes[size], columns[size]);
  const auto require_one = [&](const char* column, const std::string& size) {
    if (parse_size(size, column) != 1)
      throw InputError{column, size, fmt::format("is not 1, as in every {}", c.routine)};
  };
  const Routine routine = routine_from_string(c.routine);
  if (routine != Routine::gemm) require_one("n", n);
  switch (routine) {
    case Routine::gemm:
      c.problem.gemm = fmt::format("{},{},{}", m, n, k);
      return;
    case Routine::gemv:
      c.problem.gemv = c.problem.trans_a == "T" ? fmt::format("{},{}", k, m)
                                                : fmt::format("{},{}", m, k);
      return;
    case Routine::dot:
      require_one("m", m);
      c.problem.dot = k;
      return;
    case Routine::axpy:
      require_one("k", k);
      c.problem.axpy = m;
      return;
  }
}

std::vector<size_t> read_header(CsvReader& csv) {
  if (!csv.next_line()) csv.fail(1, "is empty", "a header and cases");
  std::vector<size_t> order;
  for (const auto& cell : csv.cells()) {
    const auto found = std::ranges::find(columns, cell.text);
    if (found == columns.end())
      csv.fail(cell, {"", excerpt(cell.text), "is not a column",
                      fmt::format("any of: {}", fmt::join(columns, ", "))});
    const auto column = size_t(found - columns.begin());
    if (contains(order, column))
      csv.fail(cell, {"column", cell.text, "appears twice", "it once"});
    order.push_back(column);
  }
  for (size_t size = 0; size < sizes; ++size)
    if (!contains(order, size))
      csv.fail(1, fmt::format("has no column '{}'", columns[size]), "m, n and k");
  return order;
}

}  // namespace

InputError Case::located(const InputError& error) const {
  const auto sets_it = [&](const std::string& text) {
    return text.starts_with(error.subject + "=");
  };
  std::string column = error.subject;
  if (column == routine) column = routine == "dot" ? "k" : "m";
  if (!places.contains(column) && std::ranges::any_of(policy.overrides, sets_it))
    column = "set";
  const auto place = places.find(column);
  return error.at(
      fmt::format("{}:{}:{}", file, line, place == places.end() ? 1 : place->second));
}

std::vector<Case> read_cases(const std::string& file) {
  const std::string text = read_file(file);
  CsvReader csv{text, file};
  const auto order = read_header(csv);
  std::vector<Case> cases;
  while (csv.next_line()) {
    const auto& cells = csv.cells();
    if (cells.size() != order.size())
      csv.fail(1, fmt::format("has {} cells", cells.size()),
               fmt::format("{}, as in the header", order.size()));
    Case c;
    c.file = file;
    c.line = csv.line_number();
    for (const auto column : indices(columns))
      for (const auto i : indices(order)) {
        if (order[i] != column) continue;
        if (column < sizes && cells[i].text.empty())
          csv.fail(cells[i], {"", "", "", "a size"});
        if (cells[i].text.empty()) continue;
        c.places.emplace(columns[column], cells[i].column);
        set_cell(c, column, std::string{cells[i].text});
      }
    c.locating([&] { state_problem(c); });
    cases.push_back(std::move(c));
  }
  if (cases.empty()) csv.fail(1, "has no cases", "at least one line after the header");
  return cases;
}

}  // namespace tilerail::study
