// The two eight-GPU HGX machines compared with their link grids and probes.
#include "tests/support/machine_rates.hpp"

namespace tilerail {
namespace {

using namespace machine_rates;

// -----------------------------------------------------------------------------------------------------
// Karolina

TEST(Karolina, HostRatesFallWithTheBusyGpusAsInTheGrids) {
  const Topology t = shipped("karolina-hgx-a100");
  expect_near(alone(t, "host", "gpu5"), 22, 0.001);
  expect_near(alone(t, "gpu5", "host"), 24, 0.001);
  expect_each_near(together(t, fetches({2, 4})), 18, 0.001);        // grid 20
  expect_each_near(together(t, fetches({0, 2, 4, 6})), 18, 0.001);  // grid 85
  expect_each_near(together(t, fetches({0, 1, 2, 3})), 12,
                   0.001);  // grid 15: two whole pairs
  expect_each_near(together(t, fetches(all_eight)), 11, 0.001);   // grid 255
  expect_each_near(together(t, write_backs({0, 2})), 22, 0.001);  // grid 5
  expect_each_near(together(t, write_backs({1, 3, 5, 7})), 22, 0.001);
  expect_each_near(together(t, write_backs(all_eight)), 12, 0.001);
}

TEST(Karolina, APairMovesAbout35GigabytesInBothDirectionsTogether) {
  const Topology t = shipped("karolina-hgx-a100");
  expect_near(total(t, both_ways({0}, {0})), 19 + 16, 0.03);
  expect_near(total(t, both_ways({0, 2}, {0, 2})), 2 * (16 + 18), 0.05);
  expect_near(total(t, both_ways({0, 1, 2, 3}, {0, 2})), 2 * (10 + 10 + 16),
              0.03);  // grid 15_5
  expect_near(total(t, both_ways(all_eight, {0, 2, 4, 6})), 4 * (9 + 9 + 18),
              0.03);  // grid 255_85
}

TEST(Karolina, GpuPairsCopyAt150GBsAndSlightlyLessInARing) {
  const Topology t = shipped("karolina-hgx-a100");
  for (int g = 1; g < 8; ++g) expect_near(alone(t, "gpu0", gpu(g)), 150, 0.001);
  Copies ring;
  for (int g = 0; g < 8; ++g) ring.emplace_back(gpu(g), gpu((g + 1) % 8));
  expect_each_near(together(t, ring), 136, 0.001);
  const auto mixed =
      together(t, {{"gpu7", "gpu0"}, {"host", "gpu0"}});  // NVLink and PCIe are separate
  expect_near(mixed[0], 150, 0.001);
  expect_near(mixed[1], 22, 0.001);
}

TEST(Karolina, KernelsRunAtTheSustainedRate) {
  // Thesis 4.3.1: 17.2 TFLOP/s; 2 x 32768^3 in 4.009 s with T = 8192 is 17.55 with all
  // overheads. FP32 has the same peak.
  const Topology t = shipped("karolina-hgx-a100");
  for (int64_t tile : {2048, 4096, 8192}) {
    expect_near(tflops(t, 0, tile, DType::f64), 17.4, 0.015);
    expect_near(tflops(t, 0, tile, DType::f32), 17.4, 0.015);
  }
  EXPECT_LT(tflops(t, 0, 512, DType::f64), 8);
}

// ---------------------------------------------------------------------------------------------------------
// H200

TEST(HgxH200, HostRatesEqualRatesOfSpreadPages) {
  const Topology t = shipped("hgx-h200");
  for (int g = 0; g < 8; ++g) {
    expect_near(alone(t, "host", gpu(g)), 55.4, 0.002);
    expect_near(alone(t, gpu(g), "host"), 55.3, 0.002);
  }
  expect_each_near(together(t, fetches({0, 1})), 46.4, 0.02);  // h2d 0+1
  expect_each_near(together(t, fetches({0, 4})), 55.4,
                   0.002);  // h2d 0+4: the halves are independent
  expect_near(total(t, fetches(all_eight)), 266, 0.001);
  expect_near(total(t, write_backs(all_eight)), 158, 0.001);
  expect_near(total(t, both_ways(all_eight, all_eight)), 188, 0.001);
  expect_near(total(t, both_ways({0}, {0})), 102, 0.001);
}

TEST(HgxH200, ManyPeerCopiesPerGpuCostHalfTheBandwidth) {
  const Topology t = shipped("hgx-h200");
  Copies ring, scatter, gather, all_pairs;
  for (int a = 0; a < 8; ++a) {
    ring.emplace_back(gpu(a), gpu((a + 1) % 8));
    if (a > 0) scatter.emplace_back("gpu0", gpu(a)), gather.emplace_back(gpu(a), "gpu0");
    for (int b = 0; b < 8; ++b)
      if (a != b) all_pairs.emplace_back(gpu(a), gpu(b));
  }
  expect_near(alone(t, "gpu3", "gpu6"), 388.5, 0.01);
  expect_each_near(together(t, {{"gpu0", "gpu1"}, {"gpu1", "gpu0"}}), 385, 0.02);
  expect_each_near(together(t, ring), 380, 0.01);
  expect_near(total(t, scatter), 441.8, 0.01);
  expect_near(total(t, gather), 399.6, 0.01);
  expect_near(total(t, all_pairs), 1356.7, 0.01);
  const auto mixed = together(t, {{"host", "gpu0"}, {"gpu1", "gpu0"}});
  expect_near(mixed[0], 54.6, 0.02);
  expect_near(mixed[1], 389.4, 0.01);
}

TEST(HgxH200, KernelTimesAreTheMeasuredSquares) {
  // Times of the calibration, in bursts: 43.9 us, 293 us, 2.266 ms; f32 2.704 ms, f16
  // 187.7 us, bf16 179.7 us. The nearest other shapes (1000^3, 2000^3, 3750^3, ...)
  // change them by up to 3 %.
  const Topology t = shipped("hgx-h200");
  expect_near(tflops(t, 0, 1024, DType::f64), 48.9, 0.03);
  expect_near(tflops(t, 0, 2048, DType::f64), 58.6, 0.03);
  expect_near(tflops(t, 0, 4096, DType::f64), 60.65, 0.03);
  expect_near(tflops(t, 0, 4096, DType::f32), 50.8, 0.03);
  expect_near(tflops(t, 0, 4096, DType::f16), 732, 0.03);
  expect_near(tflops(t, 0, 4096, DType::bf16), 765, 0.03);
}

TEST(HgxH200, ADeviceThatIsAlwaysBusyReachesItsPowerLimit) {
  // 4096^3: 2.586 ms if always busy, 2.266 ms with pauses; f32 does not reach the limit.
  const Topology t = shipped("hgx-h200");
  const KernelTimes& kernels = t.kernels_of(t.gpus()[0]);
  EXPECT_NEAR(kernels.curve(DType::f64, Trans::no, Trans::no).load_factor(1),
              2.586 / 2.266, 0.01);
  EXPECT_NEAR(kernels.curve(DType::f64, Trans::no, Trans::no).load_factor(0.5), 1, 0.01);
  EXPECT_EQ(kernels.curve(DType::f32, Trans::no, Trans::no).load_factor(1), 1);
}

TEST(HgxH200, NarrowColumnsFarApartAreSlow) {
  const Topology t = shipped("hgx-h200");
  const auto efficiency = [&](double column, double pitch) {
    return t.description().strided.of({Bytes{column}, Bytes{pitch}, false, true});
  };
  EXPECT_NEAR(efficiency(16384, 131072), 0.60, 0.01);
  EXPECT_NEAR(efficiency(65536, 131072), 1.00, 0.01);
  EXPECT_NEAR(efficiency(4096, 16384), 0.86, 0.01);
  EXPECT_EQ(efficiency(16384, 262144), efficiency(16384, 131072));
}

}  // namespace
}  // namespace tilerail
