#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/import/assumptions.hpp"
#include "model/import/gpu_kind.hpp"

namespace tilerail {

/// Keys of the sources of data that an imported file does not contain.
inline const std::string assumed_source = "assumed", assumed_rates = "assumed rates";

/// Builds a description, vertex by vertex.
class MachineBuilder {
 public:
  MachineBuilder(std::string name, std::string description, const GpuKind& kind);

  void source(const std::string& key, Source::Kind kind, const std::string& text);
  VertexId add_host(const std::string& name, const std::string& source);
  VertexId add_switch(const std::string& name, const std::string& source);
  VertexId add_gpu(const std::string& name, int device, const std::string& source);
  LinkId link(VertexId from, VertexId to, Rate rate, Seconds latency,
              const std::string& source);
  /// Adds links in both directions.
  void join(VertexId a, VertexId b, Rate rate, Seconds latency,
            const std::string& source);
  /// Limits the total rate of copies over these links to `most`.
  void bound(const std::string& name, const std::vector<LinkId>& links,
             CapacityCurve most, const std::string& source);
  /// While copies run on both sides, limits their total rate to `most`. If both sides
  /// exceed their parts, the part of `forward` is `share`.
  void bound_both(const std::string& name, const std::vector<LinkId>& forward,
                  const std::vector<LinkId>& backward, CapacityCurve most,
                  std::optional<double> share, const std::string& source);
  /// Adds a link between two GPUs that their copies take, even if other paths exist.
  void link_peers(VertexId from, VertexId to, Rate rate, Seconds latency,
                  const std::string& source);
  /// Routes copies between two memories over these links, even if other paths exist.
  void route(VertexId from, VertexId to, std::vector<LinkId> links,
             const std::string& source);

  /// Adds a NUMA domain: host memory "hostNUMBER" behind the switch "cpuNUMBER" of its
  /// socket. Returns the switch.
  VertexId add_domain(const std::string& number, const assumptions::HostRates& rates,
                      const std::string& source);

  /// The switch of a NUMA domain, and its socket.
  struct Domain {
    VertexId vertex;
    size_t socket = 0;
  };
  /// Joins the domains of a socket over its mesh or I/O die, and sockets over links with
  /// `between_sockets` per direction, shared by all domains of a socket. The memories of
  /// several sockets together have a lower rate than the sum of their single rates. Call
  /// once, after all domains were added.
  void join_domains(const std::vector<Domain>& domains, Rate between_sockets,
                    const std::string& source);

  const Topology::Description& description() const { return d_; }

 private:
  MemoryId memory_at(VertexId vertex) const;
  /// The links and the rates of a host memory.
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
