#pragma once

#include <optional>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// A copy that loads a capacity group, on which sides, and when.
struct GroupCopy {
  double start = 0, end = 0;  // s
  double bytes = 0;           // that cross the group
  bool forward = false, backward = false;
  int parts = 1, of = 1;  // of the copy's bytes
};

/// The mean over the makespan of the rate of the copies over the group's bound at the
/// moment, which depends on how many copies run and on which sides; a moment without a
/// bound counts 0. A copy has one rate from its start to its end, so that a moment may
/// come out above 1. Absent where no moment has a bound.
std::optional<double> group_utilisation(const CapacityGroup& group,
                                        const std::vector<GroupCopy>& copies,
                                        double makespan);

}  // namespace tilerail
