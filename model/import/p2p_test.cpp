#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/host_links.hpp"
#include "model/import/import.hpp"
#include "model/import/link_values.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/peer_links.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::most_gpus;
const std::string measured = "p2pBandwidthLatencyTest", assumed = "assumed";

/// The matrices of a text by their titles: a line that ends in "Matrix" or in "Matrix (UNIT)", a row "D\D 0 1 ..." of
/// GPUs, and a row of numbers for each GPU. Latencies have two, "GPU" and "CPU", of which the name is a part here.
class Matrices {
 public:
  using Numbers = std::vector<std::vector<double>>;
  struct Matrix {
    size_t line = 0;
    Numbers numbers = {};  // [row][column]
  };

  Matrices(std::string_view text, const std::string& file) : lines_{lines_of(text)}, file_{file} {
    for (line_ = 1; line_ <= lines_.size(); ++line_) {
      words_ = words_of(lines_[line_ - 1]);
      if (!words_.empty()) take(trimmed(lines_[line_ - 1]));
    }
    if (all_.empty())
      throw InputError{"there is no line with the title of a matrix", "what p2pBandwidthLatencyTest prints"}.at(file +
                                                                                                                ":1");
    for (const auto& [title, matrix] : all_)
      if (matrix.numbers.size() != gpus_)
        throw InputError{fmt::format("{} rows", matrix.numbers.size()), fmt::format("{}, one for each GPU", gpus_)}.at(
            file_, matrix.line);
  }

  size_t gpus() const { return gpus_; }

  /// Whether a GPU can access another one, by lines "Device=0 CAN Access Peer Device=1" and by the matrix. Old versions
  /// print no matrix.
  bool access(size_t from, size_t to) const {
    const Matrix* matrix = find("P2P Connectivity Matrix");
    const auto said = access_.find({from, to});
    if (matrix == nullptr && said == access_.end())
      throw InputError{
          fmt::format("there is no line 'Device={} CAN Access Peer Device={}', and no P2P Connectivity Matrix", from,
                      to),
          "one of them"}
          .at(file_);
    if (matrix == nullptr) return said->second.can;
    const bool can = matrix->numbers[from][to] != 0;
    if (said != access_.end() && said->second.can != can)
      fail(said->second.line,
           fmt::format("device {} {} access device {}, and by the matrix in line {} it {}; expected the "
                       "same",
                       from, can ? "cannot" : "can", to, matrix->line, can ? "can" : "cannot"));
    return can;
  }

  const Matrix* find(const std::string& title) const {
    const auto known = all_.find(title);
    return known == all_.end() ? nullptr : &known->second;
  }

  [[noreturn]] void fail(size_t line, const std::string& message) const { throw InputError{message}.at(file_, line); }

 private:
  struct Access {
    bool can = false;
    size_t line = 0;
  };

  void take(const std::string& line) {
    if (words_.size() == 5 && words_[2] == "Access" && (words_[1] == "CAN" || words_[1] == "CANNOT")) {
      add_access();
    } else if (line.find("Matrix") != std::string::npos) {
      title_ = line;
      matrix_ = nullptr;
      check_title();
    } else if (!title_.empty() && (words_[0] == "D\\D" || words_[0] == "GPU" || words_[0] == "CPU")) {
      begin();
    } else if (matrix_ != nullptr && whole_number(words_[0], 0, most_gpus)) {
      add_row();
    } else {
      matrix_ = nullptr;
    }
  }

  void add_access() {
    constexpr std::string_view device = "Device=";
    std::array<std::optional<int>, 2> ends;
    for (const auto end : indices(ends))
      if (const std::string& word = words_[end * 4]; word.starts_with(device))
        ends[end] = whole_number(std::string_view{word}.substr(device.size()), 0, most_gpus);
    if (!ends[0] || !ends[1]) fail(line_, "expected such as 'Device=0 CAN Access Peer Device=1'");
    access_[{size_t(*ends[0]), size_t(*ends[1])}] = {words_[1] == "CAN", line_};
  }

  void check_title() const {
    for (const char* known : {"P2P Connectivity Matrix", "Unidirectional P2P=Disabled Bandwidth",
                              "Unidirectional P2P=Enabled Bandwidth", "Bidirectional P2P=Disabled Bandwidth",
                              "Bidirectional P2P=Enabled Bandwidth", "P2P=Disabled Latency", "P2P=Enabled Latency"}) {
      if (!title_.starts_with(known)) continue;
      const std::string_view name{known};
      const std::string_view unit = name.ends_with("Bandwidth") ? "(GB/s)" : name.ends_with("Latency") ? "(us)" : "";
      if (!title_.ends_with(unit)) fail(line_, fmt::format("{}; expected values in {}", in_quotes(title_), unit));
      return;
    }
    fail(line_,
         fmt::format("{} is unknown; expected a matrix of connectivity, bandwidths or latencies", in_quotes(title_)));
  }

  void begin() {
    const std::string name = words_[0] == "D\\D" ? title_ : title_ + " of " + words_[0];
    for (size_t i = 1; i < words_.size(); ++i)
      if (words_[i] != std::to_string(i - 1))
        fail(line_, fmt::format("the column {}; expected {}", in_quotes(words_[i]), i - 1));
    if (gpus_ == 0) gpus_ = words_.size() - 1;
    if (words_.size() - 1 != gpus_ || gpus_ == 0 || gpus_ > most_gpus)
      fail(line_, fmt::format("{} GPUs; expected {}", words_.size() - 1,
                              gpus_ == 0 || gpus_ > most_gpus ? fmt::format("1 to {}", most_gpus)
                                                              : fmt::format("{}, as before", gpus_)));
    const auto [known, fresh] = all_.try_emplace(name, Matrix{line_});
    if (!fresh) fail(line_, fmt::format("another {}; expected the output of one run", in_quotes(name)));
    matrix_ = &known->second;
  }

  void add_row() {
    if (words_.size() != gpus_ + 1) fail(line_, fmt::format("{} cells; expected {}", words_.size() - 1, gpus_));
    if (words_[0] != std::to_string(matrix_->numbers.size()))
      fail(line_, fmt::format("the row {}; expected {}", in_quotes(words_[0]), matrix_->numbers.size()));
    auto& row = matrix_->numbers.emplace_back();
    for (size_t i = 1; i < words_.size(); ++i) {
      const auto value = finite_number(words_[i]);
      if (!value || *value < 0) fail(line_, fmt::format("{} is no number; expected at least 0", in_quotes(words_[i])));
      row.push_back(*value);
    }
  }

  std::vector<std::string_view> lines_;
  const std::string& file_;
  size_t line_ = 0, gpus_ = 0;
  std::vector<std::string> words_;
  std::string title_;
  Matrix* matrix_ = nullptr;
  std::map<std::string, Matrix> all_;
  std::map<std::pair<size_t, size_t>, Access> access_;  // from and to
};

/// A matrix in GB/s or us, from each GPU to each other one that it can access.
template <class Quantity, class Make>
std::vector<std::vector<std::optional<Quantity>>> of_peers(const Matrices& matrices, const Matrices::Matrix& matrix,
                                                           bool from_row, const Make& make) {
  std::vector<std::vector<std::optional<Quantity>>> result(matrices.gpus(),
                                                           std::vector<std::optional<Quantity>>(matrices.gpus()));
  for (size_t i = 0; i < matrices.gpus(); ++i)
    for (size_t j = 0; j < matrices.gpus(); ++j) {
      if (i == j || !matrices.access(i, j) || !matrices.access(j, i)) continue;
      const auto& row = matrix.numbers[from_row ? i : j];
      result[i][j] = make(row[from_row ? j : i], matrix.line + 1 + (from_row ? i : j));
    }
  return result;
}

/// The title of new versions says in which direction a matrix is read; the old ones copy from the column to the row.
struct Bandwidths {
  const Matrices::Matrix* matrix = nullptr;
  bool from_row = false;
};

Bandwidths unidirectional(const Matrices& matrices) {
  const std::string begin = "Unidirectional P2P=Enabled Bandwidth ";
  if (const auto* writes = matrices.find(begin + "(P2P Writes) Matrix (GB/s)")) return {writes, true};
  if (const auto* reads = matrices.find(begin + "(P2P Reads) Matrix (GB/s)")) return {reads, false};
  return {matrices.find(begin + "Matrix (GB/s)"), false};
}

Bandwidths latencies(const Matrices& matrices) {
  const std::string begin = "P2P=Enabled Latency ";
  if (const auto* writes = matrices.find(begin + "(P2P Writes) Matrix (us) of GPU")) return {writes, true};
  if (const auto* reads = matrices.find(begin + "(P2P Reads) Matrix (us) of GPU")) return {reads, false};
  if (const auto* old = matrices.find(begin + "Matrix (us) of GPU")) return {old, false};
  return {matrices.find(begin + "Matrix (us)"), false};
}

PeerRates peers_of(const Matrices& matrices, const std::string& file) {
  const Bandwidths one = unidirectional(matrices);
  if (one.matrix == nullptr)
    throw InputError{"there is no matrix of Unidirectional P2P=Enabled", "the output of p2pBandwidthLatencyTest"}.at(
        file);
  const auto rate = [&](double value, size_t line) {
    if (!TopologyLimits::rate.holds(Rate{value * 1e9}))
      matrices.fail(line, fmt::format("a rate of {} GB/s; expected 0.001 to 1000000 between GPUs", value));
    return Rate{value * 1e9};
  };
  const auto latency = [&](double value, size_t line) {
    if (!TopologyLimits::latency.holds(Seconds{value * 1e-6}))
      matrices.fail(line, fmt::format("a latency of {} us; expected at most 10 s", value));
    return Seconds{value * 1e-6};
  };
  PeerRates peers{of_peers<Rate>(matrices, *one.matrix, one.from_row, rate)};
  if (const auto* both = matrices.find("Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)"))
    peers.both = of_peers<Rate>(matrices, *both, true, rate);
  if (const Bandwidths times = latencies(matrices); times.matrix != nullptr)
    peers.latency = of_peers<Seconds>(matrices, *times.matrix, times.from_row, latency);
  return peers;
}

/// All GPUs share the memory of the host.
HostLinks add_host_links(MachineBuilder& machine, const std::vector<NodeId>& gpus, const ImportRates& rates) {
  const NodeId socket = machine.add_domain("", rates.host(false), assumed);
  HostLinks links;
  links.over_switch = true;
  links.in_rate.assign(gpus.size(), rates.pcie);
  links.out_rate.assign(gpus.size(), rates.pcie);
  for (const NodeId gpu : gpus) {
    machine.join(socket, gpu, rates.pcie, assumptions::gpu_latency, assumed);
    links.in.emplace_back(machine.last_link().index() - 1);
    links.out.push_back(machine.last_link());
  }
  return links;
}

}  // namespace

Topology::Description import_p2p_test(std::string_view text, const std::string& file, const GpuKind& kind,
                                      const ImportRates& rates) {
  const Matrices matrices{text, file};
  MachineBuilder machine{"p2p", fmt::format("{} GPUs as p2pBandwidthLatencyTest measured them", matrices.gpus()), kind};
  machine.source(measured, Source::Kind::measured,
                 "p2pBandwidthLatencyTest: peer access, rates and latencies between GPUs with it; rates without it, of "
                 "the memory of a GPU and of the CPU's calls are not used");
  machine.source(
      assumed, Source::Kind::assumed,
      "p2pBandwidthLatencyTest does not measure the host: its memory and PCIe; that GPUs share a switch if "
      "the rate of each pair is that of a port of either, and that peers no faster than PCIe share its port");
  const PeerRates peers = peers_of(matrices, file);
  std::vector<NodeId> gpus;
  for (size_t i = 0; i < matrices.gpus(); ++i)
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", i), int(i), measured));
  const HostLinks links = add_host_links(machine, gpus, rates);
  add_peer_links(machine, peers, gpus, links, measured, assumed);
  for (const auto i : indices(gpus))  // not over their socket
    for (const auto j : indices(gpus))
      if (i != j && !peers.alone[i][j]) machine.route(gpus[i], gpus[j], {}, measured);
  return machine.description();
}

}  // namespace tilerail
