#include "model/kernels/energy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilerail {
namespace {

// 6 Gflop in 2 s with 300 J: 3 Gflop/s at 150 W.
constexpr Outcome outcome{Flops{6e9}, Seconds{2}, Joules{300}};

double of(std::string_view name) {
  return std::ranges::find(metrics, name, &Metric::name)->of(outcome);
}

TEST(Metrics, FollowTheThesis) {
  EXPECT_DOUBLE_EQ(of("perf"), 3e9);
  EXPECT_DOUBLE_EQ(of("edp"), 3e9 * 3e9 / 150);
  EXPECT_DOUBLE_EQ(of("pdp"), 3e9 / 150);
}

TEST(Metrics, AnEnergyDelayProductIsJoulesTimesSeconds) {
  EXPECT_DOUBLE_EQ(energy_delay(Joules{300}, Seconds{2}), 600);
  // For one problem, edp = flops^2 / energy-delay product: larger is better.
  EXPECT_DOUBLE_EQ(of("edp"), 6e9 * 6e9 / 600);
}

}  // namespace
}  // namespace tilerail
