#include <fmt/format.h>

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
    std::vector<NodeId> sockets;
    for (const auto& [name, cpu] : *system) {
      if (name != "cpu" || !has_gpu(cpu)) continue;
      check_host(cpu);
      const std::string domain = std::to_string(sockets.size());
      sockets.push_back(machine_.add_domain(domain, rates_.host_memory, assumed));
      add_children(cpu, sockets.back(), sockets.back());
    }
    if (gpus_.empty())
      throw InputError{fmt::format("{}: there is no element 'pci' with a 'gpu'; expected one for each GPU", file_)};
    machine_.join_all(sockets, rates_.sockets, assumptions::socket_latency, assumed);
    for (const Gpu& gpu : gpus_) add_nvlinks(gpu);
    return machine_.description();
  }

 private:
  struct Gpu {
    NodeId node;
    const XmlTree* element;
    Rate nvlink;  // of one, with what reaching it loses
  };

  static bool has_gpu(const XmlTree& element) {
    for (const auto& [name, child] : element)
      if (name == "gpu" || (name == "pci" && has_gpu(child))) return true;
    return false;
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

  std::pair<Rate, std::string> rate_of(const XmlTree& pci) const {
    const auto payload = pcie_payload(attribute(pci, "link_speed"), attribute(pci, "link_width"));
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

  /// NVLink-C2C of a Grace, or NVLinks of a POWER9: GPUs reach these processors by them instead of PCIe.
  bool add_coherent_links(const Gpu& gpu, NodeId socket) {
    for (const auto& [name, link] : *gpu.element) {
      if (name != "c2c") continue;
      const auto count = whole_number(attribute(link, "count"), 1, 1000);
      const auto megabytes = whole_number(attribute(link, "bw"), 1, 10'000'000);
      const bool both = count && megabytes;
      machine_.join(socket, gpu.node, both ? Rate{1e6 * *megabytes * *count} * assumptions::reached : rates_.c2c,
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
    const Rate nvlink = rates_.nvlink.value_or(nvlink_of(attribute(gpu, "sm")) * assumptions::reached);
    gpus_.push_back({machine_.add_gpu(fmt::format("gpu{}", *device), *device, told), &gpu, nvlink});
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
  void add_nvlinks(const Gpu& gpu) {
    int to_switch = 0;
    std::map<NodeId, int> to_peers;
    for (const auto& [name, link] : *gpu.element) {
      if (name != "nvlink" || attribute(link, "tclass") == processor) continue;
      const int count = count_of(link);
      const auto peer = by_bus_.find(attribute(link, "target"));
      if (peer == by_bus_.end())
        to_switch += count;
      else if (peer->second != gpu.node)
        to_peers[peer->second] += count;
    }
    for (const auto& [peer, count] : to_peers)
      machine_.link_peers(gpu.node, peer, gpu.nvlink * count, nvlink_latency * 2, assumed);
    if (to_switch == 0) return;
    if (!nvswitch_) nvswitch_ = machine_.add_switch("nvsw", told);
    machine_.join(gpu.node, *nvswitch_, gpu.nvlink * to_switch, nvlink_latency, assumed);
  }

  const std::string& file_;
  ImportRates rates_;
  MachineBuilder machine_;
  std::vector<Gpu> gpus_;
  std::set<std::string> hosts_;
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
