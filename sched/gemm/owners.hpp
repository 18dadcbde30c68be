#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/gemm/input_rank.hpp"
#include "sched/gemm/tiling.hpp"
#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"

namespace tilerail {

/// Tiles of C of one device, for an interval of its tiles of k.
struct Share {
  std::vector<TileOfC> tiles;
  IndexRange depth;
};

/// Choosers of each device's own tasks. They begin with all tasks of the device.
class OwnersOfC : public Chooser {
 public:
  /// The device continues with these tasks alone.
  virtual void begin(size_t device, const Share& share) = 0;
};

inline Share whole_share(const Tiling& tiling, size_t device) {
  return {tiling.tiles_of(device), tiling.depth_of(device)};
}

/// Static owners of C, in an order that follows the clock (thesis 4.2.7.1). A started
/// tile of C is finished first, so that write-backs start early. Order among tiles of C,
/// and among the k of one tile:
///   fifo             the lowest
///   fewest-fetches   the fewest missing inputs
///   eta              the earliest arrival of all inputs by the clock, then the fewest
///                    missing
/// Ties take the lowest. At most `window` candidates are compared, so that planning stays
/// linear.
class OwnersByClock final : public OwnersOfC {
 public:
  static constexpr size_t window = 64;

  OwnersByClock(const GemmTasks& tasks, const Tiling& tiling, Order order,
                const Fetcher& fetcher);

  void begin(size_t device, const Share& share) override;
  std::optional<Task> next(size_t device) override;

 private:
  struct Device {
    IndexRange depth;
    std::deque<SubProblem> waiting;  // tiles of C not started, with their first k
    SubProblem open;                 // the started tile
    std::vector<int64_t> k;  // its lowest remaining k, ascending, up to the window
    int64_t next_k = 0;      // the first k after these
    bool untouched = false;  // whether none of its tasks was given yet
  };
  InputRank rank(size_t device, const SubProblem& sub) const;
  template <class Candidate>
  size_t first_of(size_t device, size_t count, const Candidate& candidate) const;
  void start_tile(size_t device);
  void look_further(size_t device);

  const GemmTasks& tasks_;
  Order order_;
  const Fetcher& fetcher_;
  std::vector<Device> devices_;
};

/// Tasks of each device, in order.
using TaskOrder = std::vector<std::vector<Task>>;

/// The parts of a device's work for memory of `slots` tiles: C in blocks of mb x nb
/// tiles, each with kb tiles of k after kb tiles of k; C stays while k runs. Every other
/// block reverses k to reuse the last inputs. With
/// `in_turn` a part with all k has few incomplete tiles of C. docs/model.md#memory
std::vector<Share> parts_of(const Tiling& tiling, size_t device, int64_t slots,
                            int64_t kb, bool in_turn);

/// Owners that complete each part of a device's work before the next, and list the tasks.
class OwnersInParts final : public Chooser {
 public:
  /// `parts`: by device.
  OwnersInParts(OwnersOfC& owners, const Tiling& tiling,
                std::vector<std::vector<Share>> parts);

  std::optional<Task> next(size_t device) override;
  const TaskOrder& order() const { return order_; }

 private:
  bool begin_part(size_t device);

  OwnersOfC& owners_;
  const Tiling& tiling_;
  std::vector<std::vector<Share>> parts_;
  std::vector<size_t> begun_;          // number of parts, by device
  std::map<TileId, int64_t> planned_;  // number of tasks, by tile of C
  TaskOrder order_;
};

/// Tasks in a known order, so that evictions use all future uses.
class ListedTasks final : public Chooser {
 public:
  ListedTasks(TaskOrder order, TileDirectory& directory, size_t inputs);

  std::optional<Task> next(size_t device) override;
  void placed(size_t device, const Task& task) override;

 private:
  struct Device {
    size_t next = 0;
    std::vector<std::vector<int64_t>> uses;  // positions by tile, latest first
  };

  TaskOrder order_;
  TileDirectory& directory_;
  std::vector<Device> devices_;
};

}  // namespace tilerail
