// Time of one problem with all matrices in host memory: the library against cuBLASXt, in
// one process, on the same buffers. Ratios are relative to the library's median.
#include <cublasXt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "api/include/tilerail/tilerail.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/host_buffer.hpp"
#include "bench/random_doubles.hpp"
#include "check/row_check.hpp"
#include "model/base/statistics.hpp"

namespace {

using namespace tilerail;
using cuda::check;

struct Shape {
  int64_t m = 0, n = 0, k = 0;
  GemmProblem checked_problem() const {
    GemmProblem p;
    p.m = m, p.n = n, p.k = k;
    return checked(p);
  }
};

class Bench {
 public:
  Bench(const Shape& p, HostPages pages, int calls)
      : p_{p},
        calls_{calls},
        a_{bytes(p.m, p.k), pages},
        b_{bytes(p.k, p.n), pages},
        c_{bytes(p.m, p.n), pages},
        before_(size_t(p.m * p.n)) {
    fill_randomly(a(), p.m * p.k, 1), fill_randomly(b(), p.k * p.n, 2),
        fill_randomly(c(), p.m * p.n, 3);
    std::copy_n(c(), before_.size(), before_.data());
  }

  double* a() const { return reinterpret_cast<double*>(a_.data()); }
  double* b() const { return reinterpret_cast<double*>(b_.data()); }
  double* c() const { return reinterpret_cast<double*>(c_.data()); }

  /// Runs a first call, which is checked, then the repeats. Returns the median.
  double time(const std::string& name, double reference,
              const std::function<void()>& call) {
    std::copy_n(before_.data(), before_.size(), c());
    const double first = seconds(call);
    const auto as_bytes = [](const double* x) {
      return reinterpret_cast<const std::byte*>(x);
    };
    const RowCheck right = check_rows(
        p_.checked_problem(),
        {as_bytes(a()), as_bytes(b()), as_bytes(before_.data()), as_bytes(c())}, 256, 9);
    std::vector<double> times;
    for (int i = 0; i < calls_; ++i) times.push_back(seconds(call));
    const double middle = median(times),
                 least = *std::min_element(times.begin(), times.end());
    std::printf("%-28s %10.2f %10.2f %10.2f %8.3f  %s\n", name.c_str(), 1e3 * first,
                1e3 * middle, 1e3 * least, middle / (reference > 0 ? reference : middle),
                right.passed() ? "right" : "WRONG");
    std::fflush(stdout);
    return middle;
  }

 private:
  static size_t bytes(int64_t rows, int64_t cols) {
    return size_t(rows * cols) * sizeof(double);
  }
  static double seconds(const std::function<void()>& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  Shape p_;
  int calls_;
  cuda::HostBuffer a_, b_, c_;
  std::vector<double> before_;
};

void run(const std::string& topology, const Shape& p, HostPages pages, int calls) {
  std::printf(
      "%lld x %lld x %lld f64, matrices in %s host pages, %d calls\n%-28s %10s %10s %10s "
      "%8s\n",
      static_cast<long long>(p.m), static_cast<long long>(p.n),
      static_cast<long long>(p.k), pages == HostPages::spread ? "spread" : "plain", calls,
      "", "first ms", "median ms", "least ms", "ratio");
  Bench bench{p, pages, calls};
  double ours = 0;
  std::vector<int> devices;
  {
    ContextOptions options;
    options.topology = topology;
    Context context{options};
    devices = context.devices();
    ours = bench.time("TileRail, " + std::to_string(devices.size()) + " GPUs", 0, [&] {
      gemm(context, 'N', 'N', p.m, p.n, p.k, 1.0, bench.a(), p.m, bench.b(), p.k, 1.0,
           bench.c(), p.m);
    });
  }
  for (const int block : {1024, 2048, 4096}) {
    cublasXtHandle_t handle = nullptr;
    check(cublasXtCreate(&handle), "creating a cuBLASXt handle");
    check(cublasXtDeviceSelect(handle, int(devices.size()), devices.data()),
          "selecting devices");
    check(cublasXtSetBlockDim(handle, block), "setting the block");
    const double one = 1;
    bench.time("cuBLASXt, block " + std::to_string(block), ours, [&] {
      check(cublasXtDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size_t(p.m), size_t(p.n),
                          size_t(p.k), &one, bench.a(), size_t(p.m), bench.b(),
                          size_t(p.k), &one, bench.c(), size_t(p.m)),
            "cublasXtDgemm");
    });
    cublasXtDestroy(handle);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc > 7) {
    std::fputs("usage: bench_cuda_gemm TOPOLOGY M N K [CALLS] [spread|plain]\n", stderr);
    return 2;
  }
  if (cuda::device_count() == 0) {
    std::fputs("bench_cuda_gemm: this machine has no CUDA device\n", stderr);
    return 3;
  }
  const Shape problem{std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4])};
  const int calls = argc > 5 ? std::atoi(argv[5]) : 10;
  const bool plain = argc > 6 && std::string{argv[6]} == "plain";
  if (std::min({problem.m, problem.n, problem.k}) < 1 || calls < 1) {
    std::fputs("bench_cuda_gemm: M, N, K and CALLS are numbers above 0\n", stderr);
    return 2;
  }
  try {
    run(argv[1], problem, plain ? HostPages::plain : HostPages::spread, calls);
  } catch (const HardwareError& error) {
    std::fprintf(stderr, "bench_cuda_gemm: %s\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cuda_gemm: %s\n", error.what());
    return 2;
  }
}
