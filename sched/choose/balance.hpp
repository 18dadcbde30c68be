#pragma once

#include <span>
#include <vector>

#include "model/base/units.hpp"

namespace tilerail {

/// Shares of devices whose work ended at these times: more for those that were done
/// early,
///
///     share_d min(4, mean of all ends / end_d)^step,
///
/// with a mean of 1 and four digits, as plan files have them. One end for each share, not
/// all 0. docs/model.md#balance
std::vector<double> balanced_shares(std::span<const double> shares,
                                    std::span<const Seconds> ends, double step);

/// How much later than the mean the last device is done: 0.05 for 5 %.
double imbalance(std::span<const Seconds> ends);

}  // namespace tilerail
