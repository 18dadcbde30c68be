#pragma once

#include <deque>
#include <vector>

#include "model/base/ids.hpp"

namespace tilerail {

/// Which kernels run on each GPU. Thread blocks go out in the order in which kernels became ready, so a kernel starts
/// once those before it leave some of the GPU free; those that have started share it.
class KernelRoom {
 public:
  explicit KernelRoom(std::size_t memories) : gpus_(memories) {}

  /// True: the kernel, which fills `share` of the GPU, starts now. False: it waits in line.
  bool take_or_wait(OpId op, MemoryId gpu, double share);
  /// A kernel that had started ended. Appends those of the line that start now.
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
