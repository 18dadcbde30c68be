// Copies and kernels together on two-gpu, in square tiles of 1024 doubles: a copy between
// host and GPU takes t = 10 us + 8 MiB / (10 GB/s), a GEMM g = 2 * 1024^3 / (1 TFLOP/s),
// and an axpby x = 3 * 8 MiB / (1 TB/s).

#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

constexpr int64_t n = 1024, tile_bytes = n * n * 8;
constexpr double t = 10 * us + tile_bytes / 10e9, g = 2.0 * n * n * n / 1e12,
                 x = 3.0 * tile_bytes / 1e12;

TEST(SimOverlap, KernelsRunWhileTheNextTilesArrive) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  std::vector<OpId> kernels;
  for (int i = 0; i < 3; ++i)
    kernels.push_back(p.gemm(gpu0, n, n, n, {p.copy(host, gpu0, tile_bytes)}));
  // t < g: after the first tile the GPU is never idle.
  const Timeline times = SimExecutor{machine}.execute(p.plan);
  for (int i = 0; i < 3; ++i)
    expect_times(times, kernels[size_t(i)], t + i * g, t + (i + 1) * g);
}

TEST(SimOverlap, AKernelWaitsForTheTileThatArrivesLast) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId a = p.copy(host, gpu0, tile_bytes), b = p.copy(gpu1, gpu0, 400 * MB / 5);
  // 80 MB at 40 GB/s after 5 us: 2.005 ms, later than the other tile.
  const OpId kernel = p.gemm(gpu0, n, n, n, {a, b});
  expect_times(SimExecutor{machine}.execute(p.plan), kernel, 2.005 * ms, 2.005 * ms + g);
}

TEST(SimOverlap, LazyCHidesTheFetchOfCBehindTheKernel) {
  const Topology machine = two_gpu();
  SimExecutor sim{machine};

  // Eager: C = A B + C with C fetched first.  |A|B|C|gemm|write back|
  HandPlan eager{machine};
  const OpId ea = eager.copy(host, gpu0, tile_bytes),
             eb = eager.copy(host, gpu0, tile_bytes),
             ec = eager.copy(host, gpu0, tile_bytes);
  eager.copy(gpu0, host, tile_bytes, {eager.gemm(gpu0, n, n, n, {ea, eb, ec})});
  expect_time(sim.execute(eager.plan).makespan().value, 3 * t + g + t);

  // Lazy: C' = A B, then C = C + C'.   |A|B|gemm    |axpby|write back|
  //                                        |C|                        with t < g
  HandPlan lazy{machine};
  const OpId la = lazy.copy(host, gpu0, tile_bytes),
             lb = lazy.copy(host, gpu0, tile_bytes),
             lc = lazy.copy(host, gpu0, tile_bytes);
  const OpId product = lazy.gemm(gpu0, n, n, n, {la, lb}, 0, Scalar::zero);
  lazy.copy(gpu0, host, tile_bytes,
            {lazy.axpby(gpu0, n, n, Scalar::beta, Scalar::one, {product, lc})});
  expect_time(sim.execute(lazy.plan).makespan().value, 2 * t + g + x + t);
}

}  // namespace
}  // namespace tilerail::testing
