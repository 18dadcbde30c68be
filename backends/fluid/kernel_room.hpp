#pragma once

#include <deque>
#include <vector>

#include "model/base/ids.hpp"

namespace tilerail {

/// Which kernels run on each GPU. A GPU hands out thread blocks in the order in which kernels became ready. So a kernel
/// starts once the kernels before it leave some of the GPU free, and all that have started share it.
class KernelRoom {
 public:
  explicit KernelRoom(size_t memories) : gpus_(memories) {}

  /// Whether a kernel could start now.
  bool has_room(MemoryId gpu) const;
  /// True: the kernel, which fills `share` of the GPU, starts now. False: it waits in line.
  bool take_or_wait(OpId op, MemoryId gpu, double share);
  /// A kernel that had started has ended. Appends the waiting kernels that start now.
  void release(MemoryId gpu, double share, std::vector<OpId>& started);

 private:
  struct Waiting {
    OpId op;
    double share;
  };
  struct Gpu {
    double taken = 0;
    int running = 0;
    std::deque<Waiting> line;
  };

  std::vector<Gpu> gpus_;  // by MemoryId
};

}  // namespace tilerail
