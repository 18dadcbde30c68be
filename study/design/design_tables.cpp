#include "study/design/machine_design.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/machine/topology_writer.hpp"

namespace tilerail::study {
namespace {

/// "gpu[0-7]"; "gpu0" if count is 1.
std::string names(const std::string& stem, size_t count) {
  return count == 1 ? stem + "0" : fmt::format("{}[0-{}]", stem, count - 1);
}

/// The rate with four digits, because it is a product of shares.
std::string rounded_text(Rate rate) {
  constexpr double giga = 1e9, most = 1e12;
  return rate.value < most ? fmt::format("{:.4g} GB/s", rate.value / giga)
                           : to_text(rate);
}

class File {
 public:
  explicit File(const Design& design) : d_{design} {
    for (std::string* key : {&source_, &memory_source_})
      while (std::ranges::find(d_.kind.sources, *key, &Source::key) !=
             d_.kind.sources.end())
        *key += "+";
  }

  std::string text() {
    head();
    hosts();
    if (d_.uplink_gpus > 1) pcie_switches();
    gpus();
    if (d_.nvlink) islands();
    out_ +=
        fmt::format("\n# Kernels, 2-D copies and issue costs: as {}.\n", d_.kind.machine);
    Topology::Description costs;
    costs.sources = d_.kind.sources;
    costs.kernels = {d_.kind.kernels};
    costs.strided = d_.kind.strided;
    costs.issue = d_.kind.issue;
    return out_ + costs_to_toml(costs);
  }

 private:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    out_ += fmt::format(format, std::forward<Arguments>(arguments)...);
  }

  /// Starts a table, after a blank line unless a comment precedes it.
  void table(const char* header) {
    const size_t last = out_.rfind('\n', out_.size() - 2);
    add("{}{}\n", out_[last + 1] == '#' ? "" : "\n", header);
  }

  void head() {
    if (!d_.command.empty()) add("# {}\n", d_.command);
    add("# After changes, 'tilerail topo validate FILE' checks the file, and 'tilerail "
        "topo show FILE' shows derived\n# figures. docs/formats.md explains the keys, "
        "names such as \"gpu[0-7]\" and pairings.\nschema = 1\nname = {}\ndescription = "
        "\"{} GPUs, {} host memories, {} islands\"\n\n[sources]\n",
        toml_text(d_.name), d_.gpus, d_.sockets, d_.nvlink ? d_.islands : 0);
    add("{} = {{ kind = \"assumed\", text = \"a designed machine: rates as requested, "
        "latencies and sharing as usual\" }}\n",
        toml_text(source_));
    out_ += source_to_toml(
        {memory_source_, Source::Kind::assumed, assumptions::host_memory_text});
    for (const Source& source : d_.kind.sources) out_ += source_to_toml(source);
  }

  void link(const std::string& from, const std::string& to, Rate rate, Seconds latency,
            const char* pairing = "all") {
    table("[[link]]");
    add("from = {}\nto = {}\n", toml_text(from), toml_text(to));
    if (std::string{pairing} != "all") add("pairing = \"{}\"\n", pairing);
    add("bandwidth = {}\nlatency = \"{}\"\nboth = true\nsource = {}\n",
        toml_text(to_text(rate)), to_text(latency), toml_text(source_));
  }

  /// Links each source to the destination of the same number, in one direction.
  void one_way(const std::string& from, const std::string& to, Rate rate,
               Seconds latency) {
    table("[[link]]");
    add("from = {}\nto = {}\npairing = \"zip\"\nbandwidth = {}\nlatency = \"{}\"\nsource "
        "= {}\n",
        toml_text(from), toml_text(to), toml_text(rounded_text(rate)), to_text(latency),
        toml_text(memory_source_));
  }

  void switches(const std::string& stem, size_t count) {
    table("[[switch]]");
    add("names = {}\nsource = {}\n", toml_text(names(stem, count)), toml_text(source_));
  }

  /// Links all of these switches to each other.
  void join(const std::string& stem, size_t count, const char* hub, Rate rate,
            Seconds latency) {
    if (count == 1) return;
    if (count <= assumptions::most_in_pairs)
      return link(names(stem, count), names(stem, count), rate, latency);
    add("# More than {}: each has a link to a switch, whose capacity all traffic "
        "shares.\n",
        assumptions::most_in_pairs);
    table("[[switch]]");
    add("name = \"{}\"\nsource = {}\n", hub, toml_text(source_));
    link(names(stem, count), hub, rate, latency);
  }

  /// A group per name that bounds the sum of both directions.
  void both_ways(const std::string& group, const std::string& host,
                 const std::string& cpu, Rate sum) {
    table("[[group]]");
    add("names = {}\nforward = [\"{}->{}\"]\nbackward = [\"{}->{}\"]\nboth_busy = "
        "{}\nforward_share = {}\n"
        "source = {}\n",
        toml_text(group), host, cpu, cpu, host, toml_text(rounded_text(sum)),
        d_.host_memory.read_share, toml_text(memory_source_));
  }

  void one_way_of_all(const char* group, const std::string& from, const std::string& to,
                      Rate sum) {
    table("[[group]]");
    add("name = \"{}\"\nforward = [\"{}->{}\"]\ncapacity = {}\nsource = {}\n", group,
        from, to, toml_text(rounded_text(sum)), toml_text(memory_source_));
  }

  /// All host memories together are slower than the sum of their rates.
  void all_hosts(const std::string& cpu) {
    const assumptions::HostRates& each = d_.host_memory;
    const auto count = double(d_.sockets);
    add("\n# All of them together.\n");
    one_way_of_all("host memories, read", "host*", cpu,
                   each.read * (count * each.together.read));
    one_way_of_all("host memories, written", cpu, "host*",
                   each.written * (count * each.together.written));
    both_ways("host memories, both directions", "host*", cpu,
              each.both * (count * each.together.both));
  }

  /// Copies are slower than a memory's nominal rate, slower if they write, and slower
  /// still if they read and write simultaneously.
  void hosts() {
    const std::string host = d_.sockets == 1 ? "host" : names("host", d_.sockets),
                      cpu = names("cpu", d_.sockets);
    add("\n# Host memories without a limit of size, each behind its socket: rates at "
        "which copies of all GPUs\n# read, write, and do both "
        "simultaneously.\n[[memory]]\nnames = {}\nkind = \"host\"\nsource = {}\n",
        toml_text(host), toml_text(source_));
    switches("cpu", d_.sockets);
    const assumptions::HostRates& rates = d_.host_memory;
    one_way(host, cpu, rates.read, assumptions::memory_latency);
    one_way(cpu, host, rates.written, assumptions::memory_latency);
    both_ways(host, d_.sockets == 1 ? "host" : "host*", cpu, rates.both);
    if (d_.sockets > 1) all_hosts(cpu);
    if (d_.sockets > 1) add("\n# Between the sockets.\n");
    join("cpu", d_.sockets, "sockets", d_.socket_link, assumptions::socket_latency);
  }

  size_t uplinks() const { return d_.gpus / d_.uplink_gpus; }

  void pcie_switches() {
    add("\n# {} GPUs share the uplink of a PCIe switch.\n", d_.uplink_gpus);
    switches("plx", uplinks());
    link(names("cpu", d_.sockets), names("plx", uplinks()), d_.pcie,
         assumptions::pcie_switch_latency, "blocks");
  }

  void gpus() {
    const Memory& gpu = d_.kind.gpu;
    add("\n# GPUs: memory, copy engines and watts of '{}' of {}.\n[[memory]]\nnames = "
        "{}\nkind = \"gpu\"\ndevice = 0\n",
        d_.kind.kernels.name, d_.kind.machine, toml_text(names("gpu", d_.gpus)));
    add("kernels = {}\n", toml_text(d_.kind.kernels.name));
    out_ += figures_to_toml(gpu);
    add("source = {}\n\n# PCIe, {} GPUs at each socket.\n", toml_text(source_),
        d_.gpus / d_.sockets);
    const bool shared = d_.uplink_gpus > 1;
    link(shared ? names("plx", uplinks()) : names("cpu", d_.sockets),
         names("gpu", d_.gpus), d_.pcie, assumptions::gpu_latency, "blocks");
  }

  void islands() {
    add("\n# NVLink: {} GPUs at each switch.\n", d_.gpus / d_.islands);
    switches("nvsw", d_.islands);
    link(names("nvsw", d_.islands), names("gpu", d_.gpus), *d_.nvlink,
         assumptions::nvlink_latency, "blocks");
    if (d_.bridge) add("\n# Bridges between the islands.\n");
    if (!d_.bridge && d_.islands > 1)
      add("\n# No bridge: between islands, copies take PCIe and the sockets.\n");
    if (d_.bridge)
      join("nvsw", d_.islands, "bridges", *d_.bridge, assumptions::bridge_latency);
  }

  const Design& d_;
  std::string source_ = "design", memory_source_ = "host memory", out_;
};

}  // namespace

std::string tables_of(const Design& design) { return File{design}.text(); }

}  // namespace tilerail::study
