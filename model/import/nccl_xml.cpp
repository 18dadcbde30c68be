#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>

#include "model/base/error.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/machine_builder.hpp"
#include "model/import/xml_text.hpp"

namespace tilerail {
namespace {

constexpr Seconds pcie_latency{0.5e-6}, gpu_latency{2e-6}, nvlink_latency{1.3e-6};
const std::string told = "NCCL", assumed = "assumed rates";

/// A number at the begin of a text, "16.0 GT/s PCIe"; nothing without one.
std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && value > 0 ? std::optional{value} : std::nullopt;
}

class Importer {
 public:
  Importer(const std::string& file, const GpuKind& kind, const ImportRates& rates)
      : file_{file}, rates_{rates}, machine_{"nccl", "as NCCL's topology file describes it", kind} {
    machine_.source(told, Source::Kind::measured,
                    "NCCL's topology file: what there is, and speed and width of PCIe; 0.87 "
                    "of its rate is reached, as by an H200; latencies assumed");
    machine_.source(assumed, Source::Kind::assumed,
                    "NCCL's topology file tells no rates of NVLink, host memories and sockets, and not every speed");
  }

  Topology::Description import(const XmlTree& tree) {
    const auto system = tree.get_child_optional("system");
    if (!system)
      throw InputError{fmt::format("{}: there is no element 'system'; expected NCCL's topology file", file_)};
    std::vector<NodeId> sockets;
    for (const auto& [name, cpu] : *system) {
      if (name != "cpu" || !has_gpu(cpu)) continue;
      const std::string domain = std::to_string(sockets.size());
      sockets.push_back(machine_.add_domain(domain, rates_.host_memory, assumed));
      add_children(cpu, sockets.back());
    }
    if (gpus_.empty()) throw InputError{fmt::format("{}: there is no element 'gpu'; expected one for each GPU", file_)};
    machine_.join_all(sockets, rates_.sockets, Seconds{1e-6}, assumed);
    for (const Gpu& gpu : gpus_) add_nvlinks(gpu);
    return machine_.description();
  }

 private:
  struct Gpu {
    NodeId node;
    const XmlTree* element;
  };

  static bool has_gpu(const XmlTree& element) {
    for (const auto& [name, child] : element)
      if (name == "gpu" || (name == "pci" && has_gpu(child))) return true;
    return false;
  }

  /// Speed times width times what the encoding leaves.
  std::pair<Rate, std::string> rate_of(const XmlTree& pci) const {
    constexpr double reached = 0.87;
    const auto speed = number_in(attribute(pci, "link_speed")), width = number_in(attribute(pci, "link_width"));
    if (!speed || !width) return {rates_.pcie, assumed};
    const double payload = *speed < 8 ? 0.8 : 128.0 / 130;
    const Rate rate{*speed * 1e9 * *width / 8 * payload * reached};
    if (!TopologyLimits::rate.holds(rate))
      throw InputError{fmt::format("{}: pci {}: link_speed {} times link_width {} is out of range; expected {}", file_,
                                   in_quotes(attribute(pci, "busid")), in_quotes(attribute(pci, "link_speed")),
                                   in_quotes(attribute(pci, "link_width")), TopologyLimits::rate.text)};
    return {rate, told};
  }

  void add_children(const XmlTree& parent, NodeId above) {
    for (const auto& [name, pci] : parent) {
      if (name != "pci" || !has_gpu(pci)) continue;
      const auto [rate, source] = rate_of(pci);
      if (const auto gpu = pci.get_child_optional("gpu")) {
        machine_.join(above, add_gpu(*gpu, attribute(pci, "busid")), rate, gpu_latency, source);
        continue;
      }
      const NodeId node = machine_.add_switch(fmt::format("pci{}", switches_++), told);
      machine_.join(above, node, rate, pcie_latency, source);
      add_children(pci, node);
    }
  }

  NodeId add_gpu(const XmlTree& gpu, const std::string& bus) {
    const std::string text = attribute(gpu, "dev");
    int device = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), device);
    if (error != std::errc{} || end != text.data() + text.size() || !TopologyLimits::device.holds(device))
      throw InputError{fmt::format("{}: gpu at {}: dev {} is no number of a GPU; expected {}", file_, in_quotes(bus),
                                   in_quotes(text), TopologyLimits::device.text)};
    if (!devices_.insert(device).second)
      throw InputError{fmt::format("{}: gpu at {}: dev '{}' is another GPU's; expected a number of its own", file_,
                                   in_quotes(bus), device)};
    if (gpus_.size() >= TopologyLimits::memories / 2)
      throw InputError{fmt::format("{}: too many GPUs; expected at most {}", file_, TopologyLimits::memories / 2)};
    gpus_.push_back({machine_.add_gpu(fmt::format("gpu{}", device), device, told), &gpu});
    by_bus_.emplace(bus, gpus_.back().node);
    return gpus_.back().node;
  }

  /// To another GPU, those that its own entry counts, in one direction; to a switch (or to what is not in the file),
  /// all together.
  void add_nvlinks(const Gpu& gpu) {
    double to_switch = 0;
    for (const auto& [name, link] : *gpu.element) {
      if (name != "nvlink") continue;
      const auto count = number_in(attribute(link, "count"));
      if (!count || *count > 1000)
        throw InputError{fmt::format("{}: nvlink to {}: count {} is no number; expected 1 to 1000", file_,
                                     in_quotes(attribute(link, "target")), in_quotes(attribute(link, "count")))};
      const auto peer = by_bus_.find(attribute(link, "target"));
      if (peer == by_bus_.end())
        to_switch += *count;
      else if (peer->second != gpu.node)
        machine_.link(gpu.node, peer->second, rates_.nvlink * *count, nvlink_latency * 2, assumed);
    }
    if (to_switch == 0) return;
    if (!nvswitch_) nvswitch_ = machine_.add_switch("nvsw", told);
    machine_.join(gpu.node, *nvswitch_, rates_.nvlink * to_switch, nvlink_latency, assumed);
  }

  const std::string& file_;
  ImportRates rates_;
  MachineBuilder machine_;
  std::vector<Gpu> gpus_;
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
