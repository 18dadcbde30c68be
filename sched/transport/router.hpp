#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cost/resources.hpp"
#include "model/problem.hpp"
#include "model/published/link_map.hpp"

namespace tilerail {

/// Copies between GPUs that are staged on a host: none, all, or those from or to the home
/// of a tile.
enum class PeerCopies { direct, staged, staged_home };

/// A copy between memories, direct or staged on a host.
struct Leg {
  MemoryId src, dst;
  std::optional<MemoryId> host = {};
};

/// Staged on the host over which the copy is fastest, if `copies` asks for it;
/// else direct, even without a route. `of_home`: one end is the home of a tile.
Leg leg_between(const Topology& topology, PeerCopies copies, MemoryId src, MemoryId dst,
                bool of_home);

inline bool exists(const Topology& topology, const Leg& leg) {
  return leg.host || leg.src == leg.dst || topology.has_route(leg.src, leg.dst);
}

/// Whether a copy between GPUs is faster through a host, with both halves running
/// simultaneously, than directly, or no direct route exists.
bool faster_over_host(const Topology& topology, MemoryId src, MemoryId dst);

/// Whether a possible transfer of the problem, between devices or between a device and
/// the memory of a matrix, is faster over another device than on its own route, without
/// contention. Only for GEMMs, and on machines small enough for a link map.
bool relays_help(const GemmProblem& problem, const Resources& resources,
                 std::span<const MemoryId> devices);

/// Whether the problem may copy tiles between GPUs: it has several devices, or a matrix
/// is on another GPU.
bool may_copy_between_gpus(const Problem& problem, const Topology& topology,
                           std::span<const MemoryId> devices);

/// Finds the intermediate memories of a transfer: a host (Leg), or devices. Devices keep
/// forwarded tiles of A and B, but not of C. Devices are numbered 0 .. devices.size() -
/// 1. docs/model.md#sources-of-a-tile
class Router {
 public:
  /// `links`: routing=link-map only. Keeps references to all arguments.
  Router(const Resources& resources, std::span<const MemoryId> devices, PeerCopies copies,
         const SharedLinks* links)
      : resources_{resources}, devices_{devices}, copies_{copies}, links_{links} {}

  Leg leg(MemoryId src, MemoryId dst, bool of_home) const {
    Leg leg{src, dst};
    if (copies_ != PeerCopies::direct)
      leg.host = leg_between(resources_.topology(), copies_, src, dst, of_home).host;
    return leg;
  }
  bool reaches(const Leg& leg) const {
    return leg.host || leg.src == leg.dst ||
           std::isfinite(resources_.pair_cost(leg.src, leg.dst).per_byte.value);
  }

  /// Time of a transfer without contention: fixed, and per byte; infinite without a
  /// route. With routing=link-map for its route over devices; for many pieces through a
  /// host, for the slower half.
  struct TransferCost {
    Seconds latency;
    SecondsPerByte per_byte;
  };
  TransferCost alone(const Leg& leg) const;

  bool by_link_map() const { return links_ != nullptr; }
  /// The devices on the route of a transfer with routing=link-map; otherwise none.
  using Stops = std::vector<size_t>;
  Stops stops(const Leg& leg) const;

  /// Routes to a device over others with the fewest copies: by source device, the number
  /// of copies and the destination of the first copy.
  static constexpr size_t unreachable = std::numeric_limits<size_t>::max();
  struct Detours {
    std::vector<size_t> copies, next;  // by device
  };
  const Detours& detours_to(size_t device) const;
  /// The other devices that a device reaches by a single copy.
  const std::vector<size_t>& neighbours(size_t device) const;

 private:
  void find_neighbours() const;

  const Resources& resources_;
  std::span<const MemoryId> devices_;
  PeerCopies copies_;
  const SharedLinks* links_;
  // By device, computed on demand: the devices that it reaches and is reached from, and
  // the detours to it.
  mutable std::vector<std::vector<size_t>> to_, from_;
  mutable std::vector<Detours> detours_;
};

}  // namespace tilerail
