// Results from energy counters, tested on counters with known power and steps.
#include "backends/cuda/measure/counter_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tilerail::cuda {
namespace {

constexpr double offset = 5e6;  // J: counters do not start at 0

/// Reads, every 2 ms from `begin` to `end`, a counter that changes every 100 ms, a
/// quarter of this period after whole tenths of a second. `energy`: J since time 0.
template <class Energy>
CounterTrace read(double begin, double end, Energy energy) {
  CounterTrace trace;
  for (int i = 0; begin + 0.002 * i <= end; ++i) {
    const double time = begin + 0.002 * i,
                 step = std::floor((time - 0.025) / 0.1) * 0.1 + 0.025;
    trace.add(time, offset + energy(step));
  }
  return trace;
}

CounterTrace steady(double watts, double begin, double end) {
  return read(begin, end, [=](double time) { return watts * time; });
}

// At 600 W and a reading span of 190 ms, one step gives 316 W and two give 632 W: a
// difference of readings over 0.19 s is useless.
TEST(CounterTrace, StepsGiveThePowerIfReadingsDoNot) {
  EXPECT_FALSE(steady(600, 0, 0.19).watts());
  for (const double begin : {0.0, 0.01, 0.03, 0.08}) {
    const CounterTrace trace = steady(600, begin, begin + 0.75);
    ASSERT_TRUE(trace.watts());
    EXPECT_NEAR(*trace.watts(), 600,
                600 * 0.002 / trace.span());  // a step is seen up to 2 ms late
  }
}

TEST(CounterTrace, TheFirstReadingIsNotAStep) {
  CounterTrace trace;
  trace.add(0, 100);
  EXPECT_TRUE(trace.steps().empty());
  trace.add(1, 100);
  trace.add(2, 130);
  trace.add(3, 130);
  trace.add(4, 190);
  ASSERT_EQ(trace.steps().size(), 2u);
  EXPECT_EQ(trace.span(), 2);
  EXPECT_EQ(trace.watts(), 30);
}

TEST(CounterTrace, EnergyBetweenStepsIsInProportion) {
  CounterTrace trace;
  for (const auto& [time, joules] :
       {std::pair{0., 100.}, {1., 110.}, {2., 130.}, {3., 190.}})
    trace.add(time, joules);
  EXPECT_DOUBLE_EQ(trace.between(1, 3), 80);
  EXPECT_DOUBLE_EQ(trace.between(1.5, 2.25), 10 + 15);
}

TEST(CounterTrace, AResetDropsEarlierReadings) {
  CounterTrace trace;
  for (const auto& [time, joules] :
       {std::pair{0., 100.}, {1., 110.}, {2., 5.}, {3., 25.}, {4., 55.}})
    trace.add(time, joules);
  ASSERT_EQ(trace.steps().size(), 2u);
  EXPECT_EQ(trace.watts(), 30);
}

TEST(CounterTrace, AMissingCounterGivesNoEnergy) {
  CounterTrace trace;
  for (int i = 0; i < 100; ++i) trace.add(i, 0);
  EXPECT_FALSE(trace.watts());
  EXPECT_EQ(trace.span(), 0);
  EXPECT_FALSE(energy_of_calls(std::vector{trace}, std::vector<double>{1, 2, 3}));
}

/// End times of calls of this duration, starting at 0.
std::vector<double> calls(int count, double seconds) {
  std::vector<double> ends;
  for (int i = 1; i <= count; ++i) ends.push_back(seconds * i);
  return ends;
}

TEST(CountedEnergy, IsPowerTimesTheTimeOfACall) {
  const std::vector devices{steady(600, 0, 1), steady(200, 0, 1)};
  const auto counted = energy_of_calls(devices, calls(100, 0.01));
  ASSERT_TRUE(counted);
  EXPECT_NEAR(counted->seconds, 0.01, 1e-12);
  EXPECT_GT(counted->calls, 80);  // calls between the steps at 0.125 s and 0.925 s
  EXPECT_THAT(counted->joules, ::testing::ElementsAre(::testing::DoubleNear(6, 0.03),
                                                      ::testing::DoubleNear(2, 0.01)));
}

// Calls of 300 ms: 100 W for 100 ms, then 700 W for 200 ms; only whole calls count, so
// each has 150 J.
TEST(CountedEnergy, CountsWholeCalls) {
  const auto energy = [](double time) {
    const double call = std::floor(time / 0.3), inside = time - 0.3 * call;
    return 150 * call + 100 * std::min(inside, 0.1) + 700 * std::max(0.0, inside - 0.1);
  };
  const auto counted = energy_of_calls(std::vector{read(0, 1.5, energy)}, calls(5, 0.3));
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->calls, 3);  // from the end of the first call to the end of the
                                 // fourth
  EXPECT_NEAR(counted->joules[0], 150, 3);
}

TEST(CountedEnergy, IsUnknownForTooShortASpan) {
  EXPECT_FALSE(energy_of_calls(std::vector{steady(600, 0, 0.45)}, calls(45, 0.01)));
  EXPECT_FALSE(energy_of_calls(std::vector{steady(600, 0, 1)}, calls(1, 1)));
  EXPECT_FALSE(energy_of_calls(std::vector{steady(600, 0, 1)}, {}));
}

}  // namespace
}  // namespace tilerail::cuda
