#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/base/indices.hpp"
#include "model/base/json_parser.hpp"
#include "model/base/topology_limits.hpp"
#include "model/import/import.hpp"
#include "model/import/measured_links.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::host_latency, assumptions::most_gpus;
const std::string nvbandwidth_source = "nvbandwidth";
constexpr const char* expected_text =
    "output of 'nvbandwidth -j' ('nvbandwidth --format json' in newer versions)";

/// "25.5" or 25.5 as 25.5 GB/s; none for "N/A" and 0.
std::optional<Rate> rate_of(const JsonReader& cell) {
  if (!cell.is_number() && cell.text() == "N/A") return std::nullopt;
  const auto value =
      cell.is_number() ? std::optional{cell.real()} : finite_number(cell.text());
  if (value == 0) return std::nullopt;
  if (!value || !TopologyLimits::rate.holds(Rate{*value * 1e9}))
    cell.fail("a rate of 0.001 to 1000000 GB/s, or N/A");
  return Rate{*value * 1e9};
}

MeasuredPairs cells_of(const JsonReader& matrix) {
  MeasuredPairs cells;
  for (const auto r : indices(matrix)) {
    const JsonReader row = matrix.entry(r);
    if (row.size() > most_gpus) row.fail(fmt::format("at most {} GPUs", most_gpus));
    cells.emplace_back();
    for (const auto c : indices(row)) cells.back().push_back(rate_of(row.entry(c)));
  }
  return cells;
}

/// The matrices of nvbandwidth, by the name of the test case.
class Cases {
 public:
  /// Files of old versions have no status. Waived test cases were not run, because the
  /// machine lacks such links.
  Cases(std::string_view text, const std::string& file) : file_{file} {
    const Json json = parse_json(text, file);
    const JsonReader root{json, file, ""};
    if (!root.has("nvbandwidth")) throw missing("nvbandwidth", expected_text).at(file);
    const JsonReader cases = root.at("nvbandwidth").at("testcases");
    for (const auto i : indices(cases)) {
      const JsonReader each = cases.entry(i);
      const std::string name = each.at("name").text();
      const std::string status = each.has("status") ? each.at("status").text() : "Passed";
      if (status == "Passed" && each.has("bandwidth_matrix")) {
        if (!all_.emplace(name, cells_of(each.at("bandwidth_matrix"))).second)
          each.at("name").fail("each test case once");
      } else if (status != "Waived") {
        failed_.push_back(
            fmt::format("{} ({})", name, status == "Passed" ? "no matrix" : status));
      }
    }
    const MeasuredPairs in = cells("host_to_device_memcpy_ce");
    if (in.empty() || in.front().empty())
      throw missing("host_to_device_memcpy_ce",
                    fmt::format("{}, with that test case", expected_text))
          .at(file);
    gpus_ = in.front().size();
  }

  size_t gpus() const { return gpus_; }
  /// The failed test cases.
  const std::vector<std::string>& failed() const { return failed_; }

  /// The rate of each GPU in a test case.
  MeasuredRates host(const std::string& name) const {
    const MeasuredPairs rows = cells(name);
    if (rows.empty()) return {};
    if (rows.size() > 1)
      throw fault_of(name, fmt::format("{} rows", rows.size()), "one").at(file_);
    if (rows[0].size() != gpus_)
      throw fault_of(name, fmt::format("{} GPUs", rows[0].size()), fmt::to_string(gpus_))
          .at(file_);
    return rows[0];
  }

  /// The same for the first existing one of two test cases; empty for a single GPU, which
  /// has no peers.
  MeasuredRates host(const char* name, const char* other) const {
    if (gpus_ == 1) return {};
    return host(all_.contains(name) ? name : other);
  }

  /// The test case of reads, `begin` + "read" + `end`, or else of writes; empty without
  /// both. Rows are the sources of copies.
  MeasuredPairs pairs(const std::string& begin, const std::string& end,
                      bool reads_are_by_column) const {
    const bool reads = all_.contains(begin + "read" + end);
    const std::string name = begin + (reads ? "read" : "write") + end;
    const MeasuredPairs rows = cells(name);
    if (rows.empty()) return {};
    const auto has_all_columns = [&](const MeasuredRates& row) {
      return row.size() == gpus_;
    };
    if (rows.size() != gpus_ || !std::ranges::all_of(rows, has_all_columns))
      throw fault_of(name, fmt::format("the matrix is not {} x {}", gpus_, gpus_),
                     "a cell for each pair")
          .at(file_);
    MeasuredPairs pairs(gpus_, MeasuredRates(gpus_));
    for (size_t i = 0; i < gpus_; ++i)
      for (size_t j = 0; j < gpus_; ++j)
        if (i != j) pairs[i][j] = reads && reads_are_by_column ? rows[j][i] : rows[i][j];
    return pairs;
  }

 private:
  /// Empty without the test case.
  MeasuredPairs cells(const std::string& name) const {
    const auto known = all_.find(name);
    return known == all_.end() ? MeasuredPairs{} : known->second;
  }

  const std::string& file_;
  std::map<std::string, MeasuredPairs> all_;
  std::vector<std::string> failed_;
  size_t gpus_ = 0;
};

HostLinks add_host_links(MachineBuilder& machine, const Cases& cases, VertexId host,
                         const std::vector<VertexId>& gpus, const std::string& file) {
  HostLinks links;
  const MeasuredRates in = cases.host("host_to_device_memcpy_ce"),
                      out = cases.host("device_to_host_memcpy_ce");
  for (const auto i : indices(gpus)) {
    if (!in[i])
      throw missing(fmt::format("rate from the host to GPU {}", i), "one").at(file);
    const bool there = !out.empty() && out[i];
    links.in_rate.push_back(*in[i]);
    links.out_rate.push_back(there ? *out[i] : *in[i]);
    links.in.push_back(
        machine.link(host, gpus[i], links.in_rate[i], host_latency, nvbandwidth_source));
    links.out.push_back(machine.link(gpus[i], host, links.out_rate[i], host_latency,
                                     there ? nvbandwidth_source : assumed_source));
  }
  return links;
}

/// A single GPU has no loads from other GPUs.
HostLoad load_of(const Cases& cases) {
  HostLoad load{.in_both = cases.host("host_to_device_bidirectional_memcpy_ce"),
                .out_both = cases.host("device_to_host_bidirectional_memcpy_ce")};
  if (cases.gpus() == 1) return load;
  load.in_all = cases.host("host_to_all_memcpy_ce");
  load.out_all = cases.host("all_to_host_memcpy_ce");
  load.in_all_both = cases.host("host_to_all_bidirectional_memcpy_ce");
  load.out_all_both = cases.host("all_to_host_bidirectional_memcpy_ce");
  return load;
}

}  // namespace

Topology::Description import_nvbandwidth(std::string_view text, const std::string& file,
                                         const GpuKind& kind,
                                         std::vector<std::string>* notes) {
  const Cases cases{text, file};
  MachineBuilder machine{
      "nvbandwidth", fmt::format("{} GPUs as nvbandwidth measured them", cases.gpus()),
      kind};
  machine.source(nvbandwidth_source, Source::Kind::measured,
                 "nvbandwidth: rates; latencies assumed");
  machine.source(assumed_source, Source::Kind::assumed,
                 "not measured by nvbandwidth: memories; GPUs share a switch if the rate "
                 "of each pair equals a port of either; peers no faster than PCIe share "
                 "its port; missing rates equal the other direction");
  const VertexId host = machine.add_host("host", assumed_source);
  std::vector<VertexId> gpus;
  for (size_t i = 0; i < cases.gpus(); ++i)
    gpus.push_back(machine.add_gpu(fmt::format("gpu{}", i), int(i), assumed_source));
  const HostLinks links = add_host_links(machine, cases, host, gpus, file);
  add_host_load(machine, links, load_of(cases), nvbandwidth_source);
  // A read goes from column to row, a write from row to column, contrary to the arrows in
  // some descriptions. Source: DeviceToDeviceReadCE and WriteCE of nvbandwidth, the same
  // in its first and later versions.
  PeerRates peers{cases.pairs("device_to_device_memcpy_", "_ce", true)};
  // A read from all GPUs is a copy from all to one.
  peers.out = cases.host("one_to_all_write_ce", "all_to_one_read_ce");
  peers.in = cases.host("all_to_one_write_ce", "one_to_all_read_ce");
  peers.both = cases.pairs("device_to_device_bidirectional_memcpy_", "_ce_total", false);
  add_peer_links(machine, peers, gpus, links, nvbandwidth_source);
  if (notes != nullptr && peers.alone.empty() && cases.gpus() > 1)
    notes->push_back(fmt::format(
        "{}: no matrix device_to_device_memcpy_read_ce or "
        "device_to_device_memcpy_write_ce; the machine has no copies between GPUs",
        file));
  if (notes != nullptr && !cases.failed().empty())
    notes->push_back(fmt::format("{}: these test cases are not used: {}", file,
                                 fmt::join(cases.failed(), ", ")));
  return machine.description();
}

}  // namespace tilerail
