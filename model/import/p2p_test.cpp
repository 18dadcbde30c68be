#include <fmt/format.h>

#include <map>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/measured_links.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::most_gpus;
const std::string p2p_source = "p2pBandwidthLatencyTest";

/// One row of numbers per GPU.
struct Matrix {
  size_t line = 0;  // of the row "D\D 0 1 ..." with the GPU numbers
  std::vector<std::vector<double>> numbers = {};
};

/// The matrices of a text by title: a line that contains "Matrix". Latencies have two
/// matrices, "GPU" and "CPU"; the name of the second ends in "of CPU".
class Matrices {
 public:
  Matrices(std::string_view text, const std::string& file) : file_{file} {
    for (const std::string_view line : lines_of(text)) {
      ++line_;
      words_ = words_of(line);
      if (!words_.empty()) take(trimmed(line));
    }
    if (all_.empty())
      throw missing("line with the title of a matrix",
                    "the output of p2pBandwidthLatencyTest")
          .at(file, 1);
    for (const auto& [title, matrix] : all_)
      if (matrix.numbers.size() != gpus_)
        fail(matrix.line, {"rows", fmt::to_string(matrix.numbers.size()), "",
                           fmt::format("{}, one for each GPU", gpus_)});
  }

  size_t gpus() const { return gpus_; }

  /// Whether a GPU can access another one: from the matrix or, in old versions, from the
  /// line "Device=0 CAN Access Peer Device=1".
  bool access(size_t from, size_t to) const {
    if (const Matrix* matrix = find("P2P Connectivity Matrix"))
      return matrix->numbers[from][to] != 0;
    const auto said = access_.find({int(from), int(to)});
    if (said == access_.end())
      throw missing(fmt::format("line 'Device={} CAN Access Peer Device={}'", from, to),
                    "one")
          .at(file_);
    return said->second;
  }

  const Matrix* find(const std::string& title) const {
    const auto known = all_.find(title);
    return known == all_.end() ? nullptr : &known->second;
  }

  [[noreturn]] void fail(size_t line, const InputError& error) const {
    throw error.at(file_, line);
  }

 private:
  void take(const std::string& line) {
    if (words_.size() == 5 && words_[2] == "Access" &&
        (words_[1] == "CAN" || words_[1] == "CANNOT")) {
      access_[{device_of(words_[0]), device_of(words_[4])}] = words_[1] == "CAN";
    } else if (line.find("Matrix") != std::string::npos) {
      title_ = line;
      matrix_ = nullptr;
    } else if (!title_.empty() &&
               (words_[0] == "D\\D" || words_[0] == "GPU" || words_[0] == "CPU")) {
      begin();
    } else if (matrix_ != nullptr && whole_number(words_[0], 0, most_gpus)) {
      add_row();
    } else {
      matrix_ = nullptr;
    }
  }

  int device_of(std::string_view word) const {
    constexpr std::string_view begin = "Device=";
    const auto device = word.starts_with(begin)
                            ? whole_number(word.substr(begin.size()), 0, most_gpus)
                            : std::nullopt;
    if (!device)
      fail(line_, {"", word, "", "such as 'Device=0 CAN Access Peer Device=1'"});
    return *device;
  }

  void begin() {
    const size_t gpus = words_.size() - 1;
    for (size_t i = 0; i < gpus; ++i)
      if (words_[i + 1] != std::to_string(i))
        fail(line_, {"column", words_[i + 1], "", std::to_string(i)});
    const std::string count = std::to_string(gpus);
    if (gpus == 0 || gpus > most_gpus)
      fail(line_, {"GPUs", count, "", fmt::format("1 to {}", most_gpus)});
    if (gpus_ == 0) gpus_ = gpus;
    if (gpus != gpus_)
      fail(line_, {"GPUs", count, "", fmt::format("{}, as before", gpus_)});
    const std::string name = words_[0] == "CPU" ? title_ + " of CPU" : title_;
    const auto [known, fresh] = all_.try_emplace(name, Matrix{line_});
    if (!fresh) fail(line_, {"", name, "appears twice", "the output of one run"});
    matrix_ = &known->second;
  }

  void add_row() {
    if (words_.size() != gpus_ + 1)
      fail(line_,
           {"cells", std::to_string(words_.size() - 1), "", std::to_string(gpus_)});
    if (const std::string row = std::to_string(matrix_->numbers.size()); words_[0] != row)
      fail(line_, {"row", words_[0], "", row});
    auto& row = matrix_->numbers.emplace_back();
    for (size_t i = 1; i < words_.size(); ++i) {
      const auto value = finite_number(words_[i]);
      if (!value) fail(line_, {"", words_[i], "", "a number"});
      row.push_back(*value);
    }
  }

  const std::string& file_;
  size_t line_ = 0, gpus_ = 0;
  std::vector<std::string> words_;
  std::string title_;
  Matrix* matrix_ = nullptr;
  std::map<std::string, Matrix> all_;
  std::map<std::pair<int, int>, bool> access_;  // from and to
};

/// A matrix, and whether its rows are the sources of copies.
struct DirectedMatrix {
  const Matrix* matrix;
  bool from_row;
};

/// New versions state the direction in the title; old versions copy from the column to
/// the row.
DirectedMatrix find_directed(const Matrices& matrices, const std::string& begin,
                             const std::string& end) {
  if (const auto* writes = matrices.find(begin + "(P2P Writes) " + end))
    return {writes, true};
  if (const auto* reads = matrices.find(begin + "(P2P Reads) " + end))
    return {reads, false};
  return {matrices.find(begin + end), false};
}

/// Values from each GPU to each accessible GPU; empty without a matrix.
template <class Quantity>
std::vector<std::vector<std::optional<Quantity>>> of_peers(const Matrices& matrices,
                                                           const DirectedMatrix& directed,
                                                           double unit,
                                                           const Range<Quantity>& range) {
  if (directed.matrix == nullptr) return {};
  const size_t gpus = matrices.gpus();
  std::vector<std::vector<std::optional<Quantity>>> result(
      gpus, std::vector<std::optional<Quantity>>(gpus));
  for (size_t i = 0; i < gpus; ++i)
    for (size_t j = 0; j < gpus; ++j) {
      if (i == j || !matrices.access(i, j) || !matrices.access(j, i)) continue;
      const size_t row = directed.from_row ? i : j, column = directed.from_row ? j : i;
      const Quantity value{directed.matrix->numbers[row][column] * unit};
      if (!range.holds(value))
        matrices.fail(directed.matrix->line + 1 + row,
                      out_of_range("", to_text(value), range.text));
      result[i][j] = value;
    }
  return result;
}

PeerRates peers_of(const Matrices& matrices, const std::string& file) {
  const std::string rates = "Matrix (GB/s)";
  const DirectedMatrix one =
      find_directed(matrices, "Unidirectional P2P=Enabled Bandwidth ", rates);
  if (one.matrix == nullptr)
    throw missing("Unidirectional P2P=Enabled", "the output of p2pBandwidthLatencyTest")
        .at(file);
  const DirectedMatrix both{matrices.find("Bidirectional P2P=Enabled Bandwidth " + rates),
                            true};
  PeerRates peers{of_peers(matrices, one, 1e9, TopologyLimits::rate)};
  peers.both = of_peers(matrices, both, 1e9, TopologyLimits::rate);
  const DirectedMatrix times =
      find_directed(matrices, "P2P=Enabled Latency ", "Matrix (us)");
  peers.latency = of_peers(matrices, times, 1e-6, TopologyLimits::latency);
  return peers;
}

/// All GPUs share the host's memory.
HostLinks add_host_links(MachineBuilder& machine, const std::vector<VertexId>& gpus,
                         const ImportRates& rates) {
  const VertexId socket = machine.add_domain("", rates.host(false), assumed_source);
  HostLinks links;
  links.over_switch = true;
  links.in_rate.assign(gpus.size(), rates.pcie);
  links.out_rate.assign(gpus.size(), rates.pcie);
  for (const VertexId gpu : gpus) {
    links.in.push_back(
        machine.link(socket, gpu, rates.pcie, assumptions::gpu_latency, assumed_source));
    links.out.push_back(
        machine.link(gpu, socket, rates.pcie, assumptions::gpu_latency, assumed_source));
  }
  return links;
}

}  // namespace

Topology::Description import_p2p_test(std::string_view text, const std::string& file,
                                      const GpuKind& kind, const ImportRates& rates) {
  const Matrices matrices{text, file};
  MachineBuilder machine{
      "p2p",
      fmt::format("{} GPUs as p2pBandwidthLatencyTest measured them", matrices.gpus()),
      kind};
  machine.source(p2p_source, Source::Kind::measured,
                 "p2pBandwidthLatencyTest: peer access, rates and latencies between GPUs "
                 "with it; rates without it, of "
                 "the memory of a GPU and of the CPU's calls are not used");
  machine.source(assumed_source, Source::Kind::assumed,
                 "p2pBandwidthLatencyTest does not measure the host: its memory and "
                 "PCIe; GPUs share a switch if the rate of each pair equals a port of "
                 "either; peers no faster than PCIe share its port");
  const PeerRates peers = peers_of(matrices, file);
  std::vector<VertexId> gpus;
  for (size_t i = 0; i < matrices.gpus(); ++i)
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", i), int(i), p2p_source));
  const HostLinks links = add_host_links(machine, gpus, rates);
  add_peer_links(machine, peers, gpus, links, p2p_source);
  for (const auto i : indices(gpus))  // without peer access: no copies over the socket
    for (const auto j : indices(gpus))
      if (i != j && !peers.alone[i][j]) machine.route(gpus[i], gpus[j], {}, p2p_source);
  return machine.description();
}

}  // namespace tilerail
