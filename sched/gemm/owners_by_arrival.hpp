#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/gemm/input_rank.hpp"
#include "sched/gemm/owned_tiles.hpp"
#include "sched/gemm/owners.hpp"
#include "sched/route/fetcher.hpp"

namespace tilerail {

/// Static owners of C. A device takes its sub-problem whose tiles all arrive first by the
/// clock, including C if a tile of it must arrive before its first kernel; ties go to the
/// fewest missing tiles, then the lowest. Each tile of C starts with its first k and ends
/// with its last. Many tiles of C may be open simultaneously. Source: thesis 4.2.7.1. At
/// most `window` sub-problems are compared, so that planning stays linear in their
/// number.
class OwnersByArrival final : public OwnersOfC {
 public:
  static constexpr size_t window = 256;

  OwnersByArrival(const GemmTasks& tasks, const Tiling& tiling, const Fetcher& fetcher,
                  const OwnedTiles& outputs);

  void begin(size_t device, const Share& share) override;
  std::optional<Task> next(size_t device) override;

 private:
  /// An incomplete tile of C. Its k other than the first and the last may come in any
  /// order.
  struct TileProgress {
    TileOfC tile;
    std::vector<int64_t>
        between;         // once started: the lowest remaining k, up to the window
    int64_t next_k = 0;  // the first k after these
    bool started = false;

    size_t choices() const { return std::max<size_t>(between.size(), 1); }
    int64_t k(size_t choice, const IndexRange& depth) const {
      return !started ? depth.begin : between.empty() ? depth.end - 1 : between[choice];
    }
  };
  struct Choice {
    size_t open = 0,
           k = 0;  // index in `open_` of the device, and index of a choice there
    InputRank rank;
  };
  static void look_further(TileProgress& open, const IndexRange& depth);
  Choice best(size_t device);
  InputRank rank(size_t device, const SubProblem& sub, bool first);
  /// When an input is, or would be if fetched now, available; computed once per task.
  Seconds arrival(size_t device, TileId tile, int& missing);

  struct InputArrival {
    uint64_t task = 0;  // task of the last query
    Seconds eta{0};
    bool missing = false;
  };

  const GemmTasks& tasks_;
  const Fetcher& fetcher_;
  const OwnedTiles& outputs_;
  struct Device {
    IndexRange depth;
    std::vector<TileProgress> open;
  };
  std::vector<Device> devices_;
  std::vector<InputArrival> arrivals_;  // by input
  uint64_t task_ = 0;
};

}  // namespace tilerail
