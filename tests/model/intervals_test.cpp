#include "model/base/intervals.hpp"

#include <gtest/gtest.h>

namespace tilerail {
namespace {

IntervalSet<double> united(std::initializer_list<Interval<double>> intervals) {
  IntervalSet<double> set;
  for (const auto& interval : intervals) set.add(interval);
  return set;
}

TEST(IntervalSet, CountsOverlapsOnceAndGapsNot) {
  const auto set =
      united({{5, 6}, {0, 2}, {1, 3}, {1, 1.5}, {6, 7}, {9, 9}});  // [0, 3) and [5, 7)
  EXPECT_DOUBLE_EQ(length(set), 5);
  EXPECT_EQ(set.iterative_size(), 2U);
  IntervalSet<double> within = united({{5.25, 5.75}});
  add_intersection(within, set, {2, 5.5});
  EXPECT_EQ(within, united({{2, 3}, {5, 5.75}}));
  EXPECT_EQ(length(united({})), 0);
}

}  // namespace
}  // namespace tilerail
