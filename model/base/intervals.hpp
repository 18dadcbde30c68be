#pragma once

#include <boost/icl/interval_set.hpp>
#include <functional>

namespace tilerail {

/// The numbers from `lower()` on and below `upper()`; none where upper <= lower.
template <class Number>
using Interval = boost::icl::right_open_interval<Number>;

/// A union of intervals, ascending: those that overlap or touch are one.
/// `set.add(interval)` adds one, and `add_intersection(part, set, interval)` adds to
/// `part` what lies within; `set & interval` would copy all first. `contains(set,
/// number)` says whether one does, `length(set)` is the length of all.
template <class Number>
using IntervalSet = boost::icl::interval_set<Number, std::less, Interval<Number>>;

}  // namespace tilerail
