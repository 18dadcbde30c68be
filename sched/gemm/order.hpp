#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sched/gemm/tiling.hpp"
#include "sched/policy/policy.hpp"
#include "sched/tasks/tile_cache.hpp"

namespace tilerail {

/// Indices of the read-only tiles of a tiling in its TileCache: A_ik, then B_kj.
struct InputIndex {
  std::size_t rows, cols, depth;

  explicit InputIndex(const Tiling& tiling) : rows{tiling.m.size()}, cols{tiling.n.size()}, depth{tiling.k.size()} {}
  std::size_t count() const { return (rows + cols) * depth; }
  std::size_t a(std::int64_t i, std::int64_t k) const {
    return static_cast<std::size_t>(i) * depth + static_cast<std::size_t>(k);
  }
  std::size_t b(std::int64_t k, std::int64_t j) const {
    return (rows + static_cast<std::size_t>(j)) * depth + static_cast<std::size_t>(k);
  }
};

/// Chooses each device's next sub-problem (thesis 4.2.7.1). A started tile of C is finished first, so that write-backs
/// start early. Among tiles of C, and among the k of one tile:
///   fifo             the lowest
///   fewest-fetches   the one with the fewest missing inputs
///   eta              the one whose inputs will all be there first by the link clock, then the fewest missing
/// Ties take the lowest. At most `window` candidates are looked at, so that planning stays linear.
class DynamicOrder {
 public:
  static constexpr std::size_t window = 64;

  DynamicOrder(const Tiling& tiling, Order order, const TileCache& cache);

  /// `first` and `last` say whether the sub-problem is the first or the last k of its tile.
  struct Choice {
    SubProblem sub;
    bool first = false, last = false;
  };
  std::optional<Choice> next(std::size_t device);

 private:
  struct Rank {
    double eta = 0;
    int missing = 0;
  };
  struct Device {
    std::deque<SubProblem> waiting;    // tiles of C not started, k unused
    std::vector<std::int64_t> open_k;  // of the started tile, ascending
    SubProblem open;
  };
  Rank rank(std::size_t device, const SubProblem& sub) const;
  bool before(const Rank& a, const Rank& b) const;
  void start_tile(std::size_t device);

  const Tiling& tiling_;
  InputIndex index_;
  Order order_;
  const TileCache& cache_;
  std::vector<Device> devices_;
};

/// A fixed order for a device whose tiles do not all fit in `slots` equal slots: C in blocks of mb x nb tiles that
/// stay while k runs, A and B streaming past, every other block with k reversed so that its first inputs are still
/// there. mb and nb make the most of the memory: they maximise mb nb / (mb + nb), kernels for each tile fetched,
/// while C, two steps of A and B and two C_in fit. docs/model.md#memory
struct BlockedOrder {
  std::vector<DynamicOrder::Choice> sequence;
  std::int64_t block_rows = 1, block_cols = 1;
};
BlockedOrder blocked_order(const Tiling& tiling, std::size_t device, std::int64_t slots);

}  // namespace tilerail
