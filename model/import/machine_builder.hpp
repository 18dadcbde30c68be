#pragma once

#include <string>
#include <vector>

#include "model/import/gpu_kind.hpp"

namespace tilerail {

/// Puts a description together, node by node.
class MachineBuilder {
 public:
  MachineBuilder(std::string name, std::string description, const GpuKind& kind);

  void source(const std::string& key, Source::Kind kind, const std::string& text);
  NodeId add_host(const std::string& name, const std::string& source);
  NodeId add_switch(const std::string& name, const std::string& source);
  NodeId add_gpu(const std::string& name, int device, const std::string& source);
  void link(NodeId from, NodeId to, Rate rate, Seconds latency, const std::string& source);
  /// Both directions.
  void join(NodeId a, NodeId b, Rate rate, Seconds latency, const std::string& source);
  void group(CapacityGroup group) { d_.groups.push_back(std::move(group)); }
  /// A link between two GPUs that copies between them take, whatever other paths there are.
  void link_peers(NodeId from, NodeId to, Rate rate, Seconds latency, const std::string& source);
  /// Copies between two memories take these links, whatever other paths there are.
  void route(NodeId from, NodeId to, std::vector<LinkId> links, const std::string& source);
  LinkId last_link() const { return LinkId{d_.links.size() - 1}; }

  /// A NUMA domain: host memory behind a socket's switch, whose reads and writes share the rate of the memory. Returns
  /// the switch.
  NodeId add_domain(const std::string& number, Rate memory, const std::string& source);

  /// All of these reach each other directly.
  void join_all(const std::vector<NodeId>& nodes, Rate rate, Seconds latency, const std::string& source);

  const Topology::Description& description() const { return d_; }

 private:
  MemoryId memory_at(NodeId node) const;

  Topology::Description d_;
  GpuKind kind_;
};

}  // namespace tilerail
