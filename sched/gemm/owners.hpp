#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/gemm/input_rank.hpp"
#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"

namespace tilerail {

/// Static owners of C, in an order that follows the clock (thesis 4.2.7.1). A started
/// tile of C is finished first, so that write-backs start early. Order among tiles of C,
/// and among the k of one tile:
///   fifo             the lowest
///   fewest-fetches   the fewest missing inputs
///   eta              the earliest arrival of all inputs by the clock, then the fewest
///                    missing
/// Ties take the lowest. At most `window` candidates are compared, so that planning stays
/// linear.
class OwnersByClock final : public Chooser {
 public:
  static constexpr size_t window = 64;

  OwnersByClock(const GemmTasks& tasks, const Tiling& tiling, Order order,
                const Fetcher& fetcher);

  std::optional<Task> next(size_t device) override;

 private:
  struct Device {
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
  const Tiling& tiling_;
  Order order_;
  const Fetcher& fetcher_;
  std::vector<Device> devices_;
};

/// Static owners of C, for devices whose tiles do not all fit in `slots` equal slots: the
/// order of each device is fixed in advance, so that evictions use all future uses.
class OwnersInBlocks final : public Chooser {
 public:
  /// `slots`: by device.
  OwnersInBlocks(const GemmTasks& tasks, const Tiling& tiling,
                 const std::vector<int64_t>& slots, TileDirectory& directory);

  std::optional<Task> next(size_t device) override;
  void placed(size_t device, const Task& task) override;

  /// C in blocks of mb x nb tiles that stay while k runs; A and B stream past. Every
  /// other block reverses k to reuse the last inputs. mb and nb maximise mb nb / (mb +
  /// nb), the kernels per fetched tile, such that C, two steps of A and B and two C_in
  /// fit. docs/model.md#memory
  struct Blocks {
    int64_t rows = 1, cols = 1;
  };
  static Blocks blocks(const Tiling& tiling, size_t device, int64_t slots);

 private:
  struct Device {
    std::vector<Task> sequence;
    size_t next = 0;
    std::vector<std::vector<int64_t>> uses;  // positions by tile, latest first
  };
  static std::vector<Task> sequence_of(const GemmTasks& tasks, const Tiling& tiling,
                                       size_t device, Blocks blocks);

  TileDirectory& directory_;
  std::vector<Device> devices_;
};

}  // namespace tilerail
