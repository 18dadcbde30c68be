#pragma once

#include <vector>

#include "sched/gemm/gemm_tasks.hpp"
#include "sched/place/chooser.hpp"

namespace tilerail {

/// Static owners of C that take more of k and more of their tiles of C together: of P tiles of C and K tiles of k,
/// sub-problem k of tile p comes in the order of
///
///   max((k + 1) / K, 2 (p + 1) / P)
///
///        p:  0  1  2  3  4  5
///   k: 0     1  2  3  4  5  6     so that what is fetched, a tile of A and one of B in turn, is used with all that is
///      1     2  2  3  4  5  6     there, and k has come wholly when half of C is begun: from then on one tile of C
///      2     3  3  3  4  5  6     after another is complete, and goes home under the kernels of the others
///
/// All tiles of C may be open at once: memory has to be ample.
class OwnersSpread final : public Chooser {
 public:
  OwnersSpread(const GemmTasks& tasks, const Tiling& tiling);

  std::optional<Task> next(std::size_t device) override;

 private:
  struct Device {
    std::vector<SubProblem> sequence;
    std::size_t next = 0;
  };

  const GemmTasks& tasks_;
  const Tiling& tiling_;
  std::vector<Device> devices_;
};

}  // namespace tilerail
