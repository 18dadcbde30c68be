#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "model/base/json_parser.hpp"
#include "model/base/topology_limits.hpp"
#include "model/import/import.hpp"
#include "model/import/machine_builder.hpp"

namespace tilerail {
namespace {

using assumptions::alike, assumptions::host_latency, assumptions::most_gpus;
constexpr Seconds peer_latency = assumptions::nvlink_latency;
const std::string measured = "nvbandwidth", assumed = "assumed";

using Cells = std::vector<std::vector<std::optional<Rate>>>;

/// "25.5" or 25.5 as 25.5 GB/s; nothing of "N/A" and 0.
std::optional<Rate> rate_of(const JsonReader& cell) {
  double value = 0;
  if (cell.is_number()) {
    value = cell.real();
  } else {
    const std::string text = cell.text();
    if (text == "N/A") return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
      cell.fail("a rate in GB/s or N/A");
  }
  if (value == 0) return std::nullopt;
  if (!TopologyLimits::rate.holds(Rate{value * 1e9})) cell.fail("a rate of 0.001 to 1000000 GB/s");
  return Rate{value * 1e9};
}

Cells cells_of(const JsonReader& matrix) {
  Cells cells;
  for (std::size_t r = 0; r < matrix.size(); ++r) {
    const JsonReader row = matrix.entry(r);
    if (row.size() > most_gpus) row.fail(fmt::format("at most {} GPUs", most_gpus));
    cells.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) cells.back().push_back(rate_of(row.entry(c)));
  }
  return cells;
}

/// The matrices of the test cases that passed, by name. Others were waived or went wrong; files of old versions do not
/// tell.
class Cases {
 public:
  Cases(std::string_view text, const std::string& file) : json_(parse_json(text, file)), file_{file} {
    const JsonReader cases = JsonReader{json_, file_, ""}.at("nvbandwidth").at("testcases");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const JsonReader each = cases.entry(i);
      if (!each.has("bandwidth_matrix") || (each.has("status") && each.at("status").text() != "Passed")) continue;
      const JsonReader name = each.at("name");
      if (!all_.emplace(name.text(), cells_of(each.at("bandwidth_matrix"))).second)
        name.fail("a test case that is there once");
    }
    const auto* in = host("host_to_device_memcpy_ce", 0);
    if (!in || in->empty())
      throw InputError{
          fmt::format("{}: there is no matrix of host_to_device_memcpy_ce; expected what 'nvbandwidth -j' "
                      "writes, with that test case",
                      file)};
    gpus_ = in->size();
  }

  std::size_t gpus() const { return gpus_; }
  const std::string& file() const { return file_; }

  /// What a test case gives each GPU; null where it is not there. Of several NUMA rows the first.
  const std::vector<std::optional<Rate>>* host(const std::string& name, std::size_t gpus) const {
    const auto known = all_.find(name);
    if (known == all_.end() || known->second.empty()) return nullptr;
    const auto& row = known->second.front();
    if (gpus > 0 && row.size() != gpus)
      throw InputError{fmt::format("{}: {} has {} GPUs; expected {}", file_, name, row.size(), gpus)};
    return &row;
  }

  /// From GPU to GPU; empty without such a test case. A read goes from column to row, a write from row to column,
  /// whatever the arrows of their descriptions say. Source: DeviceToDeviceReadCE and WriteCE of nvbandwidth,
  /// whose first and later versions agree in it.
  Cells pairs() const {
    for (const auto& [name, from_row] :
         {std::pair{"device_to_device_memcpy_read_ce", false}, std::pair{"device_to_device_memcpy_write_ce", true}}) {
      const auto known = all_.find(name);
      if (known == all_.end()) continue;
      Cells cells(gpus_, std::vector<std::optional<Rate>>(gpus_));
      for (std::size_t i = 0; i < gpus_; ++i)
        for (std::size_t j = 0; j < gpus_; ++j) {
          if (known->second.size() != gpus_ || known->second[i].size() != gpus_)
            throw InputError{fmt::format("{}: the matrix of {} is not {} x {}; expected a cell for each pair", file_,
                                         name, gpus_, gpus_)};
          if (i != j) cells[i][j] = from_row ? known->second[i][j] : known->second[j][i];
        }
      return cells;
    }
    return {};
  }

 private:
  Json json_;
  const std::string& file_;
  std::map<std::string, Cells> all_;
  std::size_t gpus_ = 0;
};

Rate sum_of(const std::vector<std::optional<Rate>>& rates) {
  Rate sum{0};
  for (const auto& rate : rates) sum += rate.value_or(Rate{0});
  return sum;
}

struct HostLinks {
  std::vector<LinkId> in, out;
};

HostLinks add_host_links(MachineBuilder& machine, const Cases& cases, NodeId host, const std::vector<NodeId>& gpus) {
  HostLinks links;
  const auto& in = *cases.host("host_to_device_memcpy_ce", gpus.size());
  const auto* out = cases.host("device_to_host_memcpy_ce", gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!in[i]) throw InputError{fmt::format("{}: no rate from the host to GPU {}; expected one", cases.file(), i)};
    machine.link(host, gpus[i], *in[i], host_latency, measured);
    links.in.push_back(machine.last_link());
    const bool there = out && (*out)[i];
    machine.link(gpus[i], host, there ? *(*out)[i] : *in[i], host_latency, there ? measured : assumed);
    links.out.push_back(machine.last_link());
  }
  return links;
}

using Rates = std::vector<std::optional<Rate>>;

Rate largest(const Rates& rates) {
  Rate most{0};
  for (const auto& rate : rates) most = std::max(most, rate.value_or(Rate{0}));
  return most;
}

Rate in_limits(Rate rate) { return std::min(rate, TopologyLimits::rate.most); }

/// What copies into GPUs and copies out of them get while both run: `in` and `out` in all, of so many copies.
CapacityGroup both_ways(std::string name, const HostLinks& links, double copies, Rate in, Rate out) {
  CapacityGroup group;
  group.name = std::move(name);
  group.forward = links.in, group.backward = links.out;
  group.both_busy = CapacityCurve{{{copies, in_limits(in + out)}}};
  if (const double share = in / (in + out); TopologyLimits::forward_share.holds(share)) group.forward_share = share;
  group.source = measured;
  return group;
}

/// What is left when both directions of a GPU copy at once, and those of all GPUs.
void add_both_ways(MachineBuilder& machine, const Cases& cases, const HostLinks& links) {
  const std::size_t gpus = links.in.size();
  const auto* in = cases.host("host_to_device_bidirectional_memcpy_ce", gpus);
  const auto* out = cases.host("device_to_host_bidirectional_memcpy_ce", gpus);
  for (std::size_t i = 0; in && out && i < gpus; ++i) {
    if (!(*in)[i] || !(*out)[i]) continue;
    machine.group(both_ways(fmt::format("host and gpu{}, both directions", i), {{links.in[i]}, {links.out[i]}}, 2,
                            *(*in)[i], *(*out)[i]));
  }
  const auto* all_in = cases.host("host_to_all_bidirectional_memcpy_ce", gpus);
  const auto* all_out = cases.host("all_to_host_bidirectional_memcpy_ce", gpus);
  if (!all_in || !all_out || gpus < 2 || sum_of(*all_in) == Rate{0} || sum_of(*all_out) == Rate{0}) return;
  const double copies = 2.0 * static_cast<double>(gpus);
  CapacityGroup all = both_ways("host, all GPUs both directions", links, copies, sum_of(*all_in), sum_of(*all_out));
  if (in && out) {  // of one GPU, each direction of which has its share then, too
    const double share = all.forward_share.value_or(0.5);
    const Rate alone = std::max(largest(*in) / share, largest(*out) / (1 - share));
    if (alone > Rate{0}) all.both_busy->points.insert(all.both_busy->points.begin(), {2, in_limits(alone)});
  }
  machine.group(all);
}

/// What is left when all GPUs copy at once in one direction.
void add_one_way(MachineBuilder& machine, const char* name, const std::vector<LinkId>& links, const Rates* one,
                 const Rates* all) {
  if (!all || !one || links.size() < 2 || sum_of(*all) == Rate{0} || largest(*one) == Rate{0}) return;
  CapacityGroup group;
  group.name = name;
  group.forward = links;
  group.capacity = CapacityCurve{{{1, largest(*one)}, {static_cast<double>(links.size()), sum_of(*all)}}};
  group.source = measured;
  machine.group(group);
}

void add_groups(MachineBuilder& machine, const Cases& cases, const HostLinks& links) {
  const std::size_t gpus = links.in.size();
  add_both_ways(machine, cases, links);
  add_one_way(machine, "host to GPUs", links.in, cases.host("host_to_device_memcpy_ce", gpus),
              cases.host("host_to_all_memcpy_ce", gpus));
  add_one_way(machine, "GPUs to host", links.out, cases.host("device_to_host_memcpy_ce", gpus),
              cases.host("all_to_host_memcpy_ce", gpus));
}

/// Pairs that are all alike are joined by a switch, others have links of their own.
void add_peers(MachineBuilder& machine, const Cells& pairs, const std::vector<NodeId>& gpus) {
  if (pairs.empty()) return;
  Rate least{1e300}, most{0};
  bool all = true;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      if (i == j) continue;
      all = all && pairs[i][j];
      if (pairs[i][j]) least = std::min(least, *pairs[i][j]), most = std::max(most, *pairs[i][j]);
    }
  if (all && gpus.size() > 2 && most.value < alike * least.value) {
    const NodeId hub = machine.add_switch("peer-switch", assumed);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      Rate out{0}, in{0};
      for (std::size_t j = 0; j < gpus.size(); ++j)
        if (i != j) out = std::max(out, *pairs[i][j]), in = std::max(in, *pairs[j][i]);
      machine.link(gpus[i], hub, out, peer_latency, assumed);
      machine.link(hub, gpus[i], in, peer_latency, assumed);
    }
    return;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = 0; j < pairs.size(); ++j)
      if (i != j && pairs[i][j]) machine.link(gpus[i], gpus[j], *pairs[i][j], peer_latency * 2, measured);
}

}  // namespace

Topology::Description import_nvbandwidth(std::string_view text, const std::string& file, const GpuKind& kind) {
  const Cases cases{text, file};
  MachineBuilder machine{"nvbandwidth", fmt::format("{} GPUs as nvbandwidth measured them", cases.gpus()), kind};
  machine.source(measured, Source::Kind::measured, "nvbandwidth: rates; latencies assumed");
  machine.source(
      assumed, Source::Kind::assumed,
      "nvbandwidth does not tell: memories, that equal pairs of GPUs share a switch whose ports have the rate "
      "of one pair, what was not measured as in the other direction");
  const NodeId host = machine.add_host("host", assumed);
  std::vector<NodeId> gpus;
  for (std::size_t i = 0; i < cases.gpus(); ++i)
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", i), static_cast<int>(i), assumed));
  const HostLinks links = add_host_links(machine, cases, host, gpus);
  add_groups(machine, cases, links);
  add_peers(machine, cases.pairs(), gpus);
  return machine.description();
}

}  // namespace tilerail
