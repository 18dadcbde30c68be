#include <fmt/format.h>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/import/host_links.hpp"
#include "model/import/import.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/nvbandwidth_cases.hpp"
#include "model/import/peer_links.hpp"

namespace tilerail {
namespace {

using assumptions::host_latency;
const std::string measured = "nvbandwidth", assumed = "assumed";

HostLinks add_host_links(MachineBuilder& machine, const NvbandwidthCases& cases, NodeId host,
                         const std::vector<NodeId>& gpus) {
  HostLinks links;
  const auto& in = *cases.host("host_to_device_memcpy_ce");
  const auto* out = cases.host("device_to_host_memcpy_ce");
  for (const auto i : indices(gpus)) {
    if (!in[i]) throw InputError{fmt::format("no rate from the host to GPU {}", i), "one"}.at(cases.file());
    machine.link(host, gpus[i], *in[i], host_latency, measured);
    links.in.push_back(machine.last_link());
    links.in_rate.push_back(*in[i]);
    const bool there = out != nullptr && (*out)[i];
    links.out_rate.push_back(there ? *(*out)[i] : *in[i]);
    machine.link(gpus[i], host, links.out_rate.back(), host_latency, there ? measured : assumed);
    links.out.push_back(machine.last_link());
  }
  return links;
}

/// One GPU has no others that copy, too.
HostLoad load_of(const NvbandwidthCases& cases) {
  HostLoad load{.in_both = cases.host("host_to_device_bidirectional_memcpy_ce"),
                .out_both = cases.host("device_to_host_bidirectional_memcpy_ce")};
  if (cases.gpus() == 1) return load;
  load.in_all = cases.host("host_to_all_memcpy_ce");
  load.out_all = cases.host("all_to_host_memcpy_ce");
  load.in_all_both = cases.host("host_to_all_bidirectional_memcpy_ce");
  load.out_all_both = cases.host("all_to_host_bidirectional_memcpy_ce");
  return load;
}

/// The first of these test cases that is there. A read from all is a copy from all to one.
MeasuredRates first_of(const NvbandwidthCases& cases, const char* name, const char* other) {
  if (cases.gpus() == 1) return {};
  const auto* rates = cases.host(name);
  if (rates == nullptr) rates = cases.host(other);
  return rates == nullptr ? MeasuredRates{} : *rates;
}

}  // namespace

Topology::Description import_nvbandwidth(std::string_view text, const std::string& file, const GpuKind& kind,
                                         std::vector<std::string>* notes) {
  const NvbandwidthCases cases{text, file};
  MachineBuilder machine{"nvbandwidth", fmt::format("{} GPUs as nvbandwidth measured them", cases.gpus()), kind};
  machine.source(measured, Source::Kind::measured, "nvbandwidth: rates; latencies assumed");
  machine.source(
      assumed, Source::Kind::assumed,
      "nvbandwidth does not tell: memories; that GPUs share a switch if the rate of each pair is that of a port of "
      "either, and that peers no faster than PCIe share its port; what was not measured as in the other direction");
  const NodeId host = machine.add_host("host", assumed);
  std::vector<NodeId> gpus;
  for (size_t i = 0; i < cases.gpus(); ++i) gpus.push_back(machine.add_gpu(fmt::format("gpu{}", i), int(i), assumed));
  const HostLinks links = add_host_links(machine, cases, host, gpus);
  add_host_load(machine, links, load_of(cases), measured);
  PeerRates peers{cases.pairs()};
  peers.out = first_of(cases, "one_to_all_write_ce", "all_to_one_read_ce");
  peers.both = cases.pairs_both();
  peers.in = first_of(cases, "all_to_one_write_ce", "one_to_all_read_ce");
  add_peer_links(machine, peers, gpus, links, measured, assumed);
  if (notes != nullptr && peers.alone.empty() && cases.gpus() > 1)
    notes->push_back(
        fmt::format("{}: there is no matrix of device_to_device_memcpy_read_ce or device_to_device_memcpy_write_ce; "
                    "the machine has no copies between GPUs",
                    cases.file()));
  if (const std::string left_out = cases.left_out(); notes != nullptr && !left_out.empty()) notes->push_back(left_out);
  return machine.description();
}

}  // namespace tilerail
