#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/place/chooser.hpp"
#include "sched/tasks/directory.hpp"

namespace tilerail {

/// Static owners of C that go through k in steps: each tile of C of a device has its
/// kernel of the lowest k, then each that of the next. So a tile of A or B that comes is
/// used for as many tiles of C as there are in its row or column before the next has to
/// come, and kernels wait for little. In a step, sub-problems whose tiles are there go
/// first, then those that need one more, the lowest of equals. All tiles of C are started
/// at once: memory has to be ample.
class OwnersInSteps final : public Chooser {
 public:
  /// Of the sub-problems of a step, so many are looked at, so that planning stays linear.
  static constexpr size_t window = 64;

  OwnersInSteps(const GemmTasks& tasks, const Tiling& tiling,
                const TileDirectory& directory);

  std::optional<Task> next(size_t device) override;

 private:
  struct Device {
    int64_t k = 0;                // of this step
    std::deque<TileOfC> waiting;  // for their kernel of this step
  };
  int missing(size_t device, const SubProblem& sub) const;

  const GemmTasks& tasks_;
  const Tiling& tiling_;
  const TileDirectory& directory_;
  std::vector<Device> devices_;
};

}  // namespace tilerail
