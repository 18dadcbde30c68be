#include "model/import/nccl_export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/gpu_kind.hpp"
#include "model/import/import.hpp"
#include "model/import/link_rates.hpp"
#include "model/import/link_values.hpp"
#include "model/import/nccl_elements.hpp"
#include "model/import/nccl_tree.hpp"

namespace tilerail {
namespace {

using assumptions::reached;

/// NCCL knows PCIe of generations 1 to 6, of 16 lanes at most.
constexpr int fastest_pcie = 6, widest_pcie = 16;

/// How far rates may be off and still count as equal: nominal rates are published with few digits, 63 for 63.02 GB/s.
constexpr double rounding = 1e-3;

/// Links between GPUs below this part of one NVLink are no NVLinks; those within this part of PCIe are PCIe.
constexpr double near = 0.75;

double off_by(Rate a, Rate b) { return std::abs(std::log(a / b)); }

struct PcieLink {
  std::string speed;  // empty: unknown
  int width = 0;
  Rate rate{0};
};

/// Of equally fast links the widest.
PcieLink nearest_pcie(Rate rate, int generation) {
  PcieLink best;
  for (auto width = assumptions::pcie_widths.rbegin(); width != assumptions::pcie_widths.rend(); ++width)
    for (int i = 0; i < generation && *width <= widest_pcie; ++i) {
      const double transfers = assumptions::pcie_transfers[size_t(i)];
      const std::string speed = fmt::format("{:.1f} GT/s PCIe", transfers);  // as Linux writes it
      const Rate candidate = *pcie_payload(speed, std::to_string(*width)) * reached;
      if (best.width == 0 || off_by(candidate, rate) < off_by(best.rate, rate)) best = {speed, *width, candidate};
    }
  return best;
}

/// Of this generation at most, unless later ones have exactly that rate.
PcieLink pcie_link(Rate rate, int generation) {
  const PcieLink any = nearest_pcie(rate, fastest_pcie);
  return off_by(any.rate, rate) < rounding ? any : nearest_pcie(rate, generation);
}

/// As the text of a comment, in which "--" has no place.
std::string comment_text(std::string text) {
  for (size_t at; (at = text.find("--")) != std::string::npos;) text.replace(at, 2, "- -");
  return text;
}

class Writer {
 public:
  Writer(const Topology& topology, const std::vector<std::string>& addresses)
      : t_{topology}, tree_{nccl_tree(topology)} {
    for (const auto i : indices(addresses)) {
      address_[t_.memory(t_.gpus()[i]).node] = addresses[i];
      used_.insert(addresses[i]);
    }
  }

  std::string system() {
    for (const MemoryId gpu : t_.gpus()) units_.push_back(unit_of(gpu));
    for (const NcclTree::Domain& domain : tree_.domains) give_addresses(domain.below);
    for (const NcclTree::Domain& domain : tree_.domains) add(domain);
    const bool amd = std::ranges::any_of(units_, [](const Unit& unit) { return !unit.gcn.empty(); });
    return fmt::format("<system version=\"{}\">\n{}</system>\n", amd ? 2 : 1, out_);
  }

 private:
  /// What one link of a GPU to other GPUs is.
  struct Unit {
    std::string sm, gcn;
    int pcie = fastest_pcie;
    Rate rate{0};
  };

  /// The unit that the sources of the GPU's outgoing links name; without such a source, by the name of the kernels. A
  /// link between two kinds of GPUs has the source of the GPU where it begins.
  Unit unit_of(MemoryId gpu) const {
    Unit unit;
    if (const assumptions::GpuModel* model = gpu_model(t_.kernels_of(gpu).name))
      unit = {model->sm == 0 ? "" : std::to_string(model->sm), "", model->pcie};
    for (const Link& link : t_.links()) {
      if (link.from != t_.memory(gpu).node) continue;
      if (link.source.starts_with(nvlink_source)) unit.sm = link.source.substr(std::string{nvlink_source}.size());
      if (link.source.starts_with(xgmi_source))
        unit = {"", link.source.substr(std::string{xgmi_source}.size()), unit.pcie};
    }
    LinkRates rates{std::nullopt};
    const auto known = unit.gcn.empty() ? rates.nvlink(unit.sm) : rates.xgmi(unit.gcn);
    if (!known) refuse_nccl(t_, fmt::format("the rate of an xGMI link of {} is unknown", in_quotes(unit.gcn)));
    unit.rate = known->rate;
    return unit;
  }

  const Unit& unit_of_gpu(MemoryId gpu) const {
    return units_[size_t(std::ranges::find(t_.gpus(), gpu) - t_.gpus().begin())];
  }

  std::string next_address() {
    std::string address;
    do {
      ++addresses_;
      address = fmt::format("{:04x}:{:02x}:00.0", addresses_ >> 8, addresses_ & 0xff);
    } while (used_.contains(address));
    return address;
  }

  void give_addresses(const std::vector<NcclTree::Device>& devices) {
    for (const NcclTree::Device& device : devices) {
      if (!address_.contains(device.up.to)) address_[device.up.to] = next_address();
      ports_.emplace(device.up.to, device.up.rate);
      give_addresses(device.below);
    }
  }

  void line(int depth, const std::string& text) { out_ += std::string(size_t(2 * depth), ' ') + text + "\n"; }

  /// NCCL reads the number of a domain; imports make it the number of a host.
  std::string number_of(const NcclTree::Domain& domain) {
    const std::string& name = t_.memory(domain.host).name;
    const std::string digits = name.substr(name.find_last_not_of("0123456789") + 1);
    auto number = whole_number(digits, 0, assumptions::last_domain);
    for (int next = 0; !number || numbers_.contains(*number); ++next) number = next;
    numbers_.insert(*number);
    return std::to_string(*number);
  }

  void add(const NcclTree::Domain& domain) {
    std::string before = std::exchange(out_, "");
    processor_ = "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"25\" modelid=\"17\"";
    for (const NcclTree::Device& device : domain.below) add(device, 2, true);
    const std::string devices = std::exchange(out_, std::move(before));
    line(1, fmt::format("<cpu numaid=\"{}\" {}>", number_of(domain), processor_));
    out_ += devices;
    line(1, "</cpu>");
  }

  void add(const NcclTree::Device& device, int depth, bool at_socket) {
    if (device.gpu)
      add_gpu(device, depth, at_socket);
    else if (has_gpu(device))
      add_switch(device, depth);
  }

  static bool has_gpu(const NcclTree::Device& device) {
    return device.gpu || std::ranges::any_of(device.below, has_gpu);
  }

  /// The latest PCIe of the GPUs there.
  int generation_of(const NcclTree::Device& device) const {
    if (device.gpu) return unit_of_gpu(*device.gpu).pcie;
    int latest = 0;
    for (const NcclTree::Device& below : device.below) latest = std::max(latest, generation_of(below));
    return latest;
  }

  std::string pci(NodeId node, const char* class_code, const PcieLink& link) const {
    return fmt::format("<pci busid=\"{}\" class=\"{}\" link_speed=\"{}\" link_width=\"{}\">", address_.at(node),
                       class_code, link.speed, link.width);
  }

  void add_switch(const NcclTree::Device& device, int depth) {
    line(depth, pci(device.up.to, "0x060400", pcie_link(device.up.rate, generation_of(device))));
    for (const NcclTree::Device& below : device.below) add(below, depth + 1, false);
    if (const auto parts = tree_.parts.find(device.up.to); parts != tree_.parts.end())
      for (const NodeId part : parts->second)
        line(depth + 1, fmt::format("<pcilink target=\"{}\"/>", address_.at(part)));
    line(depth, "</pci>");
  }

  void add_gpu(const NcclTree::Device& device, int depth, bool at_socket) {
    const Unit& unit = unit_of_gpu(*device.gpu);
    std::vector<std::string> links;
    const PcieLink pcie = link_to_host(device.up, unit, at_socket, links);
    add_peers(device.up.to, unit, links);
    line(depth, pci(device.up.to, unit.gcn.empty() ? "0x030200" : "0x120000", pcie));
    std::string gpu = fmt::format("<gpu dev=\"{}\"", t_.memory(*device.gpu).device);
    if (!unit.gcn.empty()) gpu += fmt::format(" gcn=\"{}\"", unit.gcn);
    if (!unit.sm.empty()) gpu += fmt::format(" sm=\"{}\"", unit.sm);
    line(depth + 1, gpu + (links.empty() ? "/>" : ">"));
    for (const std::string& link : links) line(depth + 2, link);
    if (!links.empty()) line(depth + 1, "</gpu>");
    line(depth, "</pci>");
  }

  /// PCIe; what is faster than a GPU's PCIe is NVLinks to the processor (POWER9), or from sm 90 on NVLink-C2C (Grace).
  PcieLink link_to_host(const NcclTree::Link& up, const Unit& unit, bool at_socket, std::vector<std::string>& links) {
    constexpr double faster = 1.1;
    PcieLink pcie = pcie_link(up.rate, unit.pcie);
    const bool is_nvlink = up.source.starts_with(nvlink_source);
    const Rate most = assumptions::pcie_reached(unit.pcie);
    const bool is_pcie = !is_nvlink && (off_by(pcie.rate, up.rate) < rounding || up.rate < most * faster);
    if (!at_socket || is_pcie) return pcie;
    const auto sm = whole_number(unit.sm, 0, 999);
    if (is_nvlink || (sm && *sm < 90)) {
      processor_ = "arch=\"ppc64\"";
      links.push_back(fmt::format("<nvlink target=\"{}\" count=\"{}\" tclass=\"0x068001\"/>", next_address(),
                                  count_of(up.rate, unit)));
    } else {
      processor_ = "arch=\"arm64\"";
      links.push_back(fmt::format("<c2c bw=\"{:.0f}\" count=\"1\"/>", up.rate.value / reached / 1e6));
    }
    return {};
  }

  static int count_of(Rate rate, const Unit& unit) {
    return std::clamp(int(std::lround(rate / unit.rate)), 1, assumptions::most_nvlinks);
  }

  const std::string& name(NodeId node) const { return t_.description().nodes[node.index()].name; }

  /// Whether one group bounds copies with a peer and with the host to what one of them has alone.
  bool share_port(NodeId gpu, const NcclTree::Link& peer) const {
    const Rate most = std::max(peer.rate, ports_.at(gpu)) * assumptions::alike;
    const auto ends_at = [&](LinkId id, const auto& is_end) {
      const Link& link = t_.link(id);
      return (link.from == gpu && is_end(link.to)) || (link.to == gpu && is_end(link.from));
    };
    const auto to_peer = [&](LinkId id) { return ends_at(id, [&](NodeId end) { return end == peer.to; }); };
    const auto to_host = [&](LinkId id) {
      return ends_at(id, [&](NodeId end) { return !tree_.peers.contains(end) && !tree_.switches.contains(end); });
    };
    return std::ranges::any_of(t_.groups(), [&](const CapacityGroup& group) {
      return group.capacity && group.capacity->at(2) <= most && std::ranges::any_of(group.forward, to_peer) &&
             std::ranges::any_of(group.forward, to_host);
    });
  }

  /// Whether a link is no NVLink but the GPU's PCIe, over which copies between GPUs go in the file if nothing else
  /// joins them.
  bool is_pcie_link(NodeId gpu, const NcclTree::Link& peer, const Unit& unit) const {
    if (peer.source.starts_with("NVLink") || peer.source.starts_with("xGMI")) return false;
    const bool slow = peer.rate < unit.rate * near;
    const bool shared = peer.rate <= ports_.at(gpu) * assumptions::alike && share_port(gpu, peer);
    if (!slow && !shared) return false;
    Rate port = ports_.at(gpu);
    if (const auto other = ports_.find(peer.to); other != ports_.end()) port = std::min(port, other->second);
    if (peer.rate < port * near || peer.rate * near > port)
      refuse_nccl(t_, fmt::format("the link between {} and {} ({}) {}, and PCIe there has {}; expected NVLinks, or a "
                                  "link as fast as PCIe",
                                  name(gpu), name(peer.to), brief_text(peer.rate),
                                  slow ? fmt::format("is slower than one NVLink ({})", brief_text(unit.rate))
                                       : std::string{"shares PCIe of the host"},
                                  brief_text(port)));
    return true;
  }

  void set_nvswitch(NodeId node) {
    if (nvswitch_.empty()) nvswitch_ = next_address(), nvswitch_node_ = node;
    if (node != nvswitch_node_)
      refuse_nccl(t_, fmt::format("NVLink switches {} and {}; expected one, to which all GPUs are linked",
                                  name(*nvswitch_node_), name(node)));
  }

  void add_peers(NodeId gpu, const Unit& unit, std::vector<std::string>& links) {
    const auto peers = tree_.peers.find(gpu);
    if (peers == tree_.peers.end()) return;
    int sum = 0;
    for (const NcclTree::Link& peer : peers->second) {
      if (is_pcie_link(gpu, peer, unit)) continue;
      const bool to_switch = tree_.switches.contains(peer.to);
      const int count = count_of(peer.rate, unit);
      sum += count;
      if (to_switch) set_nvswitch(peer.to);
      links.push_back(fmt::format("<{} target=\"{}\" count=\"{}\" tclass=\"{}\"/>",
                                  unit.gcn.empty() ? "nvlink" : "xgmi", to_switch ? nvswitch_ : address_.at(peer.to),
                                  count,
                                  to_switch          ? "0x068000"
                                  : unit.gcn.empty() ? "0x030200"
                                                     : "0x120000"));
    }
    if (sum > assumptions::most_nvlinks)
      refuse_nccl(t_, fmt::format("the links of {} to other GPUs are {} NVLinks; expected at most {}", name(gpu), sum,
                                  assumptions::most_nvlinks));
  }

  const Topology& t_;
  NcclTree tree_;
  std::vector<Unit> units_;  // by GPU
  std::map<NodeId, std::string> address_;
  std::map<NodeId, Rate> ports_;  // of devices: PCIe towards the host
  std::string nvswitch_;          // its address
  std::optional<NodeId> nvswitch_node_;
  std::set<std::string> used_;  // addresses that were given
  unsigned addresses_ = 0;
  std::set<int> numbers_;
  std::string processor_;  // attributes of the cpu that is written
  std::string out_;
};

}  // namespace

std::vector<std::string> pci_addresses(const std::vector<std::string>& texts, size_t gpus) {
  std::vector<std::string> addresses;
  for (const std::string& text : texts) {
    const auto number = pci_address(text);
    if (!number) throw InputError{"", text, "is not an address of PCI", "such as 0000:06:00.0"};
    addresses.push_back(fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *number >> 24, *number >> 16 & 0xff,
                                    *number >> 8 & 0xff, *number & 0xff));
    if (std::ranges::count(addresses, addresses.back()) > 1) throw given_twice("", text);
  }
  if (addresses.size() != gpus)
    throw InputError{fmt::format("{} addresses", addresses.size()),
                     fmt::format("{}, one for each GPU by number", gpus)};
  return addresses;
}

NcclFile to_nccl_xml(const Topology& topology, const std::vector<std::string>& addresses) {
  Writer writer{topology, addresses};
  const std::string system = writer.system();
  NcclFile file;
  file.notes.emplace_back("rates are the nearest that lanes of PCIe and numbers of links have");
  if (const size_t groups = topology.groups().size(); groups > 0)
    file.notes.push_back(fmt::format("capacity groups have no form in the file; the machine has {}", groups));
  file.notes.emplace_back("latencies, rates of host memories and rates between sockets have no form in the file");
  file.text = comment_text(fmt::format("Machine '{}' of TileRail. Addresses of PCI are made up{}.", topology.name(),
                                       addresses.empty() ? "" : ", but not of GPUs"));
  for (const std::string& note : file.notes) file.text += "\n     " + comment_text(note) + ".";
  file.text = "<!-- " + file.text + " -->\n" + system;
  return file;
}

}  // namespace tilerail
