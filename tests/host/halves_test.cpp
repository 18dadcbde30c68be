// Planned products of halves are as accurate as one call that accumulates in f32 and
// rounds once.
#include <gtest/gtest.h>

#include <cblas.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "backends/host/run/host_executor.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/halves.hpp"
#include "tests/support/tiled_plan.hpp"

namespace tilerail {
namespace {

/// A matrix of normal random halves, as values and as bits.
struct Halves {
  std::vector<double> values;
  std::vector<uint16_t> bits;

  Halves(int64_t count, DType dtype, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < count; ++i) {
      bits.push_back(test::half_bits(normal(random), dtype));
      values.push_back(test::half_value(bits.back(), dtype));
    }
  }
};

double rms(const std::vector<double>& x, const std::vector<double>& exact) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += (x[i] - exact[i]) * (x[i] - exact[i]);
  return std::sqrt(sum / double(x.size()));
}

struct Variant {
  const char* name;
  int64_t m, n, k, tile;
  int a, b, c;  // places: 0 is the host, then the devices
  std::vector<const char*> set;
};

class HalvesAccuracy : public ::testing::TestWithParam<Variant> {
 protected:
  /// The error of the planned product over the error of one call.
  double relative_error(DType dtype, double beta) {
    const Variant& v = GetParam();
    GemmProblem p;
    p.m = v.m, p.n = v.n, p.k = v.k, p.dtype = dtype, p.beta = beta;
    p.place_a = MemoryId{v.a}, p.place_b = MemoryId{v.b}, p.place_c = MemoryId{v.c};
    Policy policy = any_preset("tilerail");
    policy.choices.tile = v.tile;
    for (const char* set : v.set) apply_override(policy, set);
    const Topology machine = test::machine(2, 2);
    const Plan plan = plan_gemm(p, machine, machine.gpus(), policy);
    std::mt19937_64 random{5};
    Halves a{p.m * p.k, dtype, random}, b{p.k * p.n, dtype, random},
        c{p.m * p.n, dtype, random};
    std::vector<double> exact = c.values, once, planned;
    std::vector<float> fa(a.values.begin(), a.values.end()),
        fb(b.values.begin(), b.values.end()), sum(c.values.begin(), c.values.end());
    const int m = int(p.m), n = int(p.n), k = int(p.k);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.values.data(), m,
                b.values.data(), k, beta, exact.data(), m);
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, fa.data(), m,
                fb.data(), k, float(beta), sum.data(), m);
    HostExecutor executor{machine, {.workers = 2, .poison = true}};
    executor.set_matrices({a.bits.data(), b.bits.data(), c.bits.data()});
    executor.execute(plan);
    for (size_t i = 0; i < exact.size(); ++i) {
      once.push_back(test::stored(sum[i], dtype));
      planned.push_back(test::half_value(c.bits[i], dtype));
    }
    return rms(planned, exact) / rms(once, exact);
  }
};

TEST_P(HalvesAccuracy, IsThatOfOneRounding) {
  for (const DType dtype : {DType::f16, DType::bf16})
    for (const double beta : {0.0, 0.5})
      EXPECT_LE(relative_error(dtype, beta), 1.05)
          << to_string(dtype) << ", beta " << beta;
}

INSTANTIATE_TEST_SUITE_P(
    Variants, HalvesAccuracy,
    ::testing::Values(
        Variant{"Lazy", 192, 160, 1536, 64, 0, 0, 0, {"c-tiles=lazy"}},
        Variant{"Eager", 192, 160, 1536, 64, 0, 0, 0, {"c-tiles=eager"}},
        Variant{"OneTileOfKLazy", 192, 160, 64, 64, 0, 0, 0, {"c-tiles=lazy"}},
        Variant{"Layers", 192, 160, 1536, 64, 0, 0, 0, {"grid=square(layers=2)"}},
        Variant{"LayersAndHome",
                192,
                160,
                1536,
                64,
                0,
                1,
                2,
                {"grid=square(layers=2)", "c-tiles=lazy"}},
        Variant{"InPlace", 192, 160, 1536, 64, 0, 2, 1, {}},
        Variant{"SmallC", 40, 30, 3072, 64, 0, 0, 0, {}},
        Variant{"SmallCInPlace", 40, 30, 3072, 64, 0, 0, 1, {}},
        Variant{"WritesWithNext",
                192,
                160,
                1536,
                64,
                0,
                0,
                0,
                {"write-backs=with-next", "c-tiles=lazy"}},
        Variant{"Vector", 2500, 1, 1536, 64, 0, 0, 0, {}}),
    [](const auto& instance) { return std::string{instance.param.name}; });

}  // namespace
}  // namespace tilerail
