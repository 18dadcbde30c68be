#pragma once

#include <optional>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// A copy that loads a capacity group: time and sides.
struct GroupCopy {
  double start = 0, end = 0;  // s
  double bytes = 0;           // through the group
  bool forward = false, backward = false;
  int parts = 1, of = 1;  // of the copy's bytes
};

/// Mean over the makespan of the copies' rate / the group's bound. The bound depends on
/// the number and sides of running copies; without a bound, the share is 0. Each copy has
/// a constant rate, so the share may exceed 1 at times. Absent if the group is never
/// bounded.
std::optional<double> group_utilisation(const CapacityGroup& group,
                                        const std::vector<GroupCopy>& copies,
                                        double makespan);

}  // namespace tilerail
