#include "model/import/smi_matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <regex>

#include "model/base/contains.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::most_gpus, assumptions::most_nvlinks;
using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 7> relations{
    "X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};  // SOC: the old name of SYS
constexpr std::array<std::string_view, 7> peer_states{"OK", "CNS", "GNS", "TNS",
                                                      "NS", "DR",  "U"};

/// A table of `nvidia-smi topo`, in upper case.
struct Table {
  struct Row {
    size_t line;
    Words cells;   // by column
    Words behind;  // by column after `cells`; "" without a value
  };
  size_t line;  // of the header
  std::vector<int> devices = {};
  std::vector<size_t> gpu_columns = {};  // by device: its column
  Words columns = {};                    // GPUs and network cards
  Words behind = {};                     // "CPU AFFINITY", "NUMA AFFINITY", "GPU NUMA ID"
  std::map<int, Row> rows = {};          // by device
  bool of_peer_access = false;           // whether the table is output of `topo -p2p`

  bool is_complete() const { return rows.size() == devices.size(); }
};

bool is_peer_state(std::string_view cell) { return contains(peer_states, cell); }

/// X, PIX, PXB, PHB, NODE, SYS, SOC and NV1 to NV18.
bool is_relation(std::string_view cell) {
  return contains(relations, cell) ||
         (cell.starts_with("NV") && whole_number(cell.substr(2), 1, most_nvlinks));
}

bool is_cell(const std::string& word) { return is_relation(word) || is_peer_state(word); }

/// Removes the escapes that underline the header, even if the escape character itself was
/// lost ("[4m"), and converts to upper case.
std::string plain(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b')
      while (i < line.size() && line[i] != 'm') ++i;
    else if (const auto rest = line.substr(i);
             rest.starts_with("[4m") || rest.starts_with("[0m"))
      i += 2;
    else
      text += char(std::toupper(static_cast<unsigned char>(line[i])));
  }
  return text;
}

std::optional<int> gpu_number(std::string_view word) {
  constexpr int most_number = 9999;
  return word.starts_with("GPU") ? whole_number(word.substr(3), 0, most_number)
                                 : std::nullopt;
}

/// Whether a line names GPUs and has no cells.
bool is_header(const Words& words) {
  return gpu_number(words.front()) && std::ranges::none_of(words, is_cell);
}

/// Whether a line is "Legend:", "NIC Legend:" or an entry, "X = Self".
bool is_legend(const Words& words) {
  return words.front() == "LEGEND:" ||
         (words.size() > 1 && (words[1] == "LEGEND:" || words[1] == "="));
}

class TablesReader {
 public:
  explicit TablesReader(const std::string& file) : file_{file} {}

  std::vector<Table> read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      ++line_;
      const Words words = words_of(plain(line));
      if (words.empty()) continue;
      if (is_header(words))
        begin(words);
      else if (is_legend(words))
        in_legend_ = true;
      else if (!tables_.empty() && (!in_legend_ || gpu_number(words.front())))
        add_row(words);
    }
    if (tables_.empty())
      fail(1, missing("line with GPU0, GPU1, ...", "the output of 'nvidia-smi topo -m'"));
    finish();
    return std::move(tables_);
  }

 private:
  [[noreturn]] void fail(size_t line, const InputError& error) const {
    throw error.at(file_, line);
  }

  Table& table() { return tables_.back(); }

  void begin(Words words) {
    finish();
    constexpr size_t most_columns = 8 * most_gpus;
    if (words.size() > most_columns)
      fail(line_, {"words in a header", std::to_string(words.size()), "",
                   fmt::format("at most {}", most_columns)});
    in_legend_ = false;
    tables_.push_back({line_});
    for (const std::string_view name : {"GPU NUMA ID", "NUMA AFFINITY", "CPU AFFINITY"}) {
      const Words parts = words_of(name);
      if (words.size() < parts.size() ||
          !std::equal(parts.rbegin(), parts.rend(), words.rbegin()))
        continue;
      words.resize(words.size() - parts.size());
      table().behind.emplace(table().behind.begin(), name);
    }
    for (const std::string& word : words) add_column(word);
  }

  void add_column(const std::string& word) {
    constexpr std::array<std::string_view, 5> parts{"CPU", "NUMA", "GPU", "AFFINITY",
                                                    "ID"};
    const auto device = gpu_number(word);
    const bool is_bad_gpu =
        word.starts_with("GPU") && !word.starts_with("GPU-") && !device;
    if (contains(parts, word) || is_bad_gpu)
      fail(line_,
           {"column", word, "is unknown",
            "GPUs and network cards, then CPU Affinity, NUMA Affinity and GPU NUMA ID"});
    if (device) {
      if (contains(table().devices, *device))
        fail(line_, {"", word, "appears twice", "different GPUs"});
      if (table().devices.size() == most_gpus)
        fail(line_, fault_of("", fmt::format("more than {} GPUs", most_gpus), "fewer"));
      table().devices.push_back(*device);
      table().gpu_columns.push_back(table().columns.size());
    }
    table().columns.push_back(word);
  }

  /// Ignores rows of network cards, which repeat their columns, and other text after the
  /// last row.
  void add_row(const Words& words) {
    const auto device = gpu_number(words.front());
    if (!device && table().is_complete() && std::ranges::none_of(words, is_cell)) return;
    if (!device && contains(table().columns, words.front())) return;
    if (!device || !contains(table().devices, *device))
      fail(line_,
           {"row", words.front(), "is unknown",
            fmt::format("rows of the GPUs and network cards of the header in line {}",
                        table().line)});
    const size_t columns = table().columns.size();
    if (words.size() <= columns)
      fail(line_, {"cells", std::to_string(words.size() - 1), "",
                   fmt::format("{}, one for each column", columns)});
    const auto behind = words.begin() + ptrdiff_t(1 + columns);
    const Table::Row row{
        line_, {words.begin() + 1, behind}, texts_behind({behind, words.end()})};
    if (!table().rows.emplace(*device, row).second)
      fail(line_, {"row", words.front(), "appears twice", "one for each GPU"});
  }

  /// Returns one text per column after the cells. For unknown values, drivers leave all
  /// columns empty, or all but the last.
  Words texts_behind(Words texts) {
    const size_t expected = table().behind.size();
    if (texts.empty() ||
        (texts == Words{"N/A"} && expected > 0 && table().behind.back() == "GPU NUMA ID"))
      texts.insert(texts.begin(), expected - texts.size(), "");
    if (texts.size() != expected || std::ranges::any_of(texts, is_relation))
      fail(line_,
           fault_of("",
                    fmt::format(
                        "header and row differ in their number of columns: {} behind the "
                        "{} of GPUs and network cards, {} in the header in line {}",
                        texts.size(), table().columns.size(), expected, table().line),
                    "as many"));
    return texts;
  }

  /// Checks that all cells of a table belong to one command.
  void finish() {
    if (tables_.empty()) return;
    if (!table().is_complete())
      fail(table().line,
           fault_of("",
                    fmt::format("{} GPUs in the header, {} rows of them",
                                table().devices.size(), table().rows.size()),
                    "as many"));
    const auto& rows = table().rows;
    table().of_peer_access =
        std::ranges::any_of(rows.begin()->second.cells, is_peer_state) ||
        (tables_.size() > 1 && rows.size() == 1 && table().behind.empty());
    for (const auto& [device, row] : rows)
      for (const std::string& cell : row.cells)
        if (table().of_peer_access ? cell != "X" && !is_peer_state(cell)
                                   : !is_relation(cell))
          fail(row.line,
               {"cell", cell, "is unknown",
                fmt::format("X, NV1 to NV{}, PIX, PXB, PHB, NODE or SYS, or, of 'topo "
                            "-p2p', {}",
                            most_nvlinks, fmt::join(peer_states, ", "))});
  }

  const std::string& file_;
  size_t line_ = 0;
  bool in_legend_ = false;
  std::vector<Table> tables_;
};

/// Builds the matrix from the tables of a file.
class MatrixReader {
 public:
  explicit MatrixReader(const std::string& file) : file_{file} {}

  SmiMatrix read(const std::vector<Table>& tables) {
    const auto table = std::ranges::find(tables, false, &Table::of_peer_access);
    if (table == tables.end())
      fail(tables.front().line,
           fault_of("",
                    "this is the output of 'nvidia-smi topo -p2p', a file of peer access",
                    "the output of 'nvidia-smi topo -m'"));
    matrix_.devices = table->devices;
    matrix_.cells = cells_of_gpus(*table);
    check_pairs(*table);
    for (const int device : table->devices) add_row(*table, table->rows.at(device));
    for (const Table& other : tables) {
      if (other.of_peer_access)
        add_access(other);
      else if (&other != &*table)
        fail(other.line,
             fault_of("",
                      fmt::format("another matrix than the one in line {}", table->line),
                      "the output of one machine"));
    }
    return std::move(matrix_);
  }

 private:
  [[noreturn]] void fail(size_t line, const InputError& error) const {
    throw error.at(file_, line);
  }

  /// Checks that exactly the diagonal is X.
  std::vector<Words> cells_of_gpus(const Table& table) const {
    std::vector<Words> cells;
    for (const int device : table.devices) {
      const Table::Row& row = table.rows.at(device);
      cells.emplace_back();
      for (const auto i : indices(table.devices)) {
        const std::string& cell = row.cells[table.gpu_columns[i]];
        if ((cell == "X") != (table.devices[i] == device))
          fail(row.line, {fmt::format("GPU{} to GPU{}", device, table.devices[i]), cell,
                          "", "X from a GPU to itself and nowhere else"});
        cells.back().push_back(cell);
      }
    }
    return cells;
  }

  /// Checks that both directions of a pair have the same cell.
  void check_pairs(const Table& table) const {
    const auto& devices = matrix_.devices;
    const auto& cells = matrix_.cells;
    for (const auto j : indices(cells))
      for (size_t i = 0; i < j; ++i)
        if (cells[i][j] != cells[j][i])
          fail(table.rows.at(devices[j]).line,
               {fmt::format("GPU{} to GPU{}", devices[j], devices[i]), cells[j][i],
                fmt::format("differs from {} of the other direction",
                            in_quotes(cells[i][j])),
                "the same"});
  }

  void add_access(const Table& table) {
    if (!std::ranges::is_permutation(table.devices, matrix_.devices))
      fail(table.line,
           fault_of("", "the GPUs of 'topo -p2p' differ from the GPUs of 'topo -m'",
                    "the same GPUs"));
    const auto cells = cells_of_gpus(table);
    for (const auto i : indices(cells))
      for (const auto j : indices(cells))
        if (i != j && cells[i][j] != "OK")
          matrix_.denied.insert(std::minmax(table.devices[i], table.devices[j]));
  }

  void add_row(const Table& table, const Table::Row& row) {
    matrix_.lines.push_back(row.line);
    matrix_.cpus.push_back(list_of(table, row, "CPU AFFINITY"));
    matrix_.domains.push_back(list_of(table, row, "NUMA AFFINITY"));
    const auto own = text_of(table, row, "GPU NUMA ID");
    matrix_.own_domains.push_back(own ? whole_number(*own, 0, assumptions::last_domain)
                                      : std::nullopt);
    if (own && !matrix_.own_domains.back())
      fail(row.line, {"GPU NUMA ID", *own, "",
                      fmt::format("0 to {}, or N/A", assumptions::last_domain)});
    matrix_.cards.emplace_back();
    for (const auto column : indices(table.columns))
      if (!contains(table.gpu_columns, column))
        matrix_.cards.back().push_back(row.cells[column]);
  }

  static std::optional<std::string> text_of(const Table& table, const Table::Row& row,
                                            std::string_view name) {
    const auto column =
        size_t(std::ranges::find(table.behind, name) - table.behind.begin());
    if (column == table.behind.size() || row.behind[column].empty() ||
        row.behind[column] == "N/A")
      return std::nullopt;
    return row.behind[column];
  }

  /// Numbers and ranges: "0-23,48-71".
  std::optional<std::string> list_of(const Table& table, const Table::Row& row,
                                     std::string_view name) const {
    static const std::regex list{"[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*"};
    auto text = text_of(table, row, name);
    if (text && !std::regex_match(*text, list))
      fail(row.line, {name, *text, "", "numbers such as 0-23,48-71, or N/A"});
    return text;
  }

  const std::string& file_;
  SmiMatrix matrix_;
};

}  // namespace

SmiMatrix read_smi_matrix(std::string_view text, const std::string& file) {
  return MatrixReader{file}.read(TablesReader{file}.read(text));
}

}  // namespace tilerail
