#pragma once

#include <boost/icl/interval_set.hpp>
#include <functional>

namespace tilerail {

/// The numbers from `lower()` up to, but excluding, `upper()`; empty if upper <= lower.
template <class Number>
using Interval = boost::icl::right_open_interval<Number>;

/// A union of intervals, ascending; intervals that overlap or touch are merged.
/// `set.add(interval)` adds an interval, and `add_intersection(part, set, interval)` adds
/// the part of `set` inside the interval to `part`, without the copy that `set &
/// interval` makes. `contains(set, number)` tests a number, `length(set)` is the total
/// length.
template <class Number>
using IntervalSet = boost::icl::interval_set<Number, std::less, Interval<Number>>;

}  // namespace tilerail
