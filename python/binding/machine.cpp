#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "python/binding/convert.hpp"
#include "study/design/import_machine.hpp"
#include "study/design/machine_design.hpp"
#include "study/planning/find_machine.hpp"

namespace tilerail::python {
namespace {

/// Sets members from texts by name; then none must be left.
class Arguments {
 public:
  explicit Arguments(Texts texts) : texts_{std::move(texts)} {}

  Arguments& set(const char* name, auto& member) {
    const auto text = texts_.extract(name);
    if (text && text.mapped().empty())
      throw InputError{name, "", "is empty", "a value, or no argument"};
    if (text) member = text.mapped();
    return *this;
  }
  void end(const char* function) const {
    if (!texts_.empty())
      throw InputError{texts_.begin()->first,
                       {},
                       "is unknown",
                       fmt::format("an argument of {}", function)};
  }

 private:
  Texts texts_;
};

/// Errors spell subjects as arguments: "per_uplink", not "per-uplink".
template <class Work>
auto spelled(const Work& work) try {
  return work();
} catch (const InputError& error) {
  std::string subject = error.subject;
  std::ranges::replace(subject, '-', '_');
  throw error.about(subject);
}

Topology design(const Texts& texts) {
  study::DesignText design;
  Arguments{texts}
      .set("gpus", design.gpus)
      .set("kernels", design.kernels)
      .set("sockets", design.sockets)
      .set("islands", design.islands)
      .set("per_uplink", design.uplink_gpus)
      .set("pcie", design.pcie)
      .set("nvlink", design.nvlink)
      .set("bridge", design.bridge)
      .set("host_memory", design.host_memory)
      .set("socket_link", design.socket_link)
      .set("name", design.name)
      .end("tilerail.machine.new");
  design.command = "tilerail.machine.new";
  return read_topology(spelled([&] { return study::design_machine(design); }),
                       "the new machine");
}

nb::tuple import(const Texts& texts) {
  study::ImportText from;
  Arguments{texts}
      .set("nvidia_smi", from.nvidia_smi)
      .set("nccl", from.nccl)
      .set("nvbandwidth", from.nvbandwidth)
      .set("p2p", from.p2p)
      .set("kernels", from.kernels)
      .set("name", from.name)
      .set("pcie", from.pcie)
      .set("nvlink", from.nvlink)
      .set("c2c", from.c2c)
      .set("host_memory", from.host_memory)
      .set("socket_link", from.socket_link)
      .end("tilerail.machine.import_");
  const auto imported = spelled([&] { return study::import_machine(from); });
  return nb::make_tuple(imported.machine, imported.notes);
}

std::vector<std::string> processors(const Topology& machine) {
  std::vector<std::string> names;
  for (const MemoryId id : machine.processors())
    names.push_back(machine.processor_name(id));
  return names;
}

/// Rates in bytes per second, latencies in seconds.
nb::dict links(const Topology& machine) {
  const auto name = [&](VertexId id) {
    return machine.description().vertices[id.index()].name;
  };
  nb::list names, from, to;
  std::vector<double> bandwidth, latency;
  for (const Link& link : machine.links()) {
    names.append(link.name.c_str());
    from.append(name(link.from).c_str());
    to.append(name(link.to).c_str());
    bandwidth.push_back(link.bandwidth.value);
    latency.push_back(link.latency.value);
  }
  nb::dict columns;
  columns["name"] = names;
  columns["from"] = from;
  columns["to"] = to;
  columns["bandwidth_bytes_per_s"] = array_of(std::move(bandwidth));
  columns["latency_s"] = array_of(std::move(latency));
  return columns;
}

/// Rates in bytes per second at many copies, NaN if unbounded.
nb::dict groups(const Topology& machine) {
  const auto rate_of = [](const std::optional<CapacityCurve>& curve) {
    return curve ? curve->saturated().value : std::numeric_limits<double>::quiet_NaN();
  };
  nb::list names, links;
  std::vector<double> capacity, both_busy;
  for (const CapacityGroup& group : machine.groups()) {
    nb::list of_group;
    for (const auto* side : {&group.forward, &group.backward})
      for (const LinkId id : *side) of_group.append(machine.link(id).name.c_str());
    names.append(group.name.c_str());
    links.append(of_group);
    capacity.push_back(rate_of(group.capacity));
    both_busy.push_back(rate_of(group.both_busy));
  }
  nb::dict columns;
  columns["name"] = names;
  columns["links"] = links;
  columns["capacity_bytes_per_s"] = array_of(std::move(capacity));
  columns["both_busy_bytes_per_s"] = array_of(std::move(both_busy));
  return columns;
}

/// Capacities in bytes, NaN if unbounded.
nb::dict memories(const Topology& machine) {
  nb::list names, kinds, processors;
  std::vector<double> capacity;
  for (const auto i : indices(machine.description().memories)) {
    const MemoryId id{i};
    const Memory& memory = machine.memory(id);
    names.append(memory.name.c_str());
    kinds.append(machine.is_gpu(id) ? "gpu" : "host");
    processors.append(machine.computes(id) ? machine.processor_name(id).c_str() : "");
    capacity.push_back(memory.capacity ? memory.capacity->value
                                       : std::numeric_limits<double>::quiet_NaN());
  }
  nb::dict columns;
  columns["name"] = names;
  columns["kind"] = kinds;
  columns["processor"] = processors;
  columns["capacity_bytes"] = array_of(std::move(capacity));
  return columns;
}

}  // namespace

void add_machine(nb::module_& module) {
  nb::class_<Topology>(module, "Machine")
      .def_prop_ro("name", &Topology::name)
      .def_prop_ro("description",
                   [](const Topology& m) { return m.description().description; })
      .def_prop_ro("processors", processors)
      .def("links", links)
      .def("groups", groups)
      .def("memories", memories)
      .def("changed",
           [](const Topology& m, const std::vector<std::string>& settings) {
             return with_settings(m, settings);
           })
      .def("to_toml", [](const Topology& m) { return to_toml(m.description()); })
      .def("hash", machine_hash);
  module.def("load_machine", [](const std::string& text) {
    return load_topology(study::find_machine(text).string());
  });
  module.def("read_machine", [](const std::string& toml, const std::string& file) {
    return read_topology(toml, file);
  });
  module.def("design_machine", design);
  module.def("import_machine", import);
  module.def("machine_names", study::machine_names);
}

}  // namespace tilerail::python
