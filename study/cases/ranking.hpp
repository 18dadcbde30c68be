#pragma once

#include <span>

namespace tilerail::study {

/// Kendall's tau-b between two lists of numbers of the same alternatives: 1 when they order them equally, -1 when
/// oppositely, ties discounted in either. 0 when one list is all ties. At least two entries.
/// Source: Kendall, Rank Correlation Methods, chapter 3.
double kendall_tau(std::span<const double> a, std::span<const double> b);

/// What choosing by prediction costs: measured time of the alternative that is predicted to be fastest (the first of
/// equals) over the least measured time, minus 1. At least one entry; measured times are above 0.
double regret(std::span<const double> predicted, std::span<const double> measured);

}  // namespace tilerail::study
