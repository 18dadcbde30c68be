#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/joined_sets.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/smi_matrix.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::last_domain;
const std::string smi_source = "topo -m";

/// NUMA domains with GPUs.
struct SmiDomains {
  std::vector<std::string>
      numbers;  // from the source (the first of several) if complete, else 0, 1, ...
  std::vector<size_t> sockets;  // by domain: the first domain of its socket
  std::vector<size_t> of_gpu;   // by row of the matrix: index into `numbers`
};

bool is_near(const std::string& cell) {
  return cell == "PIX" || cell == "PXB" || cell == "PHB" || cell == "NODE";
}
bool is_far(const std::string& cell) { return cell == "SYS" || cell == "SOC"; }

/// Finds NUMA domains and sockets. One domain: GPUs with one NUMA affinity (CPU affinity
/// if the file has no NUMA affinity) or with relation NODE, PHB, PXB or PIX. NODE between
/// two NUMA affinities: one socket with two domains. SYS: two sockets. Relations to
/// network cards are used for GPUs without affinity. Remaining GPUs join the first domain
/// that no relation excludes. Contradictory affinities and relations are rejected.
class Domains {
 public:
  Domains(const SmiMatrix& matrix, const std::string& file)
      : m_{matrix}, file_{file}, first_(matrix.devices.size()) {
    std::iota(first_.begin(), first_.end(), 0U);
    socket_ = first_;
    far_.assign(first_.size(), std::vector<bool>(first_.size()));
  }

  SmiDomains found() {
    each_pair([&](size_t i, size_t j) { use_relation(i, j); });
    each_pair([&](size_t i, size_t j) {
      if (!located(i) || !located(j)) use_cards(i, j);
    });
    each_pair([&](size_t i, size_t j) { check(i, j); });
    each_pair([&](size_t i, size_t j) {
      if (may_join(i, j) && !number(i) && !number(j) && same(m_.cpus[i], m_.cpus[j]))
        join(i, j);
    });
    each_pair([&](size_t i, size_t j) {
      if (may_join(i, j) && (!any_located_in(i) || !any_located_in(j))) join(i, j);
    });
    return numbered();
  }

 private:
  void each_pair(const auto& visit) const {
    for (const auto j : indices(m_.devices))
      for (size_t i = 0; i < j; ++i) visit(i, j);
  }

  static bool same(const std::optional<std::string>& a,
                   const std::optional<std::string>& b) {
    return a && a == b;
  }

  /// The NUMA affinity if it is a single domain.
  std::optional<std::string> number(size_t gpu) const {
    const auto& text = m_.domains[gpu];
    return text && whole_number(*text, 0, last_domain) ? text : std::nullopt;
  }
  /// The first domain of the NUMA affinity: 4 for "4-7".
  std::optional<int> first_number(size_t gpu) const {
    const auto& text = m_.domains[gpu];
    if (!text) return std::nullopt;
    return whole_number(text->substr(0, text->find_first_not_of("0123456789")), 0,
                        last_domain);
  }
  bool located(size_t gpu) const { return number(gpu) || m_.cpus[gpu]; }

  /// Whether both have the same kind of affinity with different values.
  bool differ(size_t i, size_t j) const {
    if (number(i) || number(j)) return number(i) && number(j) && number(i) != number(j);
    return m_.cpus[i] && m_.cpus[j] && m_.cpus[i] != m_.cpus[j];
  }

  static void join(size_t i, size_t j, std::vector<size_t>& first) {
    const size_t from = std::max(first[i], first[j]), to = std::min(first[i], first[j]);
    std::ranges::replace(first, from, to);
  }
  void join(size_t i, size_t j) {
    join(i, j, first_);
    join(i, j, socket_);
  }

  bool any_of(size_t domain, const auto& is) const {
    for (const auto gpu : indices(first_))
      if (first_[gpu] == domain && is(gpu)) return true;
    return false;
  }
  bool any_located_in(size_t gpu) const {
    return any_of(first_[gpu], [&](size_t other) { return located(other); });
  }
  bool may_join(size_t i, size_t j) const {
    return first_[i] != first_[j] && !any_of(first_[i], [&](size_t a) {
             return any_of(first_[j], [&](size_t b) { return far_[a][b]; });
           });
  }

  /// NODE relates GPUs of one socket, possibly of different domains.
  void use_relation(size_t i, size_t j) {
    const std::string& cell = m_.cells[i][j];
    const bool has_one_number = same(number(i), number(j));
    far_[i][j] = far_[j][i] = is_far(cell);
    if (is_near(cell) || has_one_number) join(i, j, socket_);
    if (has_one_number || (is_near(cell) && !(cell == "NODE" && differ(i, j))))
      join(i, j, first_);
  }

  void use_cards(size_t i, size_t j) {
    for (const auto card : indices(m_.cards[i])) {
      const std::string &a = m_.cards[i][card], &b = m_.cards[j][card];
      if (is_near(a) && is_near(b)) join(i, j);
      if ((is_near(a) && is_far(b)) || (is_far(a) && is_near(b)))
        far_[i][j] = far_[j][i] = true;
    }
  }

  [[noreturn]] void fail(size_t i, size_t j, const std::string& but,
                         const std::string& expected) const {
    throw InputError{fmt::format("GPU{} to GPU{}", m_.devices[j], m_.devices[i]),
                     m_.cells[j][i], but, expected}
        .at(file_, m_.lines[j]);
  }

  void check(size_t i, size_t j) const {
    if (socket_[i] == socket_[j] && far_[i][j])
      fail(i, j,
           "contradicts other relations or affinities, which put both "
           "below one socket",
           "GPUs of one socket or of two");
    if (first_[i] != first_[j] || !differ(i, j)) return;
    const auto& affinities = number(i) ? m_.domains : m_.cpus;
    fail(i, j,
         fmt::format("does not fit the {} affinities {} and {}",
                     number(i) ? "NUMA" : "CPU", *affinities[j], *affinities[i]),
         "one affinity for GPUs below one host bridge");
  }

  /// Orders domains by number if each has its own, else by GPU.
  SmiDomains numbered() const {
    std::map<int, size_t> by_number;  // number -> first GPU of the domain
    std::vector<size_t> domains;
    for (const auto gpu : indices(first_)) {
      if (first_[gpu] == gpu) domains.push_back(gpu);
      if (const auto own = first_number(gpu)) by_number.emplace(*own, first_[gpu]);
    }
    const bool all = std::ranges::all_of(domains, [&](size_t domain) {
      return std::ranges::count(by_number, domain,
                                &std::map<int, size_t>::value_type::second) == 1;
    });
    if (!all) by_number.clear();
    if (!all)
      for (const size_t domain : domains)
        by_number.emplace(int(by_number.size()), domain);
    SmiDomains result;
    result.of_gpu.resize(first_.size());
    std::map<size_t, size_t> first_of_socket;
    for (const auto& [number, domain] : by_number) {
      const size_t index = result.numbers.size();
      result.numbers.push_back(std::to_string(number));
      result.sockets.push_back(
          first_of_socket.try_emplace(socket_[domain], index).first->second);
      for (const auto gpu : indices(first_))
        if (first_[gpu] == domain) result.of_gpu[gpu] = index;
    }
    return result;
  }

  const SmiMatrix& m_;
  const std::string& file_;
  std::vector<size_t> first_;           // by GPU: the first GPU of its domain so far
  std::vector<size_t> socket_;          // by GPU: the first GPU of its socket so far
  std::vector<std::vector<bool>> far_;  // by pair: SYS to each other
};

int nvlinks(const std::string& cell) {
  return cell.starts_with("NV") ? std::stoi(cell.substr(2)) : 0;
}

bool same_switch(const std::string& cell) { return cell == "PIX" || cell == "PXB"; }

/// Whether two GPUs are behind the same PCIe switch: according to their cell or, if it
/// shows NVLinks, according to a network card.
bool share_switch(const SmiMatrix& matrix, size_t i, size_t j) {
  if (same_switch(matrix.cells[i][j])) return true;
  if (!matrix.cells[i][j].starts_with("NV")) return false;
  for (const auto card : indices(matrix.cards[i]))
    if (same_switch(matrix.cards[i][card]) && same_switch(matrix.cards[j][card]))
      return true;
  return false;
}

/// By GPU: the first GPU behind the same PCIe switch.
std::vector<size_t> behind_one_switch(const SmiMatrix& matrix) {
  std::vector<size_t> first(matrix.devices.size());
  std::iota(first.begin(), first.end(), 0U);
  for (const auto i : indices(first))
    for (size_t j = 0; j < i; ++j)
      if (share_switch(matrix, i, j)) {
        first[i] = first[j];
        break;
      }
  return first;
}

/// Adds GPUs below their sockets: by NVLink-C2C if coherent, else behind a shared PCIe
/// switch.
std::vector<VertexId> add_gpus(MachineBuilder& machine, const SmiMatrix& matrix,
                               const std::vector<VertexId>& sockets,
                               const ImportRates& rates) {
  std::map<std::string, VertexId> switches;
  std::vector<VertexId> gpus;
  const auto first = behind_one_switch(matrix);
  for (const auto i : indices(first)) {
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", matrix.devices[i]),
                                   matrix.devices[i], smi_source));
    VertexId parent = sockets[i];
    if (matrix.own_domains[i]) {
      machine.join(parent, gpus.back(), rates.c2c, assumptions::gpu_latency,
                   assumed_rates);
      continue;
    }
    if (std::ranges::count(first, first[i]) > 1) {
      const auto [plx, fresh] =
          switches.try_emplace(fmt::format("plx{}", first[i]), VertexId{0});
      if (fresh) {
        plx->second = machine.add_switch(plx->first, smi_source);
        machine.join(parent, plx->second, rates.pcie, assumptions::pcie_switch_latency,
                     assumed_rates);
      }
      parent = plx->second;
    }
    machine.join(parent, gpus.back(), rates.pcie, assumptions::gpu_latency,
                 assumed_rates);
  }
  return gpus;
}

/// The NVLinks of a matrix: islands of GPUs, joined by a switch or directly.
class Nvlinks {
 public:
  Nvlinks(MachineBuilder& machine, const SmiMatrix& matrix,
          const std::vector<VertexId>& gpus, const ImportRates& rates, int of_kind)
      : machine_{machine},
        m_{matrix},
        gpus_{gpus},
        rates_{rates},
        each_{rates.nvlink.value_or(assumptions::nvlink)},
        most_{of_kind} {
    for (const auto i : indices(gpus)) most_ = std::max(most_, largest(i));
  }

  void add() {
    const auto islands =
        joined_sets(gpus_.size(), [this](size_t i, size_t j) { return count(i, j) > 0; });
    const auto switches = std::ranges::count_if(
        islands, [this](const auto& island) { return is_switched(island); });
    int number = 0;
    for (const auto& island : islands)
      if (is_switched(island))
        add_switch(switches == 1 ? "nvsw" : fmt::format("nvsw{}", number++), island);
      else
        add_direct(island);
  }

 private:
  using Island = std::vector<size_t>;

  int count(size_t i, size_t j) const { return nvlinks(m_.cells[i][j]); }

  int largest(size_t i) const {
    int most = 0;
    for (const auto j : indices(gpus_)) most = std::max(most, count(i, j));
    return most;
  }

  /// Whether the NVLinks of an island lead to a switch: their sum exceeds the NVLinks of
  /// a GPU, or each of several GPUs reaches all others with more links than direct
  /// connections allow.
  bool is_switched(const Island& island) const {
    int most = 0;
    bool complete = island.size() > 2;
    for (const size_t i : island) {
      int sum = 0;
      for (const size_t j : island) {
        if (i == j) continue;
        sum += count(i, j);
        complete = complete && count(i, j) > 0;
      }
      if (sum > most_) return true;
      most = std::max(most, largest(i));
    }
    return complete && most * assumptions::least_parts > most_;
  }

  Rate to_host(size_t gpu) const {
    return m_.own_domains[gpu] ? rates_.c2c : rates_.pcie;
  }

  /// Adds a port with the largest count of each GPU. Copies always take the switch, even
  /// if the path over the host is faster.
  void add_switch(const std::string& name, const Island& island) {
    const VertexId nvsw = machine_.add_switch(name, smi_source);
    std::map<size_t, LinkId> out, in;
    for (const size_t i : island) {
      const Rate rate = each_ * largest(i);
      out.emplace(i, machine_.link(gpus_[i], nvsw, rate, assumptions::nvlink_latency,
                                   assumed_rates));
      in.emplace(i, machine_.link(nvsw, gpus_[i], rate, assumptions::nvlink_latency,
                                  assumed_rates));
    }
    for (const size_t i : island)
      for (const size_t j : island)
        if (i != j &&
            each_ * std::min(largest(i), largest(j)) <= std::max(to_host(i), to_host(j)))
          machine_.route(gpus_[i], gpus_[j], {out.at(i), in.at(j)}, assumed_rates);
  }

  void add_direct(const Island& island) {
    for (const size_t i : island)
      for (const size_t j : island)
        if (count(i, j) > 0)
          machine_.link_peers(gpus_[i], gpus_[j], each_ * count(i, j),
                              assumptions::nvlink_latency * 2, assumed_rates);
  }

  MachineBuilder& machine_;
  const SmiMatrix& m_;
  const std::vector<VertexId>& gpus_;
  const ImportRates& rates_;
  Rate each_;
  int most_;  // NVLinks of one GPU
};

/// Domains of one socket share its memory.
std::vector<MachineBuilder::Domain> add_domains(MachineBuilder& machine,
                                                const SmiMatrix& matrix,
                                                const SmiDomains& domains,
                                                const ImportRates& rates) {
  std::vector<bool> coherent(domains.numbers.size());
  for (const auto gpu : indices(domains.of_gpu))
    if (matrix.own_domains[gpu]) coherent[domains.of_gpu[gpu]] = true;
  std::vector<MachineBuilder::Domain> nodes;
  for (const auto i : indices(domains.numbers)) {
    const size_t socket = domains.sockets[i];
    const auto in_socket = size_t(std::ranges::count(domains.sockets, socket));
    nodes.push_back(
        {machine.add_domain(domains.numbers[i], rates.host(coherent[i], in_socket),
                            assumed_rates),
         socket});
  }
  machine.join_domains(nodes, rates.sockets, assumed_rates);
  return nodes;
}

/// Removes copies between GPUs without peer access. Plans copy such data over a host, in
/// two copies, as drivers do.
void deny_peer_access(Topology::Description& machine,
                      const std::set<std::pair<int, int>>& denied) {
  const Topology before{machine};
  const std::string source = "topo -p2p";
  bool removed = false;
  for (const auto& [first, second] : denied) {
    const MemoryId a = *before.find_gpu(first), b = *before.find_gpu(second);
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
      if (!before.has_route(from, to)) continue;
      std::erase_if(machine.routes, [from = from, to = to](const auto& route) {
        return route.from == from && route.to == to;
      });
      machine.routes.push_back({from, to, {}, source});
      removed = true;
    }
  }
  if (removed)
    machine.sources.push_back({source, Source::Kind::measured, "nvidia-smi topo -p2p"});
}

}  // namespace

Topology::Description import_nvidia_smi(std::string_view text, const std::string& file,
                                        const GpuKind& kind, const ImportRates& rates) {
  const SmiMatrix matrix = read_smi_matrix(text, file);
  MachineBuilder machine{
      "nvidia-smi",
      fmt::format("{} GPUs as 'nvidia-smi topo -m' shows them", matrix.devices.size()),
      kind};
  machine.source(smi_source, Source::Kind::measured,
                 "nvidia-smi topo -m: GPUs and their links");
  machine.source(assumed_rates, Source::Kind::assumed,
                 "nvidia-smi topo -m contains no rates, latencies and host memories; if "
                 "the NVLinks of a GPU add up to more than it has, all NVLinks of the "
                 "joined GPUs lead to a switch, the largest number of each GPU; a GPU "
                 "with memory as a NUMA domain has NVLink-C2C to its processor");
  const SmiDomains domains = Domains{matrix, file}.found();
  const auto nodes = add_domains(machine, matrix, domains, rates);
  std::vector<VertexId> of_gpus;
  for (const size_t domain : domains.of_gpu) of_gpus.push_back(nodes[domain].vertex);
  const auto gpus = add_gpus(machine, matrix, of_gpus, rates);
  Nvlinks{machine, matrix, gpus, rates, gpu_model(kind.kernels.name).nvlinks}.add();
  Topology::Description description = machine.description();
  deny_peer_access(description, matrix.denied);
  return description;
}

}  // namespace tilerail
