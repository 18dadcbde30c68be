#include "model/import/smi_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/link_values.hpp"

namespace tilerail {
namespace {

using assumptions::most_gpus, assumptions::most_nvlinks;

/// Without the escapes that underline the header, also where the escape character itself was lost on the way ("[4m").
std::string plain(std::string_view line) {
  constexpr std::string_view mark = "\xef\xbb\xbf";  // of UTF-8, by some editors
  if (line.starts_with(mark)) line.remove_prefix(mark.size());
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b')
      while (i < line.size() && line[i] != 'm') ++i;
    else if (const auto rest = line.substr(i); rest.starts_with("[4m") || rest.starts_with("[0m"))
      i += 2;
    else
      text += line[i] == '\t' || line[i] == '\r' ? ' ' : line[i];
  }
  return text;
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{plain(line)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool is_gpu(const std::string& word) {
  return word.starts_with("GPU") && word.size() > 3 && word.size() < 8 &&
         std::all_of(word.begin() + 3, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class MatrixReader {
 public:
  MatrixReader(std::string_view text, const std::string& file) : lines_{split(text, '\n')}, file_{file} {}

  SmiMatrix read() {
    find_header();
    for (std::size_t i = header_ + 1; i < lines_.size(); ++i) {
      const auto words = words_of(lines_[i]);
      if (words.empty() || !is_gpu(words.front())) continue;
      add_row(words, i + 1);
    }
    if (matrix_.cells.size() != matrix_.devices.size())
      fail(header_ + 1, fmt::format("{} GPUs in the header, {} rows of them; expected as many", matrix_.devices.size(),
                                    matrix_.cells.size()));
    return matrix_;
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& message) const {
    throw InputError{fmt::format("{}:{}: {}", file_, line, message)};
  }

  void find_header() {
    for (header_ = 0; header_ < lines_.size(); ++header_) {
      const auto words = words_of(lines_[header_]);
      if (words.empty() || !is_gpu(words.front())) continue;
      for (const std::string& word : words) {
        if (word == "CPU" || word == "NUMA" || word == "GPU") break;  // Affinity, Affinity, NUMA ID
        if (is_gpu(word)) add_device(word);
        ++columns_;
      }
      has_gpu_domains_ = words.size() > 2 && words.back() == "ID" && words[words.size() - 3] == "GPU";
      if (matrix_.devices.size() > most_gpus)
        fail(header_ + 1, fmt::format("{} GPUs; expected at most {}", matrix_.devices.size(), most_gpus));
      return;
    }
    fail(1, "there is no line with GPU0, GPU1, ...; expected the output of 'nvidia-smi topo -m'");
  }

  void add_device(const std::string& name) {
    const int device = std::stoi(name.substr(3));
    if (std::ranges::find(matrix_.devices, device) != matrix_.devices.end())
      fail(header_ + 1, fmt::format("{} is there twice; expected different GPUs", in_quotes(name)));
    matrix_.devices.push_back(device);
    columns_gpu_.push_back(columns_);
  }

  void add_row(const std::vector<std::string>& words, std::size_t line) {
    const std::size_t row = matrix_.cells.size();
    const std::string& name = words.front();
    if (row >= matrix_.devices.size() || name != fmt::format("GPU{}", matrix_.devices[row]))
      fail(line, fmt::format("a row of {}; expected the rows in the order of the columns", in_quotes(name)));
    if (words.size() < 1 + columns_)
      fail(line, fmt::format("{} cells; expected {}, one for each column", words.size() - 1, columns_));
    matrix_.cells.emplace_back(), matrix_.cards.emplace_back();
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::string& cell = words[1 + column];
      check(cell, line);
      const bool of_gpu = std::ranges::binary_search(columns_gpu_, column);
      (of_gpu ? matrix_.cells : matrix_.cards).back().push_back(cell);
    }
    check_pairs(row, line);
    add_domains({words.begin() + static_cast<std::ptrdiff_t>(1 + columns_), words.end()});
  }

  /// What stands behind the cells: affinities, and the number of the GPU's own domain, N/A for most.
  void add_domains(std::vector<std::string> words) {
    const bool of_gpu = has_gpu_domains_ && !words.empty();
    matrix_.coherent.push_back(of_gpu && words.back().find_first_not_of("0123456789") == std::string::npos);
    if (of_gpu) words.pop_back();
    std::string affinity;
    for (std::size_t i = 0; i < words.size() && i < 2; ++i) affinity += words[i] + " ";
    matrix_.affinities.push_back(affinity);
  }

  /// Of the last row: only a GPU and itself are X, and what rows before say of a pair holds in both directions.
  void check_pairs(std::size_t row, std::size_t line) const {
    const auto& cells = matrix_.cells;
    const auto name = [&](std::size_t gpu) { return fmt::format("GPU{}", matrix_.devices[gpu]); };
    for (std::size_t i = 0; i < cells[row].size(); ++i) {
      const std::string& cell = cells[row][i];
      if ((cell == "X") != (i == row))
        fail(line, fmt::format("{} to {} is {}; expected X from a GPU to itself and nowhere else", name(row), name(i),
                               in_quotes(cell)));
      if (i < row && cells[i][row] != cell)
        fail(line, fmt::format("{} to {} is {}, and {} to {} is {}; expected the same", name(row), name(i),
                               in_quotes(cell), name(i), name(row), in_quotes(cells[i][row])));
    }
  }

  void check(const std::string& cell, std::size_t line) const {
    for (const char* known : {"X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"})  // SOC: SYS of old drivers
      if (cell == known) return;
    if (cell.starts_with("NV") && whole_number(std::string_view{cell}.substr(2), 1, most_nvlinks)) return;
    fail(line, fmt::format("the cell {} is unknown; expected X, NV1 to NV{}, PIX, PXB, PHB, NODE or SYS",
                           in_quotes(cell), most_nvlinks));
  }

  std::vector<std::string_view> lines_;
  const std::string& file_;
  std::size_t header_ = 0, columns_ = 0;
  bool has_gpu_domains_ = false;  // the last column, "GPU NUMA ID"
  std::vector<std::size_t> columns_gpu_;
  SmiMatrix matrix_;
};

}  // namespace

SmiMatrix read_smi_matrix(std::string_view text, const std::string& file) { return MatrixReader{text, file}.read(); }

}  // namespace tilerail
