#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/gemm/input_rank.hpp"
#include "sched/gemm/owned_tiles.hpp"
#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"

namespace tilerail {

/// Static owners of C. Of all sub-problems that a device has left, it takes the one whose
/// tiles will all be there first by the clock, C among them where a tile of it has to
/// come before its first kernel; then the one with the fewest missing, then the lowest;
/// but of a tile of C the first k first, the last k last. Many tiles of C may be started
/// at once. Source: thesis 4.2.7.1. At most `window` sub-problems are looked at, so that
/// planning stays linear in their number.
class OwnersByArrival final : public Chooser {
 public:
  static constexpr size_t window = 256;

  OwnersByArrival(const GemmTasks& tasks, const Tiling& tiling, const Fetcher& fetcher,
                  const OwnedTiles& outputs);

  std::optional<Task> next(size_t device) override;

 private:
  /// A tile of C that is not complete. Of its k, those that are neither the first nor the
  /// last may come in any order.
  struct Open {
    TileOfC tile;
    std::vector<int64_t> between;  // once started: the lowest of them that are left, as
                                   // many as are looked at
    int64_t next_k = 0;            // what follows them
    bool started = false;

    size_t choices() const { return std::max<size_t>(between.size(), 1); }
    int64_t k(size_t choice, const Interval& depth) const {
      return !started ? depth.begin : between.empty() ? depth.end - 1 : between[choice];
    }
  };
  struct Choice {
    size_t open = 0, k = 0;  // numbers in `open_` of the device and of a choice there
    InputRank rank;
  };
  static void look_further(Open& open, const Interval& depth);
  Choice best(size_t device);
  InputRank rank(size_t device, const SubProblem& sub, bool first);
  /// When an input is or, if it were fetched now, would be there; asked once a task.
  Seconds arrival(size_t device, TileId tile, int& missing);

  struct Known {
    uint64_t asked = 0;  // for which task
    Seconds eta{0};
    bool missing = false;
  };

  const GemmTasks& tasks_;
  const Tiling& tiling_;
  const Fetcher& fetcher_;
  const OwnedTiles& outputs_;
  std::vector<std::vector<Open>> open_;  // by device
  std::vector<Known> known_;             // by input
  uint64_t task_ = 0;
};

}  // namespace tilerail
