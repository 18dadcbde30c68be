#pragma once

#include <array>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail {

/// How many operations of a role a device runs at once. A copy from a host counts on the GPU that it reaches, a copy to
/// a host or to another GPU on the GPU that it leaves; `total` counts copies and kernels together on the device of the
/// operation. An operation takes a place of every limit that counts it, or none. The same limits count all operations
/// of a queue, and only the first of a queue can be ready, so at most one operation a queue waits.
class EngineLimits {
 public:
  EngineLimits(const Plan& plan, const Topology& topology);

  /// Takes a place of every limit of this queue. Where one of them is full it takes none and puts the operation in line
  /// there; lines are served by ascending operation.
  bool take_or_wait(OpId op, QueueId queue);

  /// Gives the places back. `pass_on` tells who may have them.
  void give_back(QueueId queue);

  /// Whether the device of this queue has workers that do copies and kernels alike (`total`). A worker takes the lowest
  /// operation that is ready, whatever queue it served before; a copy engine stays with its queue.
  bool shares_workers(QueueId queue) const { return of_queue_[queue.index()][1] != none; }

  /// Appends to `retry` the operations that may try again: the next in line at each limit with a free place. To be
  /// called again after an operation that tried went to wait at another limit.
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
