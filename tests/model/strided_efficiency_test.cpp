// Rates of 2-D copies by column, pitch, cached pages and interference, calculated by
// hand.
#include <gtest/gtest.h>

#include <cmath>

#include "model/machine/topology.hpp"

namespace tilerail {
namespace {

// Columns of 8 KiB have the packed rate at a pitch of 16 KiB, and half of it from 64 KiB
// on: between them, linear in the logarithm of the pitch.
TEST(StridedEfficiency, FallsWithThePitchAndLessForKnownPages) {
  const Bytes column{8192}, near{16384}, far{65536};
  StridedEfficiency strided;
  strided.points = {{column, 1.0, near}, {column, 0.5, far}};
  strided.again = {{column, 0.8, Bytes{0}}}, strided.peer = {{column, 0.3, Bytes{0}}};
  const auto of = [&](double pitch, bool between_devices, double again) {
    return strided.of({column, Bytes{pitch}, between_devices, false, again});
  };
  EXPECT_DOUBLE_EQ(of(8192, false, 0), 1);
  EXPECT_DOUBLE_EQ(of(16384, false, 0), 1);
  EXPECT_DOUBLE_EQ(of(32768, false, 0), 0.75);
  EXPECT_DOUBLE_EQ(of(65536, false, 0), 0.5);
  EXPECT_DOUBLE_EQ(of(1e6, false, false), 0.5);
  EXPECT_DOUBLE_EQ(of(65536, false, 1), 0.8);
  EXPECT_DOUBLE_EQ(1 / of(65536, false, 0.25), 0.75 / 0.5 + 0.25 / 0.8)
      << "of the columns, not of the time";
  EXPECT_DOUBLE_EQ(of(65536, true, 1), 0.3) << "no matter between devices";
  strided.back = {{column, 0.2, Bytes{0}}};
  EXPECT_DOUBLE_EQ(strided.of({column, far, false, true, 1}), 0.2) << "to the host";
  EXPECT_DOUBLE_EQ(of(65536, false, 1), 0.8) << "not to the host";
}

// At half the rate, finding the pages takes as long as the bytes; three times that is a
// quarter of the rate.
TEST(StridedEfficiency, KernelsDelayFindingPages) {
  StridedEfficiency strided;
  strided.points = {{Bytes{8192}, 0.5}}, strided.again = {{Bytes{8192}, 0.8}},
  strided.peer = {{Bytes{8192}, 0.4}};
  strided.beside = 3;
  const auto of = [&](bool between_devices, double again) {
    return strided.of({Bytes{8192}, Bytes{65536}, between_devices, false, again});
  };
  EXPECT_DOUBLE_EQ(of(false, 0), 0.25);
  EXPECT_DOUBLE_EQ(of(false, 1), 0.8) << "they are known";
  EXPECT_DOUBLE_EQ(of(true, 0), 0.4) << "between devices";
}

// With interference for half of the time: twice as long.
TEST(StridedEfficiency, InterferenceCountsInProportionToItsDuration) {
  StridedEfficiency strided;
  strided.points = {{Bytes{8192}, 0.5}};
  strided.beside = 3;
  const auto of = [&](double any) {
    return strided.of({.column = Bytes{8192},
                       .pitch = Bytes{65536},
                       .interference = {.any = any, .kernels = 0}});
  };
  EXPECT_DOUBLE_EQ(of(0), 0.5);
  EXPECT_DOUBLE_EQ(of(0.5), 1.0 / 3);
  EXPECT_DOUBLE_EQ(of(1), 0.25);
}

// At a pitch of 20 KiB, four columns share a line of 64 KiB and lose nothing. At 80 KiB,
// the least multiple of at least a line, finding the pages takes as long as the bytes; a
// quarter of that applies if kernels evict a quarter.
TEST(StridedEfficiency, KernelsEvictLinesThatColumnsShare) {
  const Bytes column{8192};
  StridedEfficiency strided;
  strided.points = {{column, 1, Bytes{20480}},
                    {column, 0.5, Bytes{81920}},
                    {column, 0.25, Bytes{163840}}};
  strided.forgotten = 0.25, strided.beside = 2;
  const auto of = [&](double pitch, double kernels) {
    return strided.of({.column = column,
                       .pitch = Bytes{pitch},
                       .interference = {.any = 0, .kernels = kernels}});
  };
  EXPECT_DOUBLE_EQ(of(20480, 0), 1);
  EXPECT_DOUBLE_EQ(of(20480, 1), 1 / 1.25);
  EXPECT_DOUBLE_EQ(of(20480, 0.5), 1 / 1.125);
  EXPECT_DOUBLE_EQ(of(81920, 1), 0.5) << "columns share no lines";
  EXPECT_DOUBLE_EQ(strided.of({.column = column, .pitch = Bytes{20480}}),
                   1 / (1 + 2 * 0.25))
      << "and takes longer";
}

TEST(StridedEfficiency, PitchesOnAndOffTheBorderHaveSeparateCurves) {
  const Bytes column{8192};
  StridedEfficiency strided;
  strided.border = Bytes{16384};
  strided.points = {{column, 0.9, Bytes{20000}},
                    {column, 0.6, Bytes{32768}},
                    {column, 0.7, Bytes{40000}},
                    {column, 0.4, Bytes{65536}}};
  const auto of = [&](double pitch) { return strided.of({column, Bytes{pitch}}); };
  EXPECT_DOUBLE_EQ(of(16384), 0.6);
  EXPECT_NEAR(of(49152), 0.6 - 0.2 * std::log2(1.5), 1e-12);
  EXPECT_DOUBLE_EQ(of(1e9), 0.7);
  EXPECT_DOUBLE_EQ(strided.at(column), 0.4);
  EXPECT_NEAR(of(std::sqrt(20000.0 * 40000.0)), 0.8, 1e-12);
  EXPECT_DOUBLE_EQ(of(32768 + 8), 0.9 - 0.2 * std::log2(32776 / 20000.0));
  strided.points = {{column, 0.6, Bytes{32768}}, {column, 0.4, Bytes{65536}}};
  EXPECT_DOUBLE_EQ(of(65536 + 8), 0.4);  // without points of its kind
  strided.points = {{column, 0.9, Bytes{20000}}, {column, 0.6, Bytes{32768}}},
  strided.border = Bytes{0};
  EXPECT_DOUBLE_EQ(of(16384), 0.9) << "without a border all are alike";
}

}  // namespace
}  // namespace tilerail
