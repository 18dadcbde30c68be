// C = A B on all GPUs, matrices in ordinary host memory, checked on sampled elements.
//   gemm_cpp [N] [TOPOLOGY] [registered|staged|copied]
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <tilerail/tilerail.hpp>
#include <vector>

namespace {

std::vector<double> random_matrix(int64_t n, unsigned seed) {
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> uniform{-1, 1};
  std::vector<double> values(size_t(n * n));
  for (double& value : values) value = uniform(random);
  return values;
}

/// The largest error of 1000 elements of C, relative to the bound of rounding errors.
double sampled_error(const std::vector<double>& a, const std::vector<double>& b,
                     const std::vector<double>& c, int64_t n) {
  std::mt19937_64 random{3};
  std::uniform_int_distribution<int64_t> index{0, n - 1};
  double worst = 0;
  for (int sample = 0; sample < 1000; ++sample) {
    const int64_t i = index(random), j = index(random);
    double sum = 0, magnitude = 0;
    for (int64_t p = 0; p < n; ++p) {
      const double product = a[size_t(i + p * n)] * b[size_t(p + j * n)];
      sum += product, magnitude += std::abs(product);
    }
    const double bound = 2 * double(n + 2) * 0x1p-53 * magnitude;
    const double error = std::abs(c[size_t(i + j * n)] - sum) / bound;
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t n = argc > 1 ? std::atoll(argv[1]) : 4096;
  if (n < 1 || n > 65536) {
    std::fprintf(stderr,
                 "usage: %s [N from 1 to 65536] [TOPOLOGY] [registered|staged|copied]\n",
                 argv[0]);
    return 2;
  }
  try {
    tilerail::ContextOptions options;
    if (argc > 2) options.topology = argv[2];
    if (argc > 3 && std::string{argv[3]} == "staged")
      options.pageable = tilerail::Pageable::staged;
    if (argc > 3 && std::string{argv[3]} == "copied")
      options.pageable = tilerail::Pageable::copied;
    tilerail::Context context{options};
    const std::vector<double> a = random_matrix(n, 1), b = random_matrix(n, 2);
    std::vector<double> c(a.size());
    for (int call = 1; call <= 3; ++call) {
      tilerail::GemmTimes times;
      tilerail::GemmOptions how;
      how.times = &times;
      tilerail::gemm(context, 'N', 'N', n, n, n, 1.0, a.data(), n, b.data(), n, 0.0,
                     c.data(), n, how);
      std::printf("call %d: plan %.3f ms, memory %.3f ms, run %.3f ms\n", call,
                  times.plan * 1e3, times.memory * 1e3, times.run * 1e3);
    }
    const double error = sampled_error(a, b, c, n);
    const bool right = error <= 1;
    std::printf("%s on %zu GPUs of '%s': error %.2g of what rounding explains\n",
                right ? "right" : "WRONG", context.devices().size(),
                context.topology_name().c_str(), error);
    return right ? 0 : 1;
  } catch (const tilerail::HardwareError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
