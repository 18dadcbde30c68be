#pragma once

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "sched/tasks/copier.hpp"
#include "sched/tasks/directory.hpp"

namespace tilerail {

/// Fetches tiles to the devices that need them, from the source that the policy selects
/// (thesis 4.2.4 and 4.2.5).
class Fetcher {
 public:
  Fetcher(PlanContext& context, TileDirectory& directory)
      : context_{context},
        directory_{directory},
        shown_before_(context.devices.size(), OpId{int32_t{0}}) {}

  struct Input {
    View view;
    std::optional<OpId> arrival;
    Seconds eta{0};
  };

  /// Makes the tile available on a device.
  Input fetch(TileId tile, size_t device);
  /// Arrival of the tile if fetched now, whole and by this device alone, over a direct
  /// route if one exists.
  Seconds eta(TileId tile, size_t device) const;

  OpId next_op() const { return OpId{context_.builder.plan().ops.size()}; }
  /// Other devices may use the tiles fetched to this device by operations before
  /// `before`.
  void show(size_t device, OpId before) { shown_before_[device] = before; }

  TileDirectory& directory() { return directory_; }
  const TileDirectory& directory() const { return directory_; }

 private:
  /// The cost of fetching from one holder: the value of the routing rule, and the arrival
  /// if the rule computed it.
  struct SourceCost {
    double value = std::numeric_limits<double>::infinity();
    std::optional<Seconds> arrival = {};
  };
  struct Source {
    Holder holder;
    SourceCost cost;
  };

  /// A route from a holder to a device.
  struct Trip {
    Holder from;
    Router::Stops stops;  // the devices on the route, the destination last
  };

  /// A copy from a holder to a memory without devices in between.
  Leg leg(const Holder& from, MemoryId dst) const {
    return context_.router.leg(from.memory, dst, from.is_home);
  }
  Clock::Arrival arrival(TileId tile, const Holder& from, MemoryId dst) const {
    return context_.copier->arrival(leg(from, dst), directory_.tile(tile).home, 1,
                                    from.available);
  }
  SourceCost source_cost(TileId tile, const Holder& holder, MemoryId dst) const;
  std::optional<Source> best_source(TileId tile, size_t device) const;
  std::optional<Source> emulated_source(TileId tile, size_t device) const;
  std::optional<Source> widest_source(TileId tile, size_t device) const;
  Trip trip_from(const Holder& holder, size_t device) const;
  Trip detour(TileId tile, size_t device) const;
  void fetch_alone(TileId tile, size_t device);
  void fetch_for_all(TileId tile, size_t device);
  void send_chain(TileId tile, size_t device, std::vector<Holder> sources,
                  std::vector<MemoryId> destinations);
  void send_tree(TileId tile, size_t device, std::vector<Holder> holders,
                 std::vector<MemoryId> left);
  void send(TileId tile, const Holder& from, size_t to, int pieces, size_t on_behalf,
            std::optional<Clock::Arrival> arrival = {});

  PlanContext& context_;
  TileDirectory& directory_;
  std::map<MemoryPair, int> sent_;  // number of legs so far
  std::vector<OpId> shown_before_;  // by device: other devices may use tiles that earlier
                                    // operations fetched
};

}  // namespace tilerail
