#include "model/import/smi_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/link_values.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::most_gpus, assumptions::most_nvlinks;

constexpr std::array<std::string_view, 7> relations{"X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};
constexpr std::array<std::string_view, 7> peer_states{"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};

bool contains(const auto& values, const auto& value) { return std::ranges::find(values, value) != values.end(); }

/// Without the escapes that underline the header, also where the escape character itself was lost on the way ("[4m"),
/// and in capitals.
std::string plain(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b')
      while (i < line.size() && line[i] != 'm') ++i;
    else if (const auto rest = line.substr(i); rest.starts_with("[4m") || rest.starts_with("[0m"))
      i += 2;
    else
      text += line[i] == '\r' ? ' ' : char(std::toupper(static_cast<unsigned char>(line[i])));
  }
  return text;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (const std::string_view field : split(line, '\t')) fields.push_back(trimmed(field));
  return fields;
}

std::optional<int> gpu_number(std::string_view word) {
  constexpr int most_number = 9999;
  return word.starts_with("GPU") && word.size() > 3 && word[3] != '-' ? whole_number(word.substr(3), 0, most_number)
                                                                      : std::nullopt;
}

bool is_cell(const std::string& word) { return is_relation(word) || is_peer_state(word); }

/// GPUs, no cells.
bool is_header(const std::vector<std::string>& words) {
  return !words.empty() && gpu_number(words.front()) && std::ranges::none_of(words, is_cell);
}

/// "Legend:", "NIC Legend:", or a line of it, "X = Self".
bool is_legend(const std::vector<std::string>& words) {
  return words.front() == "LEGEND:" || (words.size() > 1 && (words[1] == "LEGEND:" || words[1] == "="));
}

class TablesReader {
 public:
  TablesReader(std::string_view text, const std::string& file) : lines_{lines_of(text)}, file_{file} {}

  std::vector<SmiTable> read() {
    for (line_ = 1; line_ <= lines_.size(); ++line_) {
      const std::string line = plain(lines_[line_ - 1]);
      const auto words = words_of(line);
      if (words.empty()) continue;
      if (is_header(words))
        begin(words);
      else if (is_legend(words))
        in_legend_ = true;
      else if (!tables_.empty() && (!in_legend_ || gpu_number(words.front())))
        add_line(words, line);
    }
    if (tables_.empty()) fail(1, "there is no line with GPU0, GPU1, ...; expected the output of 'nvidia-smi topo -m'");
    finish();
    return std::move(tables_);
  }

 private:
  [[noreturn]] void fail(size_t line, const std::string& message) const { throw InputError{message}.at(file_, line); }

  bool is_complete() const { return tables_.back().rows.size() == tables_.back().devices.size(); }

  /// A header again, with rows missing yet, is that of the same table.
  void begin(const std::vector<std::string>& words) {
    if (!tables_.empty() && !is_complete() && words == header_) return;
    finish();
    constexpr size_t most_tables = 8, most_columns = 8 * most_gpus;
    if (tables_.size() >= most_tables)
      fail(line_, fmt::format("more than {} different tables; expected those of one machine", most_tables));
    if (words.size() > most_columns)
      fail(line_, fmt::format("{} words in a header; expected at most {}", words.size(), most_columns));
    header_ = words;
    in_legend_ = false;
    tables_.emplace_back().line = line_;
    for (size_t i = 0; i < words.size();) i += add_column(words, i);
    if (table().devices.size() > most_gpus)
      fail(line_, fmt::format("{} GPUs; expected at most {}", table().devices.size(), most_gpus));
  }

  SmiTable& table() { return tables_.back(); }

  /// Returns how many words the name of the column has.
  size_t add_column(const std::vector<std::string>& words, size_t i) {
    constexpr std::array<std::string_view, 3> names{"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"};
    for (const std::string_view name : names) {
      const auto expected = words_of(plain(name));
      if (words.size() - i < expected.size() ||
          !std::equal(expected.begin(), expected.end(), words.begin() + ptrdiff_t(i)))
        continue;
      if (contains(table().behind, name)) fail(line_, fmt::format("the column {} is there twice", in_quotes(name)));
      table().behind.emplace_back(name);
      return expected.size();
    }
    const std::string& word = words[i];
    constexpr std::array<std::string_view, 5> parts{"CPU", "NUMA", "GPU", "AFFINITY", "ID"};
    const bool is_bad_gpu = word.starts_with("GPU") && word.size() > 3 && word[3] != '-' && !gpu_number(word);
    if (!table().behind.empty() || contains(parts, word) || is_bad_gpu)
      fail(line_, fmt::format("the column {} is unknown; expected GPUs and network cards, then CPU Affinity, NUMA "
                              "Affinity and GPU NUMA ID",
                              in_quotes(word)));
    if (contains(table().columns, word))
      fail(line_, fmt::format("{} is there twice; expected different columns", in_quotes(word)));
    if (const auto device = gpu_number(word)) {
      if (contains(table().devices, *device))
        fail(line_, fmt::format("{} is there twice; expected different GPUs", in_quotes(word)));
      table().devices.push_back(*device);
      table().gpu_columns.push_back(table().columns.size());
    }
    table().columns.push_back(word);
    return 1;
  }

  /// Rows of network cards repeat what their columns say. After the last row there may be other text.
  void add_line(const std::vector<std::string>& words, const std::string& line) {
    const auto device = gpu_number(words.front());
    if (!device && contains(table().columns, words.front())) return;
    if (!device && is_complete() && std::ranges::none_of(words, is_cell)) return;
    if (!device || !contains(table().devices, *device))
      fail(line_, fmt::format("the row {} is unknown; expected rows of the GPUs and network cards of the header in "
                              "line {}",
                              in_quotes(words.front()), table().line));
    if (std::ranges::any_of(table().rows, [&](const SmiTable::Row& row) { return row.words.front() == words.front(); }))
      fail(line_, fmt::format("another row of {}; expected one for each GPU", in_quotes(words.front())));
    if (words.size() < 1 + table().columns.size())
      fail(line_, fmt::format("{} cells; expected {}, one for each column", words.size() - 1, table().columns.size()));
    table().rows.push_back({line_, words, fields_of(line)});
  }

  /// In the order of the header; the cells are those of one command.
  void finish() {
    if (tables_.empty()) return;
    if (!is_complete())
      fail(table().line, fmt::format("{} GPUs in the header, {} rows of them; expected as many", table().devices.size(),
                                     table().rows.size()));
    std::ranges::sort(table().rows, {}, [&](const SmiTable::Row& row) {
      return std::ranges::find(table().devices, *gpu_number(row.words.front()));
    });
    const auto cells = [&](const SmiTable::Row& row) {
      return std::span{row.words}.subspan(1, table().columns.size());
    };
    const SmiTable::Row& first = table().rows.front();
    table().of_peer_access = std::ranges::any_of(cells(first), is_peer_state) ||
                             (tables_.size() > 1 && table().devices.size() == 1 && table().behind.empty());
    for (const SmiTable::Row& row : table().rows)
      for (const std::string& cell : cells(row))
        if (table().of_peer_access ? cell != "X" && !is_peer_state(cell) : !is_relation(cell)) unknown(cell, row.line);
    const auto same = [&](const SmiTable& other) {
      return other.devices == table().devices && other.columns == table().columns &&
             std::ranges::equal(other.rows, table().rows, {}, &SmiTable::Row::words, &SmiTable::Row::words);
    };
    if (std::any_of(tables_.begin(), tables_.end() - 1, same)) tables_.pop_back();
  }

  [[noreturn]] void unknown(const std::string& cell, size_t line) {
    if (table().of_peer_access)
      fail(line, fmt::format("the state {} is unknown; expected X, {}", in_quotes(cell), fmt::join(peer_states, ", ")));
    fail(line, fmt::format("the cell {} is unknown; expected X, NV1 to NV{}, PIX, PXB, PHB, NODE or SYS",
                           in_quotes(cell), most_nvlinks));
  }

  std::vector<std::string_view> lines_;
  const std::string& file_;
  size_t line_ = 0;
  std::vector<std::string> header_;
  bool in_legend_ = false;
  std::vector<SmiTable> tables_;
};

}  // namespace

bool is_relation(std::string_view cell) {
  return contains(relations, cell) || (cell.starts_with("NV") && whole_number(cell.substr(2), 1, most_nvlinks));
}

bool is_peer_state(std::string_view cell) { return contains(peer_states, cell); }

std::vector<SmiTable> read_smi_tables(std::string_view text, const std::string& file) {
  return TablesReader{text, file}.read();
}

}  // namespace tilerail
