#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cost/resources.hpp"
#include "model/problem.hpp"
#include "model/published/link_map.hpp"

namespace tilerail {

/// Which copies from GPU to GPU go through a buffer on a host: none, all, or those with
/// the home of a tile at one end.
enum class PeerCopies { direct, staged, staged_home };

/// A copy from memory to memory, direct or through a buffer on a host.
struct Leg {
  MemoryId src, dst;
  std::optional<MemoryId> host = {};
};

/// Through the first host that both GPUs have routes from and to, if `copies` asks for
/// it; else direct, whether there is a route or not. `of_home`: the home of a tile is at
/// one end.
Leg leg_between(const Topology& topology, PeerCopies copies, MemoryId src, MemoryId dst,
                bool of_home);

inline bool exists(const Topology& topology, const Leg& leg) {
  return leg.host || leg.src == leg.dst || topology.has_route(leg.src, leg.dst);
}

/// Whether a copy from GPU to GPU is faster through a host, with both of its halves
/// running simultaneously, than directly, or there is no direct route.
bool faster_over_host(const Topology& topology, MemoryId src, MemoryId dst);

/// Whether some transfer that the problem may need, between devices or between a device
/// and the memory of a matrix, is faster over another device than on its own route, with
/// nothing else running. Only for GEMMs, and on machines that a link map can be made of.
bool relays_help(const GemmProblem& problem, const Resources& resources,
                 std::span<const MemoryId> devices);

/// Whether tiles may go from GPU to GPU: between several of these devices, or between one
/// and a matrix on another GPU.
bool may_copy_between_gpus(const GemmProblem& problem, const Topology& topology,
                           std::span<const MemoryId> devices);

/// Finds the memories between source and destination of a tile: a buffer on a host (Leg),
/// or devices. Devices keep tiles of A and B; tiles of C are only passed on. Devices are
/// counted 0 .. devices.size() - 1. docs/model.md#sources-of-a-tile
class Router {
 public:
  /// `links`: routing=link-map only. Keeps references to all.
  Router(const Resources& resources, std::span<const MemoryId> devices, PeerCopies copies,
         const SharedLinks* links)
      : resources_{resources}, devices_{devices}, copies_{copies}, links_{links} {}

  Leg leg(MemoryId src, MemoryId dst, bool of_home) const {
    return leg_between(resources_.topology(), copies_, src, dst, of_home);
  }
  bool reaches(const Leg& leg) const { return exists(resources_.topology(), leg); }

  /// The time of a transfer with nothing else running: once, and for each byte, infinite
  /// without a route. With routing=link-map that of its route over devices; of many
  /// pieces through a host, that of the slower half.
  struct Alone {
    Seconds latency;
    SecondsPerByte per_byte;
  };
  Alone alone(const Leg& leg) const;

  bool by_link_map() const { return links_ != nullptr; }
  /// The devices that a transfer visits on its way by routing=link-map; else none.
  using Stops = std::vector<size_t>;
  Stops stops(const Leg& leg) const;

  /// How tiles come to a device over others by as few copies as possible: from each
  /// device, how many copies, and the device that the first one goes to.
  static constexpr size_t unreachable = std::numeric_limits<size_t>::max();
  struct Detours {
    std::vector<size_t> copies, next;  // by device
  };
  const Detours& detours_to(size_t device) const;
  /// The other devices that one reaches by a single copy.
  const std::vector<size_t>& neighbours(size_t device) const;

 private:
  void find_neighbours() const;

  const Resources& resources_;
  std::span<const MemoryId> devices_;
  PeerCopies copies_;
  const SharedLinks* links_;
  // By device, once a detour was asked for: the others that it reaches and is reached
  // from, and the ways to it.
  mutable std::vector<std::vector<size_t>> to_, from_;
  mutable std::vector<Detours> detours_;
};

}  // namespace tilerail
