#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/machine_builder.hpp"

namespace tilerail {
namespace {

constexpr std::size_t most_gpus = 128;
constexpr int most_nvlinks = 18;  // of one GPU; more to all others than these can only be those to a switch
const std::string told = "topo -m", assumed = "assumed rates";

/// Without the escapes that underline the header.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b')
      text += line[i] == '\t' || line[i] == '\r' ? ' ' : line[i];
    else
      while (i < line.size() && line[i] != 'm') ++i;
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

/// The relations between GPUs, as nvidia-smi shortens them, and what follows them in a row: where its CPUs are.
struct Matrix {
  std::vector<int> devices;
  std::vector<std::vector<std::string>> cells;  // [row][column], of GPUs
  std::vector<std::string> affinities;          // by row
};

class MatrixReader {
 public:
  MatrixReader(std::string_view text, const std::string& file) : lines_{split(text, '\n')}, file_{file} {}

  Matrix read() {
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
        if (word == "CPU") break;
        if (is_gpu(word)) matrix_.devices.push_back(std::stoi(word.substr(3))), columns_gpu_.push_back(columns_);
        ++columns_;
      }
      if (matrix_.devices.size() > most_gpus)
        fail(header_ + 1, fmt::format("{} GPUs; expected at most {}", matrix_.devices.size(), most_gpus));
      return;
    }
    fail(1, "there is no line with GPU0, GPU1, ...; expected the output of 'nvidia-smi topo -m'");
  }

  void add_row(const std::vector<std::string>& words, std::size_t line) {
    const std::size_t row = matrix_.cells.size();
    const std::string& name = words.front();
    if (row >= matrix_.devices.size() || name != fmt::format("GPU{}", matrix_.devices[row]))
      fail(line, fmt::format("a row of {}; expected the rows in the order of the columns", in_quotes(name)));
    if (words.size() < 1 + columns_)
      fail(line, fmt::format("{} cells; expected {}, one for each column", words.size() - 1, columns_));
    matrix_.cells.emplace_back();
    for (const std::size_t column : columns_gpu_) {
      const std::string& cell = words[1 + column];
      check(cell, line);
      matrix_.cells.back().push_back(cell);
    }
    std::string affinity;
    for (std::size_t i = 1 + columns_; i < words.size() && i < 3 + columns_; ++i) affinity += words[i] + " ";
    matrix_.affinities.push_back(affinity);
  }

  void check(const std::string& cell, std::size_t line) const {
    for (const char* known : {"X", "PIX", "PXB", "PHB", "NODE", "SYS"})
      if (cell == known) return;
    if (cell.starts_with("NV") && cell.size() > 2 && cell.size() < 5 &&
        std::all_of(cell.begin() + 2, cell.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return;
    fail(line, fmt::format("the cell {} is unknown; expected X, NV#, PIX, PXB, PHB, NODE or SYS", in_quotes(cell)));
  }

  std::vector<std::string_view> lines_;
  const std::string& file_;
  std::size_t header_ = 0, columns_ = 0;
  std::vector<std::size_t> columns_gpu_;
  Matrix matrix_;
};

int nvlinks(const std::string& cell) { return cell.starts_with("NV") ? std::stoi(cell.substr(2)) : 0; }

/// By GPU: the first GPU that is behind the same PCIe switch.
std::vector<std::size_t> behind_one_switch(const Matrix& matrix) {
  std::vector<std::size_t> first(matrix.devices.size());
  std::iota(first.begin(), first.end(), 0U);
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (matrix.cells[i][j] == "PIX" || matrix.cells[i][j] == "PXB") {
        first[i] = first[j];
        break;
      }
  return first;
}

void add_nvlinks(MachineBuilder& machine, const Matrix& matrix, const std::vector<NodeId>& gpus, Rate each) {
  constexpr Seconds latency{1.3e-6};
  int least = most_nvlinks + 1, most = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = 0; j < gpus.size(); ++j) {
      if (i == j) continue;
      least = std::min(least, nvlinks(matrix.cells[i][j]));
      most = std::max(most, nvlinks(matrix.cells[i][j]));
    }
  if (most == 0) return;
  if (least == most && most * static_cast<int>(gpus.size() - 1) > most_nvlinks) {
    const NodeId nvsw = machine.add_switch("nvsw", told);
    for (const NodeId gpu : gpus) machine.join(gpu, nvsw, each * most, latency, assumed);
    return;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (std::size_t j = 0; j < gpus.size(); ++j)
      if (i != j && nvlinks(matrix.cells[i][j]) > 0)
        machine.link(gpus[i], gpus[j], each * nvlinks(matrix.cells[i][j]), latency * 2, assumed);
}

}  // namespace

Topology::Description import_nvidia_smi(std::string_view text, const std::string& file, const GpuKind& kind,
                                        const ImportRates& rates) {
  const Matrix matrix = MatrixReader{text, file}.read();
  MachineBuilder machine{"nvidia-smi", fmt::format("{} GPUs as 'nvidia-smi topo -m' shows them", matrix.devices.size()),
                         kind};
  machine.source(told, Source::Kind::measured, "nvidia-smi topo -m: which GPUs there are, and what joins them");
  machine.source(
      assumed, Source::Kind::assumed,
      "nvidia-smi topo -m tells no rates, latencies and host memories; NVLinks of a kind that adds up to more "
      "than a GPU has lead to a switch");
  std::map<std::string, NodeId> domains, switches;
  std::vector<NodeId> sockets, gpus;
  for (const std::string& affinity : matrix.affinities)
    if (!domains.contains(affinity)) {
      sockets.push_back(machine.add_domain(std::to_string(domains.size()), rates.host_memory, assumed));
      domains.emplace(affinity, sockets.back());
    }
  machine.join_all(sockets, rates.sockets, Seconds{1e-6}, assumed);
  const auto first = behind_one_switch(matrix);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const NodeId socket = domains.at(matrix.affinities[i]);
    NodeId parent = socket;
    if (std::ranges::count(first, first[i]) > 1) {
      const std::string name = fmt::format("plx{}", first[i]);
      if (!switches.contains(name)) {
        switches.emplace(name, machine.add_switch(name, told));
        machine.join(socket, switches.at(name), rates.pcie, Seconds{0.5e-6}, assumed);
      }
      parent = switches.at(name);
    }
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", matrix.devices[i]), matrix.devices[i], told));
    machine.join(parent, gpus.back(), rates.pcie, Seconds{2e-6}, assumed);
  }
  add_nvlinks(machine, matrix, gpus, rates.nvlink);
  return machine.description();
}

}  // namespace tilerail
