#include "sched/choose/surrogate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tilerail {
namespace {

class SurrogateOf : public ::testing::Test {
 protected:
  Surrogate model_;
  const Surrogate::Change first_{{model_.feature("first"), 1}},
      second_{{model_.feature("second"), 1}};
  const Surrogate::Change both_{{model_.feature("first"), 1},
                                {model_.feature("second"), 1}};
};

TEST_F(SurrogateOf, NumbersEachFeatureOnce) {
  EXPECT_EQ(model_.feature("first"), first_[0].first);
  EXPECT_NE(first_[0].first, second_[0].first);
}

TEST_F(SurrogateOf, ExpectsNoEffectOfUnknownFeatures) {
  EXPECT_EQ(model_.predict(first_).mean, 0);
  EXPECT_GT(model_.predict(first_).deviation, 0);
  EXPECT_GT(model_.predict(both_).deviation, model_.predict(first_).deviation);
}

TEST_F(SurrogateOf, LearnsTheEffectOfAFeature) {
  const double before = model_.predict(first_).deviation;
  for (int i = 0; i < 100; ++i) model_.learn(first_, -0.2, 0.01);
  EXPECT_NEAR(model_.predict(first_).mean, -0.2, 1e-3);
  EXPECT_LT(model_.predict(first_).deviation, 0.1 * before);
  EXPECT_EQ(model_.predict(second_).mean, 0);
  EXPECT_EQ(model_.predict(second_).deviation, before);
}

TEST_F(SurrogateOf, AddsAndSeparatesEffects) {
  for (int i = 0; i < 1000; ++i) {
    model_.learn(first_, -0.2, 0.01);
    model_.learn(both_, 0.1, 0.01);
  }
  EXPECT_NEAR(model_.predict(second_).mean, 0.3, 1e-3);
  const Surrogate::Change back{{first_[0].first, -1}};
  EXPECT_NEAR(model_.predict(back).mean, 0.2, 1e-3);
}

TEST_F(SurrogateOf, TrustsPreciseObservationsMore) {
  Surrogate other = model_;
  model_.learn(first_, -0.2, 0.01);
  other.learn(first_, -0.2, 0.1);
  EXPECT_LT(model_.predict(first_).mean, other.predict(first_).mean);
  EXPECT_LT(model_.predict(first_).deviation, other.predict(first_).deviation);
}

/// The integral of max(0, -x) over the normal distribution, by the midpoint rule.
double integrated(double mean, double deviation) {
  constexpr int steps = 200'000;
  constexpr double reach = 12;  // standard deviations
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double z = reach * (2 * (i + 0.5) / steps - 1), x = mean + deviation * z;
    sum += std::max(0.0, -x) * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) *
           2 * reach / steps;
  }
  return sum;
}

TEST(SurrogateGuess, ImprovesByTheIntegralOfItsNormalDistributionBelowZero) {
  for (const double mean : {-0.3, -0.02, 0.0, 0.1, 0.4})
    for (const double deviation : {0.01, 0.1, 0.5}) {
      const Surrogate::Forecast forecast{mean, deviation};
      EXPECT_NEAR(forecast.improvement(), integrated(mean, deviation), 1e-7)
          << mean << " " << deviation;
    }
  EXPECT_EQ((Surrogate::Forecast{-0.3, 0}.improvement()), 0.3);
  EXPECT_EQ((Surrogate::Forecast{0.3, 0}.improvement()), 0);
}

}  // namespace
}  // namespace tilerail
