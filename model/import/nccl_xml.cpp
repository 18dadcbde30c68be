#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/nccl_elements.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

using assumptions::gpu_latency, assumptions::nvlink_latency, assumptions::reached;
const std::string nccl_source = "NCCL";

bool is_nvlink(pugi::xml_node link) { return link.name() == std::string_view{"nvlink"}; }

bool leads_to_processor(pugi::xml_node link) {
  return pci_class(attribute(link, "tclass")) == PciClass::processor;
}

/// Whether a GPU is connected to this processor by NVLink or NVLink-C2C.
bool is_coherent(pugi::xml_node cpu) {
  return !!cpu.find_node([](pugi::xml_node node) {
    return node.name() == std::string_view{"c2c"} ||
           (is_nvlink(node) && leads_to_processor(node));
  });
}

bool is_of_amd(pugi::xml_node root) {
  return !!root.find_node([](pugi::xml_node node) {
    const std::string_view name = node.name();
    return name == "xgmi" || (name == "gpu" && !attribute(node, "gcn").empty());
  });
}

bool is_gpu(pugi::xml_node pci) {
  return pci.child("gpu") || pci_class(attribute(pci, "class")) == PciClass::gpu;
}

bool has_gpu(pugi::xml_node element) {
  const auto pcis = element.children("pci");
  return std::ranges::any_of(
      pcis, [](pugi::xml_node pci) { return is_gpu(pci) || has_gpu(pci); });
}

class Importer {
 public:
  Importer(const XmlFile& file, const GpuKind& kind, const ImportRates& rates)
      : file_{file},
        rates_{rates},
        machine_{
            "nccl",
            is_of_amd(file.root())
                ? "as RCCL's topology file describes it: AMD GPUs, for simulations only"
                : "as NCCL's topology file describes it",
            kind} {}

  Topology::Description import() {
    const pugi::xml_node system = file_.root();
    check_system(system);
    collect_devices(system, 1);
    std::vector<MachineBuilder::Domain> domains;
    for (const pugi::xml_node& cpu : system.children("cpu")) {
      const std::string number = number_of(cpu);
      if (!has_gpu(cpu)) {
        omissions_.add("cpu without GPUs", cpu);
        count_devices(cpu);
        continue;
      }
      check_host(cpu);
      const VertexId domain =
          machine_.add_domain(number, rates_.host(is_coherent(cpu)), assumed_rates);
      domains.push_back({domain, domains.size()});
      add_children(cpu, domain, domain);
    }
    if (gpus_.empty())
      throw missing("element 'pci' with a 'gpu' or of class 0x03 or 0x12",
                    "one for each GPU")
          .at(file_.name());
    machine_.join_domains(domains, rates_.sockets, assumed_rates);
    for (Gpu& gpu : gpus_) add_gpu_links(gpu);
    check_both_directions();
    for (const Bridge& bridge : bridges_) add_pcilinks(bridge);
    add_sources();
    return machine_.description();
  }

 private:
  /// One link between GPUs, and the key of its source.
  struct LinkUnit {
    Rate rate;
    std::string source;
  };
  /// All NVLinks or xGMI links to one GPU.
  struct PeerLinks {
    int count = 0;
    Rate rate{0};
    std::string source = {};
  };
  struct Gpu {
    VertexId vertex;
    pugi::xml_node element;  // 'gpu', or 'pci' if the device has no 'gpu'
    int sm;                  // compute capability, 90 for 9.0; 0: unknown
    std::string gcn;
    std::map<VertexId, PeerLinks> to_peers = {};
  };
  struct Bridge {
    pugi::xml_node element;
    VertexId vertex;
  };

  [[noreturn]] void fail(pugi::xml_node element, const InputError& error) const {
    file_.fail(element, error);
  }

  /// The number in an attribute, within these limits.
  int number(pugi::xml_node element, const char* name, int least, int most) const {
    const std::string text = attribute(element, name);
    const auto value = whole_number(text, least, most);
    if (!value) fail(element, {name, text, "", fmt::format("{} to {}", least, most)});
    return *value;
  }

  /// 0 without the attribute. NCCL writes 0 for unknown values.
  int number_if_any(pugi::xml_node element, const char* name, int most) const {
    return attribute(element, name).empty() ? 0 : number(element, name, 0, most);
  }

  /// NCCL's files have version 1, RCCL's version 2.
  void check_system(pugi::xml_node system) const {
    if (system.name() != std::string_view{"system"})
      throw missing("element 'system'", "NCCL's topology file")
          .at(file_.name(), file_.line_of(system));
    const std::string version = attribute(system, "version");
    if (!version.empty() && version != "1" && version != "2")
      fail(system, {"version", version, "is unknown", "1, or RCCL's 2"});
  }

  /// Collects the GPU numbers in the file and the ignored elements.
  void collect_devices(pugi::xml_node element, int depth) {
    static const std::set<std::string_view> known{
        "cpu", "pci", "gpu", "nic", "net", "nvlink", "xgmi", "c2c", "pcilink"};
    constexpr int most_depth = 200;
    if (depth > most_depth)
      throw InputError{"element", element.name(),
                       fmt::format("is in more than {} others", most_depth), "fewer"}
          .at(file_.name(), file_.line_of(element));
    for (const pugi::xml_node& child : element.children()) {
      if (child.type() != pugi::node_element) continue;
      if (!known.contains(child.name()))
        omissions_.add(fmt::format("element {}", in_quotes(child.name())), child);
      const auto device =
          whole_number(attribute(child, "dev"), 0, TopologyLimits::device.most);
      if (child.name() == std::string_view{"gpu"} && device)
        given_devices_.insert(*device);
      collect_devices(child, depth + 1);
    }
  }

  /// Rejects several hosts: NCCL merges the files of hosts whose GPUs share NVLinks.
  void check_host(pugi::xml_node cpu) {
    if (!first_cpu_) first_cpu_ = cpu;
    const std::string host = attribute(cpu, "host_hash"),
                      first = attribute(first_cpu_, "host_hash");
    if (host != first)
      fail(cpu, {"host_hash", host,
                 fmt::format("differs from {} of the first host", in_quotes(first)),
                 "the file of one host"});
  }

  /// The unique NUMA domain of a processor; -1 (a machine without NUMA) becomes 0.
  std::string number_of(pugi::xml_node cpu) {
    std::string domain =
        std::to_string(std::max(0, number(cpu, "numaid", -1, assumptions::last_domain)));
    if (!domains_.emplace(attribute(cpu, "host_hash"), domain).second)
      fail(cpu, {"numaid", domain, "is another cpu's", "a number of its own"});
    return domain;
  }

  /// If only the width is unknown, 16 lanes are assumed, as in NCCL.
  std::pair<Rate, std::string> rate_of(pugi::xml_node pci) const {
    constexpr int usual_lanes = 16;
    const std::string speed = attribute(pci, "link_speed"),
                      width = attribute(pci, "link_width");
    const auto transfers = pcie_transfers(speed);
    const auto lanes = pcie_lanes(width);
    if (!transfers)
      fail(pci, {"link_speed", speed, "is unknown",
                 fmt::format("{} GT/s, or 'Unknown'",
                             fmt::join(assumptions::pcie_transfers, ", "))});
    if (!lanes)
      fail(pci,
           {"link_width", width, "is unknown",
            fmt::format("{} lanes, or 0", fmt::join(assumptions::pcie_widths, ", "))});
    if (*transfers == 0) return {rates_.pcie, assumed_rates};
    if (*lanes == 0)
      return {pcie_payload(*transfers, usual_lanes) * reached, assumed_rates};
    return {pcie_payload(*transfers, *lanes) * reached, nccl_source};
  }

  void add_children(pugi::xml_node parent, VertexId above, VertexId socket) {
    for (const pugi::xml_node& nic : parent.children("nic"))
      omissions_.add("network card", nic);
    for (const pugi::xml_node& pci : parent.children("pci")) {
      check_class(pci);
      if (is_gpu(pci))
        add_gpu_below(pci, above, socket);
      else if (has_gpu(pci))
        add_switch(pci, above, socket);
      else
        count_device(pci);
    }
  }

  void add_gpu_below(pugi::xml_node pci, VertexId above, VertexId socket) {
    const auto [rate, source] = rate_of(pci);
    const Gpu& added = add_gpu(pci);
    if (!add_coherent_links(added, socket))
      machine_.join(above, added.vertex, rate, gpu_latency, source);
  }

  void add_switch(pugi::xml_node pci, VertexId above, VertexId socket) {
    const auto [rate, source] = rate_of(pci);
    const VertexId vertex =
        machine_.add_switch(fmt::format("pci{}", bridges_.size()), nccl_source);
    bridges_.push_back({pci, vertex});
    by_bus_.emplace(bus_of(pci), vertex);
    machine_.join(above, vertex, rate, assumptions::pcie_switch_latency, source);
    add_children(pci, vertex, socket);
  }

  /// Requires a class if no other data identify the device.
  void check_class(pugi::xml_node pci) const {
    const std::string text = attribute(pci, "class");
    const bool needed = !is_gpu(pci) && !has_gpu(pci) && !pci.child("nic");
    if (!pci_class(text) && (needed || !text.empty()))
      fail(pci,
           {"class", text, "is not a PCI class", "such as 0x0302, 0x12, 0x02 or 0x0604"});
  }

  void count_device(pugi::xml_node pci) {
    const bool card =
        pci.child("nic") || pci_class(attribute(pci, "class")) == PciClass::network;
    omissions_.add(card ? "network card" : "PCI device other than a GPU", pci);
    count_devices(pci);
  }

  void count_devices(pugi::xml_node parent) {
    for (const pugi::xml_node& pci : parent.children("pci")) {
      check_class(pci);
      count_device(pci);
    }
  }

  /// The unique address of a GPU or a switch.
  uint64_t bus_of(pugi::xml_node pci) const {
    const std::string bus = attribute(pci, "busid");
    const auto address = pci_address(bus);
    if (!address)
      fail(pci, {"busid", bus, "is not an address of PCI", "such as 0000:06:00.0"});
    if (by_bus_.contains(*address))
      fail(pci, {"busid", bus, "is another device's", "one of its own"});
    return *address;
  }

  /// Total rate of one GPU; none if the rate of a link is unknown.
  std::optional<Rate> rate_of_c2c(const Gpu& gpu) const {
    Rate sum{0};
    bool known = true;
    for (const pugi::xml_node& link : gpu.element.children("c2c")) {
      const int count = number_if_any(link, "count", 1000),
                megabytes = number_if_any(link, "bw", 10'000'000);
      known = known && count > 0 && megabytes > 0;
      sum = Rate{sum.value + 1e6 * megabytes * count};
    }
    return known ? std::optional{sum * reached} : std::nullopt;
  }

  /// Adds NVLink-C2C (Grace) or NVLinks (POWER9), which connect GPUs to these processors
  /// instead of PCIe.
  bool add_coherent_links(const Gpu& gpu, VertexId socket) {
    if (gpu.element.child("c2c")) {
      const auto rate = rate_of_c2c(gpu);
      machine_.join(socket, gpu.vertex, rate.value_or(rates_.c2c), gpu_latency,
                    rate ? nccl_source : assumed_rates);
      return true;
    }
    int links = 0;
    for (const pugi::xml_node& link : gpu.element.children("nvlink"))
      if (leads_to_processor(link)) links += count_of(link);
    if (links == 0) return false;
    const LinkUnit unit = nvlink_unit(gpu);
    machine_.join(socket, gpu.vertex, unit.rate * links, nvlink_latency * 2, unit.source);
    return true;
  }

  const Gpu& add_gpu(pugi::xml_node pci) {
    constexpr int most_capability = 999;  // 99.9
    constexpr size_t most_gpus = TopologyLimits::memories / 2;
    if (gpus_.size() >= most_gpus)
      fail(pci, fault_of("", "too many GPUs", fmt::format("at most {}", most_gpus)));
    const pugi::xml_node gpu = pci.child("gpu");
    const int device = gpu ? given_device(gpu) : next_device();
    const uint64_t address = bus_of(pci);
    const VertexId vertex =
        machine_.add_gpu(fmt::format("gpu{}", device), device, nccl_source);
    by_bus_.emplace(address, vertex);
    const int sm =
        attribute(gpu, "sm").empty() ? 0 : number(gpu, "sm", 10, most_capability);
    gpus_.push_back(
        {vertex, gpu ? gpu : pci, sm, gcn_architecture(attribute(gpu, "gcn"))});
    return gpus_.back();
  }

  int given_device(pugi::xml_node gpu) {
    const int device = number(gpu, "dev", 0, TopologyLimits::device.most);
    if (!devices_.insert(device).second)
      fail(gpu,
           {"dev", std::to_string(device), "is another GPU's", "a number of its own"});
    return device;
  }

  /// Numbers GPUs without a number in the order of the file.
  int next_device() {
    while (given_devices_.contains(next_device_)) ++next_device_;
    return next_device_++;
  }

  int count_of(pugi::xml_node link) const {
    return number(link, "count", 1, assumptions::most_nvlinks);
  }

  /// A rate given by the user applies to all links.
  LinkUnit link_unit(const std::string& key, Rate rate, Source::Kind kind,
                     const std::string& text) {
    if (rates_.nvlink)
      link_sources_[key] = {key, Source::Kind::assumed,
                            fmt::format("one link has {}, as given to the import",
                                        to_text(*rates_.nvlink))};
    else
      link_sources_[key] = {key, kind, text};
    return {rates_.nvlink.value_or(rate), key};
  }

  LinkUnit nvlink_unit(const Gpu& gpu) {
    const Rate nominal = nvlink_of(gpu.sm);
    const std::string sm = gpu.sm == 0 ? "" : fmt::format("sm {}", gpu.sm);
    return link_unit(
        sm.empty() ? "NVLink" : "NVLink of " + sm, nominal * reached,
        Source::Kind::assumed,
        fmt::format("one NVLink has {} in one direction, nominal ({}); {} of it is "
                    "reached, as by an H200",
                    to_text(nominal),
                    sm.empty() ? "the file has no sm: generation 2 to 4" : sm, reached));
  }

  LinkUnit xgmi_unit(const Gpu& gpu, pugi::xml_node link) {
    const auto& rates = assumptions::xgmi_links;
    const auto known =
        std::ranges::find(rates, gpu.gcn, [](const auto& row) { return row.first; });
    const bool is_known = known != rates.end();
    std::vector<std::string_view> kinds;
    for (const auto& [kind, _] : rates) kinds.push_back(kind);
    if (!is_known && !rates_.nvlink)
      fail(link, {"gcn", gpu.gcn, "of the GPU has no known link rate",
                  fmt::format("{}, or a given link rate", fmt::join(kinds, ", "))});
    return link_unit(gpu.gcn.empty() ? "xGMI" : "xGMI of " + gpu.gcn,
                     is_known ? known->second : Rate{0}, Source::Kind::published,
                     "one xGMI link of this GPU has this rate in one direction, as RCCL "
                     "counts it (ncclTopoXGMISpeed "
                     "in its src/graph/topo.h)");
  }

  /// Adds the links of a GPU: one direction to each peer, from the GPU's own entry, and
  /// both directions to switches, all in one link.
  void add_gpu_links(Gpu& gpu) {
    int to_switch = 0;
    for (const pugi::xml_node& link : gpu.element.children()) {
      if (!is_nvlink(link) && link.name() != std::string_view{"xgmi"}) continue;
      const int count = count_of(link);
      if (!add_peer_links(gpu, link, count)) to_switch += count;
    }
    for (const auto& [peer, links] : gpu.to_peers)
      machine_.link_peers(gpu.vertex, peer, links.rate, nvlink_latency * 2, links.source);
    if (to_switch == 0) return;
    if (!nvswitch_) nvswitch_ = machine_.add_switch("nvsw", nccl_source);
    const LinkUnit unit = nvlink_unit(gpu);
    machine_.join(gpu.vertex, *nvswitch_, unit.rate * to_switch, nvlink_latency,
                  unit.source);
  }

  /// Whether the link leads to a GPU in the file, to a missing GPU or to the processor,
  /// instead of a switch. The target takes precedence over its class, because NCCL
  /// guesses a class that it cannot read.
  bool add_peer_links(Gpu& gpu, pugi::xml_node link, int count) {
    const std::string target = attribute(link, "target"),
                      tclass = attribute(link, "tclass");
    const auto kind = pci_class(tclass);
    if (is_nvlink(link) && kind == PciClass::processor)
      return true;  // see add_coherent_links
    const auto address = pci_address(target);
    const auto peer = address ? by_bus_.find(*address) : by_bus_.end();
    if (peer != by_bus_.end()) {
      add_links_between(gpu, peer->second, link, count);
      return true;
    }
    if (kind == PciClass::gpu || (!is_nvlink(link) && tclass.empty())) {
      omissions_.add(fmt::format("{} to a GPU that the file does not have", link.name()),
                     link, count);
      return true;
    }
    if (!is_nvlink(link) || (!tclass.empty() && kind != PciClass::nvswitch))
      fail(link, {"tclass", tclass, "is unknown",
                  "0x03 or 0x12 (GPU); in an nvlink also 0x068000 (NVSwitch) or 0x068001 "
                  "(processor)"});
    return false;
  }

  void add_links_between(Gpu& gpu, VertexId peer, pugi::xml_node link, int count) {
    if (peer == gpu.vertex || std::ranges::find(gpus_, peer, &Gpu::vertex) == gpus_.end())
      fail(link, {"target", attribute(link, "target"),
                  "is the GPU itself, or a PCIe switch", "another GPU"});
    const LinkUnit unit = is_nvlink(link) ? nvlink_unit(gpu) : xgmi_unit(gpu, link);
    PeerLinks& links = gpu.to_peers[peer];
    links.count += count;
    links.rate = unit.rate * links.count;
    links.source = unit.source;
  }

  /// Every link must appear in both directions.
  void check_both_directions() const {
    const auto name = [&](const Gpu& gpu) {
      return machine_.description().vertices[gpu.vertex.index()].name;
    };
    const auto links = [](const Gpu& from, const Gpu& to) {
      const auto known = from.to_peers.find(to.vertex);
      return known == from.to_peers.end() ? 0 : known->second.count;
    };
    for (const Gpu& gpu : gpus_)
      for (const Gpu& peer : gpus_)
        if (const int there = links(gpu, peer), back = links(peer, gpu); there > back)
          fail(gpu.element, fault_of(name(gpu),
                                     fmt::format("has {} links to {}, which has {} back",
                                                 there, name(peer), back),
                                     "as many"));
  }

  /// Joins switches that are parts of one chip.
  void add_pcilinks(const Bridge& bridge) {
    for (const pugi::xml_node& link : bridge.element.children("pcilink")) {
      const std::string target = attribute(link, "target");
      const auto address = pci_address(target);
      if (!address)
        fail(link,
             {"target", target, "is not an address of PCI", "such as 0000:06:00.0"});
      const auto other = by_bus_.find(*address);
      if (other == by_bus_.end())
        omissions_.add("pcilink to a switch that no GPU is below", link);
      else
        join_bridges(bridge, other->second, link);
    }
  }

  void join_bridges(const Bridge& bridge, VertexId other, pugi::xml_node link) {
    if (other == bridge.vertex ||
        std::ranges::find(bridges_, other, &Bridge::vertex) == bridges_.end())
      fail(link, {"target", attribute(link, "target"), "is the switch itself, or a GPU",
                  "another PCIe switch"});
    if (!joined_.insert(std::minmax(bridge.vertex, other)).second) return;
    machine_.join(bridge.vertex, other, assumptions::within_switch,
                  assumptions::pcie_switch_latency, assumed_rates);
  }

  void add_sources() {
    const std::string missing = omissions_.text();
    machine_.source(
        nccl_source, Source::Kind::measured,
        fmt::format("the topology file: devices, speed and width of PCIe, links and rate "
                    "of NVLink-C2C; {} of their rates is reached, as by an H200; "
                    "latencies assumed{}{}",
                    reached, missing.empty() ? "" : "; not in this machine: ", missing));
    machine_.source(assumed_rates, Source::Kind::assumed,
                    "the topology file contains no rates of host memories and sockets; "
                    "not every speed of PCIe");
    for (const auto& [key, source] : link_sources_)
      machine_.source(key, source.kind, source.text);
  }

  const XmlFile& file_;
  ImportRates rates_;
  MachineBuilder machine_;
  Omissions omissions_{file_};
  std::vector<Gpu> gpus_;
  std::vector<Bridge> bridges_;
  std::set<std::pair<std::string, std::string>> domains_;  // host_hash and domain number
  pugi::xml_node first_cpu_;
  std::set<int> given_devices_, devices_;
  int next_device_ = 0;
  std::map<uint64_t, VertexId> by_bus_;  // GPUs and switches
  std::set<std::pair<VertexId, VertexId>> joined_;
  std::optional<VertexId> nvswitch_;
  std::map<std::string, Source> link_sources_;
};

}  // namespace

Topology::Description import_nccl_xml(std::string_view text, const std::string& name,
                                      const GpuKind& kind, const ImportRates& rates) {
  const XmlFile file{text, name};
  return Importer{file, kind, rates}.import();
}

}  // namespace tilerail
