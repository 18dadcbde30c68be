#pragma once

#include <span>
#include <vector>

#include "model/base/units.hpp"

namespace tilerail {

/// New shares of devices whose work ended at these times; early devices get more:
///
///     share_d min(4, mean of all ends / end_d)^step,
///
/// scaled to a mean of 1, with four digits as in plan files. One end per share, not all
/// 0. docs/model.md#balance
std::vector<double> balanced_shares(std::span<const double> shares,
                                    std::span<const Seconds> ends, double step);

/// By how much the last end exceeds the mean: 0.05 for 5 %.
double imbalance(std::span<const Seconds> ends);

}  // namespace tilerail
