// Energy counters of a real GPU: derived figures must agree with each other and with the
// GPU's power limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>
#include <utility>

#include "backends/cuda/measure/kernel_meter.hpp"
#include "backends/cuda/measure/power_watch.hpp"
#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {
namespace {

class GpuPower : public ::testing::Test {
 protected:
  static constexpr double long_span = 3;  // seconds

  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    if (meter_.joules(0) == 0) GTEST_SKIP() << "this GPU counts no energy";
  }

  /// Mean watts while `work` is repeated for `seconds`.
  double watts(double seconds, const std::function<void()>& work) const {
    PowerWatch watch{meter_, {0}};
    while (watch.now() < seconds) work();
    const auto mean = watch.stop().front().watts();
    EXPECT_TRUE(mean) << "no steps of the counter in " << seconds << " s";
    return mean.value_or(0);
  }

  /// Mean watts over a long span, once two successive spans agree.
  double settled(const std::function<void()>& work) const {
    constexpr double agreement = 0.02;
    constexpr int most_spans = 40;  // for a GPU whose power never settles
    double last = watts(long_span, work);
    for (int i = 0; i < most_spans; ++i) {
      const double next = watts(long_span, work);
      if (std::abs(next / last - 1) <= agreement) return next;
      last = next;
    }
    ADD_FAILURE() << "the power never settled";
    return last;
  }

  PowerMeter meter_;
};

// If readings were mistaken for steps of the counter, short spans would be wrong by up to
// half. The power drifts with the temperature, so each short span is compared with the
// long spans before and after it.
TEST_F(GpuPower, SpansOfDifferentLengthsAgree) {
  BenchDevice device{0, size_t{1} << 30};
  KernelMeter kernels{device};
  kernels.fill(DType::f64);
  const auto burst = [&] { kernels.gemm({DType::f64, 2048, 2048, 2048}, 10); };
  double whole = settled(burst);
  for (const double seconds : {0.65, 0.75, 0.9}) {
    const double shorter = watts(seconds, burst),
                 before = std::exchange(whole, watts(long_span, burst));
    EXPECT_GT(shorter, 0.95 * std::min(before, whole)) << seconds << " s";
    EXPECT_LT(shorter, 1.05 * std::max(before, whole)) << seconds << " s";
  }
  EXPECT_LT(whole, 1.05 * meter_.limit_watts(0));

  const double idle =
      settled([] { std::this_thread::sleep_for(std::chrono::milliseconds{10}); });
  EXPECT_GT(idle, 0);
  EXPECT_LT(idle,
            0.9 * whole);  // a hot GPU draws 160 W idle, and 235 W with reduced clocks
}

}  // namespace
}  // namespace tilerail::cuda
