#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "sched/tasks/plan_context.hpp"
#include "sched/tasks/tile_cache.hpp"

namespace tilerail {

/// Buffers of tiles that a device has only for the time of one operation, C_in of an addition or what it passes on: the
/// next is fetched meanwhile.
inline int passing_buffers(const Policy& policy) { return std::max(2, policy.compute_streams); }

/// What happens to a tile of C around its chain of kernels (thesis 4.2.6):
///   in place  C lives on the device: C = alpha A B + beta C where it is.
///   eager     C_in is fetched before the first kernel, which scales it by beta.
///   lazy      C' = alpha A B without C_in; then C_in is fetched and C' += beta C_in.
/// Either way a tile whose home is elsewhere is written back. With beta = 0, C_in is never read.
class CTileLife {
 public:
  struct Shape {
    std::int64_t rows = 0, cols = 0;
  };

  /// `largest` bounds every tile of C; `evict` makes room on a device (pooled arenas).
  CTileLife(PlanContext& context, bool lazy, double beta, Shape largest, TileCache& cache);

  /// A tile of C between its first and its last kernel.
  struct Open {
    View home, work;
    bool in_place = false;
    double beta = 0;             // of the first kernel
    std::optional<OpId> loaded;  // eager: the fetch of C_in
    double eta = 0;              // when the first kernel may start, as far as C goes
    Arena::Slot slot;
  };

  Open begin(const View& home, std::size_t device);
  /// Finishes the tile; `kernels_end` is the estimated end of its last kernel. Returns the estimated end of all.
  double end(const Open& tile, std::size_t device, QueueId compute, OpId last_kernel, double kernels_end);

 private:
  Arena::Slot take(std::size_t device, std::int64_t rows, std::int64_t cols);
  Arena::Slot take_passing(std::size_t device, std::int64_t rows, std::int64_t cols);
  void give_back_passing(std::size_t device, const Arena::Slot& slot, OpId last);
  double copy_c(std::size_t device, View from, const View& to, Deps deps, double ready, OpId& id, int queue = 0);
  double copy_once(std::size_t device, const View& from, const View& to, Deps& deps, double ready, OpId& id, int queue);

  PlanContext& context_;
  bool lazy_;
  double beta_;
  Shape largest_;
  TileCache& cache_;
  std::vector<std::deque<std::pair<Arena::Slot, LastUses>>> passing_;  // by device; ample arenas
};

}  // namespace tilerail
