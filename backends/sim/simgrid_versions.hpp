#pragma once

#include <simgrid/s4u.hpp>

#include <simgrid/version.h>

#include <string>
#include <vector>

/// Calls that differ between versions of SimGrid; backends/CMakeLists.txt accepts the
/// tested versions.
namespace tilerail::simgrid_versions {

namespace s4u = simgrid::s4u;

#if SIMGRID_VERSION >= 33300
inline constexpr const char *timing_precision = "precision/timing",
                            *sharing_precision = "precision/work-amount";
#else
inline constexpr const char *timing_precision = "surf/precision",
                            *sharing_precision = "maxmin/precision";
#endif

#if SIMGRID_VERSION >= 40000

/// The zone that contains all others; the engine creates it.
inline s4u::NetZone* root_zone(const s4u::Engine& engine) {
  return engine.get_netzone_root();
}
inline s4u::NetZone* add_zone(s4u::NetZone& parent, const std::string& name) {
  return parent.add_netzone_full(name);
}
inline s4u::Host* add_host(s4u::NetZone& zone, const std::string& name, double speed) {
  return zone.add_host(name, speed);
}
inline s4u::Link* add_link(s4u::NetZone& zone, const std::string& name,
                           double bandwidth) {
  return zone.add_link(name, bandwidth);
}

#else

inline s4u::NetZone* root_zone(const s4u::Engine&) {
  return s4u::create_full_zone("root");
}
inline s4u::NetZone* add_zone(s4u::NetZone& parent, const std::string& name) {
  return s4u::create_full_zone(name)->set_parent(&parent);
}
inline s4u::Host* add_host(s4u::NetZone& zone, const std::string& name, double speed) {
  return zone.create_host(name, speed);
}
inline s4u::Link* add_link(s4u::NetZone& zone, const std::string& name,
                           double bandwidth) {
  return zone.create_link(name, bandwidth);
}

#endif

inline void add_route(s4u::NetZone& zone, s4u::Host& src, s4u::Host& dst,
                      const std::vector<s4u::LinkInRoute>& links) {
#if SIMGRID_VERSION >= 33500
  zone.add_route(&src, &dst, links, false);
#else
  zone.add_route(src.get_netpoint(), dst.get_netpoint(), nullptr, nullptr, links, false);
#endif
}

}  // namespace tilerail::simgrid_versions
