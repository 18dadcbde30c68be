// Energy counters of a real GPU: what is made of them has to agree with itself and with what the GPU may draw.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "backends/cuda/measure/kernel_meter.hpp"
#include "backends/cuda/measure/power_watch.hpp"
#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {
namespace {

class GpuPower : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    if (meter_.joules(0) == 0) GTEST_SKIP() << "this GPU counts no energy";
  }

  /// Mean watts while `work` is repeated for so long.
  double watts(double seconds, const std::function<void()>& work) const {
    PowerWatch watch{meter_, {0}};
    while (watch.now() < seconds) work();
    const auto mean = watch.stop().front().watts();
    EXPECT_TRUE(mean) << "no steps of the counter in " << seconds << " s";
    return mean.value_or(0);
  }

  PowerMeter meter_;
};

// Were readings taken for steps of the counter, short spans would be off by up to half.
TEST_F(GpuPower, SpansOfDifferentLengthsAgree) {
  BenchDevice device{0, std::size_t{1} << 30};
  KernelMeter kernels{device};
  kernels.fill(DType::f64);
  const auto burst = [&] { kernels.gemm({DType::f64, Trans::no, Trans::no, 2048, 2048, 2048}, 10); };
  watts(1.5, burst);  // until the power has settled
  const double whole = watts(3, burst);
  for (const double seconds : {0.65, 0.75, 0.9}) EXPECT_NEAR(watts(seconds, burst) / whole, 1, 0.05) << seconds << " s";
  EXPECT_LT(whole, 1.05 * meter_.limit_watts(0));

  std::this_thread::sleep_for(std::chrono::seconds{1});
  const double idle = watts(1, [] { std::this_thread::sleep_for(std::chrono::milliseconds{10}); });
  EXPECT_GT(idle, 0);
  EXPECT_LT(idle, 0.7 * whole);
}

}  // namespace
}  // namespace tilerail::cuda
