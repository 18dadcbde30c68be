#include <gtest/gtest.h>

#include "model/machine/topology.hpp"

namespace tilerail {
namespace {

TEST(CapacityCurve, IsLinearBetweenPointsAndConstantBeyondThem) {
  const CapacityCurve curve{{{2, Rate{20e9}}, {4, Rate{30e9}}, {8, Rate{10e9}}}};
  EXPECT_EQ(curve.at(1), Rate{20e9});
  EXPECT_EQ(curve.at(2), Rate{20e9});
  EXPECT_EQ(curve.at(3), Rate{25e9});  // halfway from 20 to 30
  EXPECT_EQ(curve.at(4), Rate{30e9});
  EXPECT_EQ(curve.at(5), Rate{25e9});  // one quarter from 30 to 10
  EXPECT_EQ(curve.at(100), Rate{10e9});
  EXPECT_EQ(curve.saturated(), Rate{10e9});
}

TEST(StridedEfficiency, IsLinearInTheLogarithmOfTheColumn) {
  const StridedEfficiency strided{{{Bytes{8192}, 0.8}, {Bytes{32768}, 1.0}}};
  EXPECT_EQ(strided.at(Bytes{1}), 0.8);
  EXPECT_EQ(strided.at(Bytes{0}), 0.8);
  EXPECT_EQ(strided.at(Bytes{8192}), 0.8);
  EXPECT_DOUBLE_EQ(strided.at(Bytes{16384}), 0.9);  // log2: 13, 14, 15
  EXPECT_EQ(strided.at(Bytes{1e9}), 1.0);
}

TEST(StridedEfficiency, WithoutPointsThereIsNoLoss) {
  EXPECT_EQ(StridedEfficiency{}.at(Bytes{8}), 1.0);
}

TEST(CapacityGroup, BothBusyReplacesTheCapacityOnlyWhileBothSidesAre) {
  CapacityGroup group;
  group.capacity = CapacityCurve{{{1, Rate{20e9}}}};
  group.both_busy = CapacityCurve{{{1, Rate{16e9}}}};
  EXPECT_EQ(group.bound(3, true, false), Rate{20e9});
  EXPECT_EQ(group.bound(3, false, true), Rate{20e9});
  EXPECT_EQ(group.bound(3, true, true), Rate{16e9});
  group.capacity.reset();
  EXPECT_GT(group.bound(1, true, false), Rate{1e300});  // unbounded
}

}  // namespace
}  // namespace tilerail
