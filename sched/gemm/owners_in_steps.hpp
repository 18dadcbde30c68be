#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/gemm/owners.hpp"
#include "sched/tasks/directory.hpp"

namespace tilerail {

/// Static owners of C that go through k in steps: all tiles of C of a device have their
/// kernel of the lowest k, then all of the next. An arriving tile of A or B is thus used
/// for all tiles of C in its row or column before the next must arrive, and kernels wait
/// little. Within a step, sub-problems with all tiles present go first, then those with
/// one missing; ties take the lowest. All tiles of C are open simultaneously.
class OwnersInSteps final : public OwnersOfC {
 public:
  /// At most this many sub-problems of a step are compared, so that planning stays
  /// linear.
  static constexpr size_t window = 64;

  OwnersInSteps(const GemmTasks& tasks, const Tiling& tiling,
                const TileDirectory& directory);

  void begin(size_t device, const Share& share) override;
  std::optional<Task> next(size_t device) override;

 private:
  struct Device {
    Share share;
    int64_t k = 0;                // of the current step
    std::deque<TileOfC> waiting;  // for their kernel of the current step
  };
  int missing(size_t device, const SubProblem& sub) const;

  const GemmTasks& tasks_;
  const TileDirectory& directory_;
  std::vector<Device> devices_;
};

}  // namespace tilerail
