#include <fmt/format.h>

#include <algorithm>

#include "model/machine/expanded_names.hpp"
#include "model/machine/topology_reader.hpp"

namespace tilerail {

using Table = TopologyDefect::Table;

namespace {

Engines read_engines(const TomlTable& table) {
  table.allow_only({"h2d", "d2h", "peer", "total"});
  const auto count = [&](std::string_view key) -> std::optional<int> {
    const auto value = table.find(key);
    if (!value) return std::nullopt;
    return static_cast<int>(value->integer(TopologyLimits::engines.least, TopologyLimits::engines.most));
  };
  return {count("h2d"), count("d2h"), count("peer"), count("total")};
}

}  // namespace

std::size_t TopologyReader::find_node(std::string_view name) const {
  for (const std::string& prefix : scope_->prefixes) {
    const auto known = nodes_.find(prefix + std::string{name});
    if (known != nodes_.end()) return known->second.index();
  }
  return std::string_view::npos;
}

void TopologyReader::add_node(const std::string& name, NodeKind kind, const TomlTable& table) {
  const TomlValue value = table.need(table.find("names") ? "names" : "name");
  const NodeId id{d_.nodes.size()};
  if (id.index() >= TopologyLimits::nodes)
    value.fail(fmt::format("is one node too many; expected at most {}", TopologyLimits::nodes));
  if (!nodes_.emplace(name, id).second)
    value.fail(fmt::format("{}is the name of another node; expected unique names",
                           value.is_text() && value.text() == name ? "" : in_quotes(name) + " "));
  d_.nodes.push_back({name, kind, source_of(table)});
  places_[Table::node].push_back(value.place());
}

std::size_t TopologyReader::kernels_of(const TomlValue& name) const {
  const auto known = std::ranges::find(d_.kernels, name.text(), &KernelTimes::name);
  if (known != d_.kernels.end()) return static_cast<std::size_t>(known - d_.kernels.begin());
  if (!unknown_.kernels) name.report("is unknown; expected NAME of a [kernels.NAME] table");
  return 0;
}

/// But for what differs between the memories of a table: name, node and number.
Memory TopologyReader::read_memory(const TomlTable& table) {
  const TomlValue kind = table.need("kind");
  Memory memory;
  if (kind.text() == "host") {
    memory.kind = NodeKind::host;
    table.allow_only({"name", "names", "kind", "capacity", "engines", "watts", "source"});
  } else if (kind.text() == "gpu") {
    table.allow_only({"name", "names", "kind", "device", "capacity", "kernels", "engines", "watts", "source"});
    memory.device =
        static_cast<int>(table.need("device").integer(TopologyLimits::device.least, TopologyLimits::device.most));
    memory.kernels = kernels_of(table.need("kernels"));
  } else {
    kind.report("is unknown; expected host or gpu");
  }
  if (const auto capacity = table.find("capacity")) memory.capacity = capacity->bytes(TopologyLimits::capacity);
  if (const auto engines = table.find("engines")) memory.engines = read_engines(engines->table());
  if (const auto watts = table.find("watts")) {
    const TomlTable values = watts->table();
    values.allow_only({"idle", "busy"});
    memory.idle_watts = values.need("idle").watts(TopologyLimits::watts);
    memory.busy_watts = values.need("busy").watts(TopologyLimits::watts);
  }
  return memory;
}

void TopologyReader::read_memories(TomlTable& table) {
  const auto names = expanded_names(table);
  table.rename("memory " + in_quotes(scope_->prefix() + names.front()));
  Memory memory = read_memory(table);
  if (memory.kind == NodeKind::gpu) memory.device += static_cast<int>(first_device_);
  for (const std::string& name : names) {
    add_node(scope_->prefix() + name, memory.kind, table);
    const NodeId node{d_.nodes.size() - 1};
    memory.node = node;
    memory.name = d_.nodes.back().name;
    memory.source = d_.nodes.back().source;
    memories_.emplace(node, MemoryId{d_.memories.size()});
    d_.memories.push_back(memory);
    places_[Table::memory].push_back(table.place());
    if (memory.kind == NodeKind::gpu) next_device_ = std::max<std::int64_t>(next_device_, ++memory.device);
  }
}

void TopologyReader::begin_numbers() {
  const bool of_template = scope_->prefixes.size() > 1;
  if (of_template) next_device_ = scope_->first_device.value_or(next_device_);
  first_device_ = of_template ? next_device_ : 0;
}

void TopologyReader::read_switches(TomlTable& table) {
  table.allow_only({"name", "names", "source"});
  const auto names = expanded_names(table);
  table.rename("switch " + in_quotes(scope_->prefix() + names.front()));
  for (const std::string& name : names) add_node(scope_->prefix() + name, NodeKind::network_switch, table);
}

}  // namespace tilerail
