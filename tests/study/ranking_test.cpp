#include "study/cases/ranking.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tilerail::study {
namespace {

TEST(Ranking, TauIsOneForEqualAndMinusOneForOppositeOrders) {
  const std::array<double, 4> up{1, 2, 3, 4}, also{10, 11, 30, 31}, down{4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(kendall_tau(up, also), 1);
  EXPECT_DOUBLE_EQ(kendall_tau(up, down), -1);
}

TEST(Ranking, TauCountsPairs) {
  // 1 2 3 4 against 1 3 2 4: five of six pairs agree, one does not.
  const std::array<double, 4> a{1, 2, 3, 4}, b{1, 3, 2, 4};
  EXPECT_DOUBLE_EQ(kendall_tau(a, b), 4.0 / 6);
}

TEST(Ranking, TauDiscountsTies) {
  // Of three pairs, b has one tie; the other two agree: 2 / sqrt(3 * 2).
  const std::array<double, 3> a{1, 2, 3}, b{1, 2, 2}, same{5, 5, 5};
  EXPECT_DOUBLE_EQ(kendall_tau(a, b), 2 / std::sqrt(6.0));
  EXPECT_DOUBLE_EQ(kendall_tau(a, same), 0);
}

TEST(Ranking, RegretIsWhatTheChoiceCosts) {
  const std::array<double, 3> predicted{3, 1, 2}, measured{10, 12, 15};
  EXPECT_DOUBLE_EQ(regret(predicted, measured), 0.2);
  EXPECT_DOUBLE_EQ(regret(measured, measured), 0);
}

}  // namespace
}  // namespace tilerail::study
