#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/import/assumptions.hpp"
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
  LinkId link(NodeId from, NodeId to, Rate rate, Seconds latency,
              const std::string& source);
  /// Both directions.
  void join(NodeId a, NodeId b, Rate rate, Seconds latency, const std::string& source);
  /// Copies over these links get no more than `most` in all.
  void bound(const std::string& name, const std::vector<LinkId>& links,
             CapacityCurve most, const std::string& source);
  /// While copies run on both sides, they get no more than `most` in all; if both want
  /// more than their part, the part of `forward` is `share`.
  void bound_both(const std::string& name, const std::vector<LinkId>& forward,
                  const std::vector<LinkId>& backward, CapacityCurve most,
                  std::optional<double> share, const std::string& source);
  /// A link between two GPUs that copies between them take, whatever other paths there
  /// are.
  void link_peers(NodeId from, NodeId to, Rate rate, Seconds latency,
                  const std::string& source);
  /// Copies between two memories take these links, whatever other paths there are.
  void route(NodeId from, NodeId to, std::vector<LinkId> links,
             const std::string& source);

  /// A NUMA domain: host memory "hostNUMBER" behind the switch "cpuNUMBER" of its socket.
  /// Returns the switch.
  NodeId add_domain(const std::string& number, const assumptions::HostRates& rates,
                    const std::string& source);

  /// The switch of a NUMA domain, and which socket it is in.
  struct Domain {
    NodeId node;
    size_t socket = 0;
  };
  /// Domains of one socket reach each other over its mesh or I/O die, others over the
  /// links between the sockets, each of which has `between_sockets` in a direction, for
  /// all domains of a socket together. The memories of several sockets have less together
  /// than the sum of what each has alone. Once, after all domains were added.
  void join_domains(const std::vector<Domain>& domains, Rate between_sockets,
                    const std::string& source);

  const Topology::Description& description() const { return d_; }

 private:
  MemoryId memory_at(NodeId node) const;
  /// A host memory's links, and its rates.
  struct Host {
    LinkId read, written;
    assumptions::HostRates rates;
  };
  void share_memories(const std::vector<Domain>& domains);

  Topology::Description d_;
  std::vector<Host> hosts_;
  GpuKind kind_;
};

}  // namespace tilerail
