#include "study/cases/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "model/base/csv_cells.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/parse.hpp"

namespace tilerail::study {
namespace {

using Setter = std::function<void(Case&, const std::string&)>;

const std::vector<std::pair<std::string, Setter>>& columns() {
  static const std::vector<std::pair<std::string, Setter>> table{
      {"m", [](Case& c, const std::string& t) { c.sizes[0] = t; }},
      {"n", [](Case& c, const std::string& t) { c.sizes[1] = t; }},
      {"k", [](Case& c, const std::string& t) { c.sizes[2] = t; }},
      {"routine", [](Case& c, const std::string& t) { c.routine = t; }},
      {"dtype", [](Case& c, const std::string& t) { c.problem.dtype = t; }},
      {"transa", [](Case& c, const std::string& t) { c.problem.trans_a = t; }},
      {"transb", [](Case& c, const std::string& t) { c.problem.trans_b = t; }},
      {"alpha", [](Case& c, const std::string& t) { c.problem.alpha = t; }},
      {"beta", [](Case& c, const std::string& t) { c.problem.beta = t; }},
      {"place", [](Case& c, const std::string& t) { c.problem.place = t; }},
      {"devices", [](Case& c, const std::string& t) { c.devices = t; }},
      {"policy", [](Case& c, const std::string& t) { c.policy.name = t; }},
      {"tile", [](Case& c, const std::string& t) { c.policy.tile = t; }},
      {"set",
       [](Case& c, const std::string& t) {
         for (const auto part : split(t, ' '))
           if (!part.empty()) c.policy.overrides.emplace_back(part);
       }},
      {"group", [](Case& c, const std::string& t) { c.group = t; }},
      {"label", [](Case& c, const std::string& t) { c.label = t; }}};
  return table;
}

/// The problem of the routine whose sizes as a GEMM are given. Throws InputError "--COLUMN: ...".
void state_problem(Case& c) {
  const auto& [m, n, k] = c.sizes;
  for (std::size_t size = 0; size < 3; ++size) parse_size(c.sizes[size], "--" + columns()[size].first);
  const auto require_one = [&](const char* column, const std::string& size) {
    if (parse_size(size, column) != 1)
      throw InputError{fmt::format("--{}: '{}' is not 1, as it is of every {}", column, size, c.routine)};
  };
  const Routine routine = routine_from_string(c.routine, "--routine");
  if (routine != Routine::gemm) require_one("n", n);
  switch (routine) {
    case Routine::gemm:
      c.problem.gemm = fmt::format("{},{},{}", m, n, k);
      return;
    case Routine::gemv:
      c.problem.gemv = c.problem.trans_a == "T" ? fmt::format("{},{}", k, m) : fmt::format("{},{}", m, k);
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

/// Spreadsheets and Python's csv module end lines with a carriage return, too.
std::string with_line_feeds(std::string_view text) {
  std::string lines;
  lines.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text.substr(i, 2) != "\r\n") lines += text[i];
  return lines;
}

std::vector<std::size_t> read_header(CsvReader& csv) {
  std::vector<std::string> names;
  for (const auto& [name, _] : columns()) names.push_back(name);
  if (!csv.next_line()) csv.fail(1, "is empty; expected a header and cases");
  std::vector<std::size_t> order;
  for (const auto& cell : csv.cells()) {
    const auto found = std::find(names.begin(), names.end(), cell.text);
    if (found == names.end())
      csv.fail(cell, fmt::format("'{}' is no column; expected any of: {}", excerpt(cell.text), fmt::join(names, ", ")));
    const auto column = static_cast<std::size_t>(found - names.begin());
    if (std::find(order.begin(), order.end(), column) != order.end())
      csv.fail(cell, fmt::format("column '{}' is there twice; expected it once", cell.text));
    order.push_back(column);
  }
  for (std::size_t size = 0; size < 3; ++size)
    if (std::find(order.begin(), order.end(), size) == order.end())
      csv.fail(1, fmt::format("has no column '{}'; expected m, n and k", names[size]));
  return order;
}

}  // namespace

std::string Case::located(const std::string& message) const {
  const std::string words = message.substr(message.starts_with("--") ? 2 : 0);
  const std::string subject = words.substr(0, words.find_first_of(" :="));  // of "tile 64: ...", "m = 5 ..."
  const auto sets_it = [&](const std::string& text) { return text.starts_with(subject + "="); };
  std::string column = subject;
  if (subject == routine) column = routine == "dot" ? "k" : "m";
  if (!places.contains(column) && std::any_of(policy.overrides.begin(), policy.overrides.end(), sets_it))
    column = "set";
  const auto place = places.find(column);
  return fmt::format("{}:{}:{}: {}", file, line, place == places.end() ? 1 : place->second, words);
}

std::vector<Case> read_cases(const std::string& file) {
  const std::string text = read_file(file);
  const std::string lines = with_line_feeds(text);
  CsvReader csv{lines, file};
  const auto order = read_header(csv);
  std::vector<Case> cases;
  while (csv.next_line()) {
    const auto& cells = csv.cells();
    if (cells.size() != order.size())
      csv.fail(1, fmt::format("has {} cells; expected {}, as in the header", cells.size(), order.size()));
    Case c;
    c.file = file;
    c.line = csv.line_number();
    for (std::size_t column = 0; column < columns().size(); ++column)
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i] != column) continue;
        if (column < 3 && cells[i].text.empty()) csv.fail(cells[i], "is empty; expected a size");
        if (cells[i].text.empty()) continue;
        c.places[columns()[column].first] = cells[i].column;
        columns()[column].second(c, std::string{cells[i].text});
      }
    c.locating([&] { state_problem(c); });
    cases.push_back(std::move(c));
  }
  if (cases.empty()) csv.fail(1, "has no cases; expected at least one line after the header");
  return cases;
}

}  // namespace tilerail::study
