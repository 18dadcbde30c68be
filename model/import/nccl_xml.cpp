#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/base/error.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/link_values.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/xml_text.hpp"

namespace tilerail {
namespace {

using assumptions::gpu_latency, assumptions::nvlink_latency;
const std::string told = "NCCL", assumed = "assumed rates";
const std::string processor = "0x068001";  // NCCL's class of bridges from NVLink to a CPU; of a switch it is 0x068000

class Importer {
 public:
  Importer(const std::string& file, const GpuKind& kind, const ImportRates& rates)
      : file_{file}, rates_{rates}, machine_{"nccl", "as NCCL's topology file describes it", kind} {
    machine_.source(
        told, Source::Kind::measured,
        fmt::format("NCCL's topology file: what there is, speed and width of PCIe, links and rate of NVLink-C2C; {} "
                    "of their rates is reached, as by an H200; latencies assumed",
                    assumptions::reached));
    machine_.source(
        assumed, Source::Kind::assumed,
        "NCCL's topology file tells no rates of NVLink (assumed by the GPU's sm, its compute capability), host "
        "memories and sockets, and not every speed");
  }

  Topology::Description import(const XmlTree& tree) {
    const auto system = tree.get_child_optional("system");
    if (!system)
      throw InputError{fmt::format("{}: there is no element 'system'; expected NCCL's topology file", file_)};
    std::vector<MachineBuilder::Domain> domains;
    for (const auto& [name, cpu] : *system) {
      if (name != "cpu") continue;
      check_domain(cpu);
      if (!has_gpu(cpu)) continue;
      check_host(cpu);
      const NodeId domain = machine_.add_domain(number_of(cpu), rates_.host(is_coherent(cpu)), assumed);
      domains.push_back({domain, domains.size()});
      add_children(cpu, domain, domain);
    }
    if (gpus_.empty())
      throw InputError{fmt::format("{}: there is no element 'pci' with a 'gpu'; expected one for each GPU", file_)};
    machine_.join_domains(domains, rates_.sockets, assumed);
    for (Gpu& gpu : gpus_) add_nvlinks(gpu);
    check_both_directions();
    return machine_.description();
  }

 private:
  struct Gpu {
    NodeId node;
    const XmlTree* element;
    std::string bus;
    Rate nvlink;                          // of one, with what reaching it loses
    std::map<NodeId, int> to_peers = {};  // NVLinks
  };

  static bool has_gpu(const XmlTree& element) {
    for (const auto& [name, child] : element)
      if (name == "gpu" || (name == "pci" && has_gpu(child))) return true;
    return false;
  }

  /// Whether a GPU reaches this processor by NVLink or NVLink-C2C.
  static bool is_coherent(const XmlTree& element) {
    for (const auto& [name, child] : element)
      if (name == "c2c" || (name == "nvlink" && attribute(child, "tclass") == processor) || is_coherent(child))
        return true;
    return false;
  }

  /// Of a cpu that check_domain passed; 0 of a machine without NUMA domains.
  static std::string number_of(const XmlTree& cpu) {
    return std::to_string(std::max(0, *whole_number(attribute(cpu, "numaid"), -1, assumptions::last_domain)));
  }

  [[noreturn]] void fail(const XmlTree& element, const std::string& message) const {
    throw InputError{place_of(element, file_) + message};
  }

  /// NCCL joins the files of hosts whose GPUs share NVLinks.
  void check_host(const XmlTree& cpu) {
    const std::string host = attribute(cpu, "host_hash");
    if (hosts_.insert(host).second && hosts_.size() > 1)
      fail(cpu, fmt::format("cpu: host_hash {} is that of another host than {}; expected the file of one host",
                            in_quotes(host), in_quotes(attribute(*first_cpu_, "host_hash"))));
    if (first_cpu_ == nullptr) first_cpu_ = &cpu;
  }

  /// Each NUMA domain of a host once; -1 is that of a machine that has none.
  void check_domain(const XmlTree& cpu) {
    const std::string number = attribute(cpu, "numaid");
    if (!whole_number(number, -1, assumptions::last_domain))
      fail(cpu, fmt::format("cpu: numaid {} is no number of a NUMA domain; expected -1 to {}", in_quotes(number),
                            assumptions::last_domain));
    if (!domains_.emplace(attribute(cpu, "host_hash"), number_of(cpu)).second)
      fail(cpu, fmt::format("cpu: numaid {} is another cpu's; expected a number of its own", in_quotes(number)));
  }

  std::pair<Rate, std::string> rate_of(const XmlTree& pci) const {
    const std::string speed = attribute(pci, "link_speed"), width = attribute(pci, "link_width");
    const auto refuse = [&](const char* name, const std::string& value, const std::string& expected) {
      fail(pci, fmt::format("pci at {}: {} {} is unknown; expected {}", in_quotes(attribute(pci, "busid")), name,
                            in_quotes(value), expected));
    };
    if (!is_pcie_speed(speed)) refuse("link_speed", speed, expected_pcie_speed());
    if (!is_pcie_width(width)) refuse("link_width", width, expected_pcie_width());
    const auto payload = pcie_payload(speed, width);
    return payload ? std::pair{*payload * assumptions::reached, told} : std::pair{rates_.pcie, assumed};
  }

  void add_children(const XmlTree& parent, NodeId above, NodeId socket) {
    for (const auto& [name, pci] : parent) {
      if (name != "pci" || !has_gpu(pci)) continue;
      const auto [rate, source] = rate_of(pci);
      if (const auto gpu = pci.get_child_optional("gpu")) {
        const Gpu& added = add_gpu(*gpu, pci);
        if (!add_coherent_links(added, socket)) machine_.join(above, added.node, rate, gpu_latency, source);
        continue;
      }
      const NodeId node = machine_.add_switch(fmt::format("pci{}", switches_++), told);
      machine_.join(above, node, rate, assumptions::pcie_switch_latency, source);
      add_children(pci, node, socket);
    }
  }

  /// NCCL writes 0 for what it does not know.
  int number_of_c2c(const XmlTree& link, const std::string& name, int most) const {
    const std::string text = attribute(link, name);
    const auto number = text.empty() ? 0 : whole_number(text, 0, most);
    if (!number) fail(link, fmt::format("c2c: {} {} is no number; expected 0 to {}", name, in_quotes(text), most));
    return *number;
  }

  /// NVLink-C2C of a Grace, or NVLinks of a POWER9: GPUs reach these processors by them instead of PCIe.
  bool add_coherent_links(const Gpu& gpu, NodeId socket) {
    for (const auto& [name, link] : *gpu.element) {
      if (name != "c2c") continue;
      const int count = number_of_c2c(link, "count", 1000), megabytes = number_of_c2c(link, "bw", 10'000'000);
      const bool both = count > 0 && megabytes > 0;
      machine_.join(socket, gpu.node, both ? Rate{1e6 * megabytes * count} * assumptions::reached : rates_.c2c,
                    gpu_latency, both ? told : assumed);
      return true;
    }
    int links = 0;
    for (const auto& [name, link] : *gpu.element)
      if (name == "nvlink" && attribute(link, "tclass") == processor) links += count_of(link);
    if (links > 0) machine_.join(socket, gpu.node, gpu.nvlink * links, nvlink_latency * 2, assumed);
    return links > 0;
  }

  const Gpu& add_gpu(const XmlTree& gpu, const XmlTree& pci) {
    const std::string bus = attribute(pci, "busid"), dev = attribute(gpu, "dev");
    const auto device = whole_number(dev, TopologyLimits::device.least, TopologyLimits::device.most);
    if (!device)
      fail(gpu, fmt::format("gpu at {}: dev {} is no number of a GPU; expected {}", in_quotes(bus), in_quotes(dev),
                            TopologyLimits::device.text));
    if (!devices_.insert(*device).second)
      fail(gpu,
           fmt::format("gpu at {}: dev '{}' is another GPU's; expected a number of its own", in_quotes(bus), *device));
    if (gpus_.size() >= TopologyLimits::memories / 2)
      fail(gpu, fmt::format("too many GPUs; expected at most {}", TopologyLimits::memories / 2));
    const std::string sm = attribute(gpu, "sm");
    if (!is_compute_capability(sm))
      fail(gpu, fmt::format("gpu at {}: sm {} is no compute capability; expected ten times it, as 90 of 9.0",
                            in_quotes(bus), in_quotes(sm)));
    const Rate nvlink = rates_.nvlink.value_or(nvlink_of(sm) * assumptions::reached);
    gpus_.push_back({machine_.add_gpu(fmt::format("gpu{}", *device), *device, told), &gpu, bus, nvlink});
    if (bus.empty()) fail(pci, fmt::format("pci: busid of the GPU with dev '{}' is missing; expected one", *device));
    if (!by_bus_.emplace(bus, gpus_.back().node).second)
      fail(pci, fmt::format("pci: busid {} is another GPU's; expected one of its own", in_quotes(bus)));
    return gpus_.back();
  }

  int count_of(const XmlTree& link) const {
    const auto count = whole_number(attribute(link, "count"), 1, assumptions::most_nvlinks);
    if (!count)
      fail(link, fmt::format("nvlink to {}: count {} is no number of links; expected 1 to {}",
                             in_quotes(attribute(link, "target")), in_quotes(attribute(link, "count")),
                             assumptions::most_nvlinks));
    return *count;
  }

  /// To another GPU, those that its own entry counts, in one direction; to a switch (or to what is not in the file),
  /// all together.
  void add_nvlinks(Gpu& gpu) {
    int to_switch = 0;
    for (const auto& [name, link] : *gpu.element) {
      if (name != "nvlink" || attribute(link, "tclass") == processor) continue;
      const int count = count_of(link);
      const auto peer = by_bus_.find(attribute(link, "target"));
      if (peer == by_bus_.end())
        to_switch += count;
      else if (peer->second != gpu.node)
        gpu.to_peers[peer->second] += count;
    }
    for (const auto& [peer, count] : gpu.to_peers)
      machine_.link_peers(gpu.node, peer, gpu.nvlink * count, nvlink_latency * 2, assumed);
    if (to_switch == 0) return;
    if (!nvswitch_) nvswitch_ = machine_.add_switch("nvsw", told);
    machine_.join(gpu.node, *nvswitch_, gpu.nvlink * to_switch, nvlink_latency, assumed);
  }

  /// An NVLink has both directions.
  void check_both_directions() const {
    const auto links = [](const Gpu& from, const Gpu& to) {
      const auto known = from.to_peers.find(to.node);
      return known == from.to_peers.end() ? 0 : known->second;
    };
    for (const Gpu& gpu : gpus_)
      for (const Gpu& peer : gpus_)
        if (const int there = links(gpu, peer), back = links(peer, gpu); there > back)
          fail(*gpu.element, fmt::format("gpu at {}: {} NVLinks to the one at {}, which has {} to it; expected as many",
                                         in_quotes(gpu.bus), there, in_quotes(peer.bus), back));
  }

  const std::string& file_;
  ImportRates rates_;
  MachineBuilder machine_;
  std::vector<Gpu> gpus_;
  std::set<std::string> hosts_;
  std::set<std::pair<std::string, std::string>> domains_;  // host_hash and numaid
  const XmlTree* first_cpu_ = nullptr;
  std::set<int> devices_;
  std::map<std::string, NodeId> by_bus_;
  std::optional<NodeId> nvswitch_;
  std::size_t switches_ = 0;
};

}  // namespace

Topology::Description import_nccl_xml(std::string_view text, const std::string& file, const GpuKind& kind,
                                      const ImportRates& rates) {
  const XmlTree tree = parsed_xml(text, file);
  return Importer{file, kind, rates}.import(tree);
}

}  // namespace tilerail
