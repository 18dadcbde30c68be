#include "model/import/smi_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/link_values.hpp"
#include "model/import/smi_tables.hpp"

namespace tilerail {
namespace {

constexpr std::string_view not_there = "N/A";

[[noreturn]] void fail(const std::string& file, size_t line, const std::string& message) {
  throw InputError{message}.at(file, line);
}

std::string name_of(const SmiTable& table, size_t gpu) { return fmt::format("GPU{}", table.devices[gpu]); }

std::vector<std::vector<std::string>> cells_of_gpus(const SmiTable& table) {
  std::vector<std::vector<std::string>> cells;
  for (const SmiTable::Row& row : table.rows) {
    cells.emplace_back();
    for (const size_t column : table.gpu_columns) cells.back().push_back(row.words[1 + column]);
  }
  return cells;
}

/// Only a GPU and itself are X, and a pair has one cell in both directions.
void check_pairs(const SmiTable& table, const std::string& file) {
  const auto cells = cells_of_gpus(table);
  for (const auto row : indices(cells))
    for (const auto i : indices(cells)) {
      const std::string& cell = cells[row][i];
      if ((cell == "X") != (i == row))
        fail(file, table.rows[row].line,
             fmt::format("{} to {} is {}; expected X from a GPU to itself and nowhere else", name_of(table, row),
                         name_of(table, i), in_quotes(cell)));
      if (i < row && cells[i][row] != cell)
        fail(
            file, table.rows[row].line,
            fmt::format("{} to {} is {}, and {} to {} is {}; expected the same", name_of(table, row), name_of(table, i),
                        in_quotes(cell), name_of(table, i), name_of(table, row), in_quotes(cells[i][row])));
    }
}

PeerAccess access_of(const SmiTable& table, const std::string& file) {
  PeerAccess access{table.devices, {}};
  const auto cells = cells_of_gpus(table);
  for (const auto i : indices(cells))
    for (const auto j : indices(cells)) {
      if ((cells[i][j] == "X") != (i == j))
        fail(file, table.rows[i].line,
             fmt::format("{} to {} is {}; expected X from a GPU to itself and nowhere else", name_of(table, i),
                         name_of(table, j), in_quotes(cells[i][j])));
      if (i != j && cells[i][j] != "OK") access.denied.insert(std::minmax(table.devices[i], table.devices[j]));
    }
  return access;
}

/// What all tables of `topo -p2p` say together.
std::optional<PeerAccess> access_of(const std::vector<SmiTable>& tables, const std::string& file) {
  std::optional<PeerAccess> all;
  for (const SmiTable& table : tables) {
    if (!table.of_peer_access) continue;
    const PeerAccess access = access_of(table, file);
    if (!all) all = access;
    if (!std::ranges::is_permutation(access.devices, all->devices))
      fail(file, table.line, "a matrix of other GPUs than the one before; expected the same GPUs");
    all->denied.insert(access.denied.begin(), access.denied.end());
  }
  return all;
}

/// What is behind the cells of a row, one text for each column, "" where there is none. Drivers write an empty field
/// before the last one; without tabs, empty fields cannot be seen, and all but N/A at the end is ambiguous then.
std::vector<std::string> behind(const SmiTable& table, const SmiTable::Row& row, const std::string& file) {
  const size_t cells = 1 + table.columns.size(), expected = table.behind.size();
  std::vector<std::string> texts{row.words.begin() + ptrdiff_t(cells), row.words.end()};
  if (row.fields.size() >= cells + expected) {
    texts.assign(row.fields.begin() + ptrdiff_t(cells), row.fields.end());
    for (auto last = texts.end(); last != texts.begin() && texts.size() > expected;)
      if ((--last)->empty()) last = texts.erase(last);
  }
  const bool has_gpu_domain = expected > 0 && table.behind.back() == "GPU NUMA ID";
  if (texts.empty() || (texts.size() < expected && has_gpu_domain && texts.back() == not_there))
    texts.insert(texts.empty() ? texts.end() : texts.end() - 1, expected - texts.size(), "");
  if (texts.size() != expected || std::ranges::any_of(texts, is_relation))
    fail(file, row.line,
         fmt::format("header and row differ in their number of columns: {} behind the {} of GPUs and network cards, {} "
                     "in the header in line {}; expected as many",
                     row.words.size() - cells, table.columns.size(), expected, table.line));
  return texts;
}

/// Lists of numbers and ranges, "0-23,48-71".
bool is_list(const std::string& text) { return text.find_first_not_of("0123456789,-") == std::string::npos; }

void add_row(SmiMatrix& matrix, const SmiTable& table, const SmiTable::Row& row, const std::string& file) {
  const auto texts = behind(table, row, file);
  std::array<std::optional<std::string>, 3> found;  // CPU Affinity, NUMA Affinity, GPU NUMA ID
  constexpr std::array<std::string_view, 3> names{"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"};
  for (const auto i : indices(texts)) {
    if (texts[i].empty() || texts[i] == not_there) continue;
    const bool single = table.behind[i] == names[2];
    if (single ? !whole_number(texts[i], 0, assumptions::last_domain) : !is_list(texts[i]))
      fail(file, row.line,
           fmt::format("{} is {}; expected {}", table.behind[i], in_quotes(texts[i]),
                       single ? fmt::format("0 to {}, or N/A", assumptions::last_domain)
                              : "numbers such as 0-23,48-71, or N/A"));
    found[size_t(std::ranges::find(names, table.behind[i]) - names.begin())] = texts[i];
  }
  matrix.cpus.push_back(found[0]);
  matrix.domains.push_back(found[1]);
  matrix.own_domains.push_back(found[2] ? whole_number(*found[2], 0, assumptions::last_domain) : std::nullopt);
  matrix.lines.push_back(row.line);
  matrix.cards.emplace_back();
  for (const auto column : indices(table.columns))
    if (std::ranges::find(table.gpu_columns, column) == table.gpu_columns.end())
      matrix.cards.back().push_back(row.words[1 + column]);
}

/// Whether a list such as "0,2-3" has the number.
bool has_number(const std::string& list, int number) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view part) {
    const auto ends = split(part, '-');
    const auto first = whole_number(ends.front(), 0, assumptions::last_domain);
    const auto last = whole_number(ends.back(), 0, assumptions::last_domain);
    return first && last && *first <= number && number <= *last;
  });
}

/// The memory of a GPU is a NUMA domain without CPUs and without other GPUs.
void check_own_domains(const SmiMatrix& matrix, const std::string& file) {
  for (const auto i : indices(matrix.devices)) {
    if (!matrix.own_domains[i]) continue;
    const int own = *matrix.own_domains[i];
    const auto refuse = [&](const std::string& why) {
      fail(file, matrix.lines[i],
           fmt::format("GPU NUMA ID '{}' of GPU{} is {}; expected a NUMA node of the GPU's own", own, matrix.devices[i],
                       why));
    };
    for (const auto j : indices(matrix.devices)) {
      if (j < i && matrix.own_domains[j] == own) refuse(fmt::format("that of GPU{}, too", matrix.devices[j]));
      if (matrix.domains[j] && has_number(*matrix.domains[j], own))
        refuse(fmt::format("in the NUMA affinity {} of GPU{}, a node with CPUs", in_quotes(*matrix.domains[j]),
                           matrix.devices[j]));
    }
  }
}

}  // namespace

SmiMatrix read_smi_matrix(std::string_view text, const std::string& file) {
  const auto tables = read_smi_tables(text, file);
  const auto table = std::ranges::find(tables, false, &SmiTable::of_peer_access);
  if (table == tables.end())
    fail(file, tables.front().line,
         "this is the output of 'nvidia-smi topo -p2p', a file of peer access; expected that of 'nvidia-smi topo "
         "-m'");
  const auto other = std::find_if(table + 1, tables.end(), [](const SmiTable& each) { return !each.of_peer_access; });
  if (other != tables.end())
    fail(file, other->line,
         fmt::format("another matrix than the one in line {}; expected the output of one machine", table->line));
  check_pairs(*table, file);
  SmiMatrix matrix;
  matrix.devices = table->devices;
  matrix.cells = cells_of_gpus(*table);
  for (const SmiTable::Row& row : table->rows) add_row(matrix, *table, row, file);
  check_own_domains(matrix, file);
  matrix.access = access_of(tables, file);
  if (matrix.access && !std::ranges::is_permutation(matrix.access->devices, matrix.devices))
    fail(file, std::ranges::find(tables, true, &SmiTable::of_peer_access)->line,
         "the GPUs of 'topo -p2p' are others than those of 'topo -m'; expected the same GPUs");
  return matrix;
}

PeerAccess read_peer_access(std::string_view text, const std::string& file) {
  const auto tables = read_smi_tables(text, file);
  const auto access = access_of(tables, file);
  if (!access)
    fail(file, tables.front().line,
         "there are no states such as OK and CNS; expected the output of 'nvidia-smi topo -p2p r'");
  return *access;
}

}  // namespace tilerail
