#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/base/error.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/link_rates.hpp"
#include "model/import/link_values.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/nccl_elements.hpp"
#include "model/import/xml_text.hpp"

namespace tilerail {
namespace {

using assumptions::gpu_latency, assumptions::nvlink_latency;
const std::string told = "NCCL", assumed = "assumed rates";

class Importer {
 public:
  Importer(const XmlFile& file, const GpuKind& kind, const ImportRates& rates, bool amd)
      : file_{file},
        rates_{rates},
        link_rates_{rates.nvlink},
        machine_{"nccl",
                 amd ? "as RCCL's topology file describes it: AMD GPUs, for simulations only"
                     : "as NCCL's topology file describes it",
                 kind} {}

  Topology::Description import() {
    const pugi::xml_node system = checked_system();
    collect_devices(system);
    std::vector<MachineBuilder::Domain> domains;
    for (const pugi::xml_node& cpu : system.children("cpu")) {
      check_domain(cpu);
      if (!has_gpu(cpu)) {
        left_out_.add("cpu without GPUs", cpu);
        count_devices(cpu);
        continue;
      }
      check_host(cpu);
      const NodeId domain = machine_.add_domain(number_of(cpu), rates_.host(is_coherent(cpu)), assumed);
      domains.push_back({domain, domains.size()});
      add_children(cpu, domain, domain);
    }
    if (gpus_.empty())
      throw InputError{"there is no element 'pci' with a 'gpu' or the class of one, 0x03 or 0x12", "one for each GPU"}
          .at(file_.name());
    machine_.join_domains(domains, rates_.sockets, assumed);
    add_links();
    add_sources();
    return machine_.description();
  }

 private:
  /// What NVLinks or xGMI links to one GPU have in all.
  struct PeerLinks {
    int count = 0;
    Rate rate{0};
    std::string source = {};
  };
  struct Gpu {
    NodeId node;
    pugi::xml_node element;  // 'gpu', or the 'pci' of one that has none
    std::string bus, sm, gcn;
    std::map<NodeId, PeerLinks> to_peers = {};
  };

  /// Whether a GPU reaches this processor by NVLink or NVLink-C2C.
  static bool is_coherent(pugi::xml_node cpu) {
    return !cpu.find_node([](pugi::xml_node node) {
                 return node.name() == std::string_view{"c2c"} || (is_nvlink(node) && leads_to_processor(node));
               })
                .empty();
  }

  [[noreturn]] void fail(pugi::xml_node element, const std::string& message) const { file_.fail(element, message); }

  /// NCCL's files have version 1, RCCL's version 2.
  pugi::xml_node checked_system() {
    const pugi::xml_node system = file_.root();
    if (system.name() != std::string_view{"system"})
      fail(system, "there is no element 'system'; expected NCCL's topology file");
    const std::string version = attribute(system, "version");
    if (!version.empty() && version != "1" && version != "2")
      fail(system, fmt::format("system: version {} is unknown; expected 1, or RCCL's 2", in_quotes(version)));
    return system;
  }

  static bool is_gpu(pugi::xml_node pci) {
    return pci.child("gpu") || pci_class(attribute(pci, "class")) == PciClass::gpu;
  }

  static bool has_gpu(pugi::xml_node element) {
    const auto pcis = element.children("pci");
    return std::ranges::any_of(pcis, [](pugi::xml_node pci) { return is_gpu(pci) || has_gpu(pci); });
  }

  /// Collects the numbers of GPUs in the file, and the elements that the import leaves out.
  void collect_devices(pugi::xml_node element) {
    static const std::set<std::string_view> known{"cpu",    "pci",  "gpu", "nic",    "net",
                                                  "nvlink", "xgmi", "c2c", "pcilink"};
    for (const pugi::xml_node& child : element.children())
      if (!known.contains(child.name())) left_out_.add(fmt::format("element {}", in_quotes(child.name())), child);
    for (const pugi::xml_node& gpu : element.children("gpu"))
      if (const auto number = device_number(attribute(gpu, "dev"))) told_devices_.insert(*number);
    for (const pugi::xml_node& child : element.children()) collect_devices(child);
  }

  static std::optional<int> device_number(const std::string& text) {
    return whole_number(text, TopologyLimits::device.least, TopologyLimits::device.most);
  }

  /// NCCL joins the files of hosts whose GPUs share NVLinks.
  void check_host(pugi::xml_node cpu) {
    const std::string host = attribute(cpu, "host_hash");
    if (hosts_.insert(host).second && hosts_.size() > 1)
      fail(cpu, fmt::format("cpu: host_hash {} is that of another host than {}; expected the file of one host",
                            in_quotes(host), in_quotes(attribute(first_cpu_, "host_hash"))));
    if (!first_cpu_) first_cpu_ = cpu;
  }

  /// Of a cpu that check_domain passed; 0 of a machine without NUMA domains.
  static std::string number_of(pugi::xml_node cpu) {
    return std::to_string(std::max(0, *whole_number(attribute(cpu, "numaid"), -1, assumptions::last_domain)));
  }

  /// Each NUMA domain of a host once; -1 is that of a machine that has none.
  void check_domain(pugi::xml_node cpu) {
    const std::string number = attribute(cpu, "numaid");
    if (!whole_number(number, -1, assumptions::last_domain))
      fail(cpu, fmt::format("cpu: numaid {} is no number of a NUMA domain; expected -1 to {}", in_quotes(number),
                            assumptions::last_domain));
    if (!domains_.emplace(attribute(cpu, "host_hash"), number_of(cpu)).second)
      fail(cpu, fmt::format("cpu: numaid {} is another cpu's; expected a number of its own", in_quotes(number)));
  }

  /// Where the width alone is unknown, 16 lanes are assumed, as NCCL does.
  std::pair<Rate, std::string> rate_of(pugi::xml_node pci) const {
    const std::string speed = attribute(pci, "link_speed"), width = attribute(pci, "link_width");
    const auto refuse = [&](const char* name, const std::string& value, const std::string& expected) {
      fail(pci, fmt::format("pci at {}: {} {} is unknown; expected {}", in_quotes(attribute(pci, "busid")), name,
                            in_quotes(value), expected));
    };
    if (!is_pcie_speed(speed)) refuse("link_speed", speed, expected_pcie_speed());
    if (!is_pcie_width(width)) refuse("link_width", width, expected_pcie_width());
    if (const auto payload = pcie_payload(speed, width)) return {*payload * assumptions::reached, told};
    if (const auto payload = pcie_payload(speed, "16")) return {*payload * assumptions::reached, assumed};
    return {rates_.pcie, assumed};
  }

  void add_children(pugi::xml_node parent, NodeId above, NodeId socket) {
    for (const pugi::xml_node& nic : parent.children("nic")) left_out_.add("network card", nic);
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

  void add_gpu_below(pugi::xml_node pci, NodeId above, NodeId socket) {
    const auto [rate, source] = rate_of(pci);
    const Gpu& added = add_gpu(pci);
    if (!add_coherent_links(added, socket)) machine_.join(above, added.node, rate, gpu_latency, source);
  }

  void add_switch(pugi::xml_node pci, NodeId above, NodeId socket) {
    const auto [rate, source] = rate_of(pci);
    const NodeId node = machine_.add_switch(fmt::format("pci{}", bridges_.size()), told);
    bridges_.push_back({pci, node});
    by_bus_.emplace(bus_of(pci), node);
    machine_.join(above, node, rate, assumptions::pcie_switch_latency, source);
    add_children(pci, node, socket);
  }

  /// A class that says what the device is, where nothing else does.
  void check_class(pugi::xml_node pci) const {
    const std::string text = attribute(pci, "class"), bus = in_quotes(attribute(pci, "busid"));
    const auto known = pci_class(text);
    const bool needed = !is_gpu(pci) && !has_gpu(pci) && !pci.child("nic");
    if (!known && (needed || !text.empty()))
      fail(pci, fmt::format("pci at {}: class {} is not a PCI class; expected such as 0x0302, 0x12, 0x02 or 0x0604",
                            bus, in_quotes(text)));
    if (count(pci, "gpu") > 1) fail(pci, fmt::format("pci at {}: 'gpu' is there twice; expected one", bus));
    if (is_gpu(pci) && (pci.child("pci") || pci.child("pcilink")))
      fail(pci, fmt::format("pci at {}: is a GPU with other devices below it or links to them; expected none", bus));
    if (known == PciClass::network && has_gpu(pci))
      fail(pci, fmt::format("pci at {}: GPUs are below a device of class {}; expected a bridge, 0x0604", bus,
                            in_quotes(text)));
  }

  void count_device(pugi::xml_node pci) {
    const bool card = pci.child("nic") || pci_class(attribute(pci, "class")) == PciClass::network;
    left_out_.add(card ? "network card" : "PCI device that is no GPU", pci);
    count_devices(pci);
  }

  void count_devices(pugi::xml_node parent) {
    for (const pugi::xml_node& pci : parent.children("pci")) {
      check_class(pci);
      count_device(pci);
    }
  }

  /// The address of a GPU or a switch, which nothing else has.
  uint64_t bus_of(pugi::xml_node pci) const {
    const std::string bus = attribute(pci, "busid");
    if (bus.empty()) fail(pci, "pci: busid of a GPU, or of what has GPUs below it, is missing; expected one");
    const auto address = pci_address(bus);
    if (!address)
      fail(pci, fmt::format("pci: busid {} is no address of PCI; expected such as 0000:06:00.0", in_quotes(bus)));
    if (by_bus_.contains(*address))
      fail(pci, fmt::format("pci: busid {} is another device's; expected one of its own", in_quotes(bus)));
    return *address;
  }

  /// NCCL writes 0 for what it does not know.
  int number_of_c2c(pugi::xml_node link, const char* name, int most) const {
    const std::string text = attribute(link, name);
    const auto number = text.empty() ? 0 : whole_number(text, 0, most);
    if (!number) fail(link, fmt::format("c2c: {} {} is no number; expected 0 to {}", name, in_quotes(text), most));
    return *number;
  }

  /// All of one GPU; nothing where the rate of one is unknown.
  std::optional<Rate> rate_of_c2c(const Gpu& gpu) const {
    Rate sum{0};
    bool known = true;
    for (const pugi::xml_node& link : gpu.element.children("c2c")) {
      const int count = number_of_c2c(link, "count", 1000), megabytes = number_of_c2c(link, "bw", 10'000'000);
      known = known && count > 0 && megabytes > 0;
      sum = Rate{sum.value + 1e6 * megabytes * count};
    }
    return known ? std::optional{sum * assumptions::reached} : std::nullopt;
  }

  /// NVLink-C2C of a Grace, or NVLinks of a POWER9: GPUs reach these processors by them instead of PCIe.
  bool add_coherent_links(const Gpu& gpu, NodeId socket) {
    if (gpu.element.child("c2c")) {
      const auto rate = rate_of_c2c(gpu);
      machine_.join(socket, gpu.node, rate.value_or(rates_.c2c), gpu_latency, rate ? told : assumed);
      return true;
    }
    int links = 0;
    for (const pugi::xml_node& link : gpu.element.children("nvlink"))
      if (leads_to_processor(link)) links += count_of(link);
    if (links == 0) return false;
    const LinkUnit unit = link_rates_.nvlink(gpu.sm);
    machine_.join(socket, gpu.node, unit.rate * links, nvlink_latency * 2, unit.source);
    return true;
  }

  const Gpu& add_gpu(pugi::xml_node pci) {
    const pugi::xml_node gpu = pci.child("gpu");
    const std::string bus = attribute(pci, "busid");
    const int device = gpu ? told_device(gpu, bus) : next_device();
    if (gpus_.size() >= TopologyLimits::memories / 2)
      fail(pci, fmt::format("too many GPUs; expected at most {}", TopologyLimits::memories / 2));
    const uint64_t address = bus_of(pci);
    const NodeId node = machine_.add_gpu(fmt::format("gpu{}", device), device, told);
    by_bus_.emplace(address, node);
    gpus_.push_back({node, gpu ? gpu : pci, bus, attribute(gpu, "sm"), gcn_architecture(attribute(gpu, "gcn"))});
    if (const std::string& sm = gpus_.back().sm; !is_compute_capability(sm))
      fail(gpu, fmt::format("gpu at {}: sm {} is no compute capability; expected ten times it, as 90 of 9.0",
                            in_quotes(bus), in_quotes(sm)));
    return gpus_.back();
  }

  int told_device(pugi::xml_node gpu, const std::string& bus) {
    const std::string dev = attribute(gpu, "dev");
    const auto device = device_number(dev);
    if (!device)
      fail(gpu, fmt::format("gpu at {}: dev {} is no number of a GPU; expected {}", in_quotes(bus), in_quotes(dev),
                            TopologyLimits::device.text));
    if (!devices_.insert(*device).second)
      fail(gpu,
           fmt::format("gpu at {}: dev '{}' is another GPU's; expected a number of its own", in_quotes(bus), *device));
    return *device;
  }

  /// GPUs that the file does not number are numbered in its order.
  int next_device() {
    while (told_devices_.contains(next_device_)) ++next_device_;
    return next_device_++;
  }

  int count_of(pugi::xml_node link) const {
    const auto count = whole_number(attribute(link, "count"), 1, assumptions::most_nvlinks);
    if (!count)
      fail(link, fmt::format("{} to {}: count {} is no number of links; expected 1 to {}", link.name(),
                             in_quotes(attribute(link, "target")), in_quotes(attribute(link, "count")),
                             assumptions::most_nvlinks));
    return *count;
  }

  static bool is_nvlink(pugi::xml_node link) { return link.name() == std::string_view{"nvlink"}; }

  static bool leads_to_processor(pugi::xml_node link) {
    return pci_class(attribute(link, "tclass")) == PciClass::processor;
  }

  LinkUnit unit_of(const Gpu& gpu, pugi::xml_node link) {
    if (is_nvlink(link)) return link_rates_.nvlink(gpu.sm);
    const auto known = link_rates_.xgmi(gpu.gcn);
    if (!known)
      fail(link, fmt::format("xgmi: the rate of a link of a GPU whose gcn is {} is unknown; expected {}, or a given "
                             "rate of one link",
                             in_quotes(gpu.gcn), fmt::join(xgmi_architectures(), ", ")));
    return *known;
  }

  void add_links() {
    for (Gpu& gpu : gpus_) add_gpu_links(gpu);
    check_both_directions();
    for (const Bridge& bridge : bridges_) add_pcilinks(bridge);
  }

  /// To another GPU, those that its own entry counts, in one direction; to switches all together.
  void add_gpu_links(Gpu& gpu) {
    if (gpu.element.child("nvlink") && gpu.element.child("xgmi"))
      fail(gpu.element, fmt::format("gpu at {}: has NVLinks and xGMI links; expected one of them", in_quotes(gpu.bus)));
    int to_switch = 0, nvlinks = 0;
    for (const pugi::xml_node& link : gpu.element.children()) {
      if (!is_nvlink(link) && link.name() != std::string_view{"xgmi"}) continue;
      const int count = count_of(link);
      nvlinks += is_nvlink(link) ? count : 0;
      if (!add_peer_links(gpu, link, count)) to_switch += count;
    }
    if (nvlinks > assumptions::most_nvlinks)
      fail(gpu.element, fmt::format("gpu at {}: {} NVLinks in all; expected at most {}", in_quotes(gpu.bus), nvlinks,
                                    assumptions::most_nvlinks));
    for (const auto& [peer, links] : gpu.to_peers)
      machine_.link_peers(gpu.node, peer, links.rate, nvlink_latency * 2, links.source);
    if (to_switch == 0) return;
    if (!nvswitch_) nvswitch_ = machine_.add_switch("nvsw", told);
    const LinkUnit unit = link_rates_.nvlink(gpu.sm);
    machine_.join(gpu.node, *nvswitch_, unit.rate * to_switch, nvlink_latency, unit.source);
  }

  /// Whether they lead elsewhere than to a switch: to a GPU of the file, to one that is not in it, to the processor.
  /// What the target is counts more than its class, which NCCL guesses where it cannot read it.
  bool add_peer_links(Gpu& gpu, pugi::xml_node link, int count) {
    const std::string target = attribute(link, "target"), tclass = attribute(link, "tclass");
    const auto kind = pci_class(tclass);
    if (is_nvlink(link) && kind == PciClass::processor) return true;  // add_coherent_links
    const auto address = pci_address(target);
    const auto peer = address ? by_bus_.find(*address) : by_bus_.end();
    if (peer != by_bus_.end()) {
      add_links_between(gpu, peer->second, link, count);
      return true;
    }
    if (kind == PciClass::gpu || (!is_nvlink(link) && tclass.empty())) {
      left_out_.add(fmt::format("{} to a GPU that the file does not have", link.name()), link, count);
      return true;
    }
    const bool to_switch = is_nvlink(link) && (tclass.empty() || kind == PciClass::nvswitch);
    if (!to_switch)
      fail(link, fmt::format("{} to {}: tclass {} is unknown; expected 0x03 or 0x12 of a GPU{}", link.name(),
                             in_quotes(target), in_quotes(tclass),
                             is_nvlink(link) ? ", 0x068000 of an NVSwitch or 0x068001 of a processor" : ""));
    return false;
  }

  void add_links_between(Gpu& gpu, NodeId peer, pugi::xml_node link, int count) {
    const bool is_peer = std::ranges::find(gpus_, peer, &Gpu::node) != gpus_.end() && peer != gpu.node;
    if (!is_peer)
      fail(link, fmt::format("{} to {}: is the GPU itself, or a PCIe switch; expected another GPU", link.name(),
                             in_quotes(attribute(link, "target"))));
    const LinkUnit unit = unit_of(gpu, link);
    PeerLinks& links = gpu.to_peers[peer];
    links.count += count;
    links.rate = unit.rate * links.count;
    links.source = unit.source;
  }

  /// Each link has both directions.
  void check_both_directions() const {
    const auto links = [](const Gpu& from, const Gpu& to) {
      const auto known = from.to_peers.find(to.node);
      return known == from.to_peers.end() ? 0 : known->second.count;
    };
    for (const Gpu& gpu : gpus_)
      for (const Gpu& peer : gpus_)
        if (const int there = links(gpu, peer), back = links(peer, gpu); there > back)
          fail(gpu.element, fmt::format("gpu at {}: {} {} to the one at {}, which has {} to it; expected as many",
                                        in_quotes(gpu.bus), there, gpu.gcn.empty() ? "NVLinks" : "xGMI links",
                                        in_quotes(peer.bus), back));
  }

  struct Bridge {
    pugi::xml_node element;
    NodeId node;
  };

  /// Switches that are parts of one chip.
  void add_pcilinks(const Bridge& bridge) {
    for (const pugi::xml_node& link : bridge.element.children("pcilink")) {
      const std::string target = attribute(link, "target");
      const auto address = pci_address(target);
      if (!address)
        fail(link,
             fmt::format("pcilink: target {} is no address of PCI; expected such as 0000:06:00.0", in_quotes(target)));
      const auto other = by_bus_.find(*address);
      if (other == by_bus_.end())
        left_out_.add("pcilink to a switch that no GPU is below", link);
      else
        join_bridges(bridge, other->second, link);
    }
  }

  void join_bridges(const Bridge& bridge, NodeId other, pugi::xml_node link) {
    const bool is_bridge = std::ranges::find(bridges_, other, &Bridge::node) != bridges_.end() && other != bridge.node;
    if (!is_bridge)
      fail(link, fmt::format("pcilink: target {} is the switch itself, or a GPU; expected another PCIe switch",
                             in_quotes(attribute(link, "target"))));
    if (!joined_.insert(std::minmax(bridge.node, other)).second) return;
    machine_.join(bridge.node, other, assumptions::within_switch, assumptions::pcie_switch_latency, assumed);
  }

  void add_sources() {
    const std::string missing = left_out_.text();
    machine_.source(
        told, Source::Kind::measured,
        fmt::format("the topology file: what there is, speed and width of PCIe, links and rate of NVLink-C2C; {} of "
                    "their rates is reached, as by an H200; latencies assumed{}{}",
                    assumptions::reached, missing.empty() ? "" : "; not in this machine: ", missing));
    machine_.source(assumed, Source::Kind::assumed,
                    "the topology file tells no rates of host memories and sockets, and not every speed of PCIe");
    for (const Source& source : link_rates_.sources()) machine_.source(source.key, source.kind, source.text);
  }

  const XmlFile& file_;
  ImportRates rates_;
  LinkRates link_rates_;
  MachineBuilder machine_;
  LeftOut left_out_{file_};
  std::vector<Gpu> gpus_;
  std::vector<Bridge> bridges_;
  std::set<std::string> hosts_;
  std::set<std::pair<std::string, std::string>> domains_;  // host_hash and number
  pugi::xml_node first_cpu_;
  std::set<int> told_devices_, devices_;
  int next_device_ = 0;
  std::map<uint64_t, NodeId> by_bus_;  // GPUs and switches
  std::set<std::pair<NodeId, NodeId>> joined_;
  std::optional<NodeId> nvswitch_;
};

bool is_of_amd(pugi::xml_node root) {
  return !root.find_node([](pugi::xml_node node) {
                const std::string_view name = node.name();
                return name == "xgmi" || (name == "gpu" && *node.attribute("gcn").value() != 0);
              })
              .empty();
}

}  // namespace

Topology::Description import_nccl_xml(std::string_view text, const std::string& name, const GpuKind& kind,
                                      const ImportRates& rates) {
  const XmlFile file{text, name};
  return Importer{file, kind, rates, is_of_amd(file.root())}.import();
}

}  // namespace tilerail
