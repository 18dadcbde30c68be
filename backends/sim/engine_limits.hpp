#pragma once

#include <array>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// How many operations of a role a device runs at once: h2d copies count on the GPU they reach, d2h and peer copies
/// on the GPU they leave, and `total` counts copies and kernels together on the device of the operation.
/// An operation holds every limit it is under, or none. All operations of a queue are under the same limits, and
/// only the head of a queue can be ready, so at most one operation a queue waits.
class EngineLimits {
 public:
  EngineLimits(const Plan& plan, const Topology& topology);

  /// Takes the limits of an operation of this queue. When one of them is full takes none, and the operation waits
  /// in line at that one; lowest operation first.
  bool take_or_wait(OpId op, QueueId queue);

  /// Gives the limits back. `pass_on` tells who may have them.
  void give_back(QueueId queue);

  /// Whether the device of this queue has workers that do copies and kernels alike (`total`). A worker takes the lowest
  /// operation that is ready, whatever queue it served before; a copy engine stays with its queue.
  bool shares_workers(QueueId queue) const { return of_queue_[queue.index()][1] != none; }

  /// Operations that may try again are appended to `retry`: the next in line at what is free. Also to be called after a
  /// retried operation went to wait elsewhere.
  void pass_on(QueueId queue, std::vector<OpId>& retry);

 private:
  struct Limit {
    int free = 0;
    std::vector<OpId> waiting;  // heap, lowest operation first
  };

  static constexpr int none = -1;

  std::vector<Limit> limits_;
  std::vector<std::array<int, 2>> of_queue_;  // indices into limits_ of the role and of `total`, or none
};

}  // namespace tilerail
