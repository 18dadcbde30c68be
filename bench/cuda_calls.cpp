// Overhead of a library call, as ratios within one process:
//   gpu       all matrices on GPU 0: against one synchronous cuBLAS call there
//   pageable  all matrices in host memory: ordinary against page-locked memory
//   kept      several products with one A in page-locked host memory: A kept on the
//             GPUs, including the time to keep it, against A on the host
//   handed    asynchronous calls on GPU 0: against synchronous ones, and against
//             asynchronous cuBLAS calls
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/include/tilerail/tilerail.hpp"
#include "bench/random_doubles.hpp"
#include "check/row_check.hpp"
#include "model/base/statistics.hpp"

namespace {

using namespace tilerail;
using cuda::check;

double seconds(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

ContextOptions options_for(const std::string& topology) {
  ContextOptions options;
  options.topology = topology;
  return options;
}

class DeviceDoubles {
 public:
  DeviceDoubles(int64_t count, uint64_t seed) : count_{count} {
    check(cudaMalloc(&data_, size_t(count) * sizeof(double)), "allocating");
    fill_randomly(data(), count, seed);
  }
  ~DeviceDoubles() { cudaFree(data_); }
  DeviceDoubles(const DeviceDoubles&) = delete;
  DeviceDoubles& operator=(const DeviceDoubles&) = delete;
  double* data() const { return static_cast<double*>(data_); }
  std::vector<double> fetched() const {
    std::vector<double> host(static_cast<size_t>(count_));
    check(cudaMemcpy(host.data(), data_, host.size() * sizeof(double), cudaMemcpyDefault),
          "fetching");
    return host;
  }

 private:
  int64_t count_;
  void* data_ = nullptr;
};

void compare_on_gpu(Context& context, cublasHandle_t handle, int64_t n) {
  const DeviceDoubles a{n * n, 1}, b{n * n, 2}, ours{n * n, 3}, theirs{n * n, 4};
  const double one = 1, zero = 0;
  PlanInfo info;
  GemmOptions options;
  options.plan = &info;
  const auto call_ours = [&] {
    gemm(context, 'N', 'N', n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, ours.data(), n,
         options);
  };
  const auto call_theirs = [&] {
    check(cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), n,
                         b.data(), n, &zero, theirs.data(), n),
          "cublasDgemm");
    check(cudaStreamSynchronize(nullptr), "cublasDgemm");
  };
  const double first = seconds(call_ours);
  call_theirs();
  double largest = 0;
  const std::vector<double> mine = ours.fetched(), reference = theirs.fetched();
  for (size_t i = 0; i < mine.size(); ++i)
    largest = std::max(largest, std::abs(mine[i] - reference[i]));
  std::vector<double> times, reference_times;
  for (int i = 0; i < (n < 2048 ? 300 : 60); ++i) {
    if (i % 2) reference_times.push_back(seconds(call_theirs));
    times.push_back(seconds(call_ours));
    if (i % 2 == 0) reference_times.push_back(seconds(call_theirs));
  }
  const double middle = median(times), reference_middle = median(reference_times);
  const bool right = largest <= 1e-15 * double(n) * std::sqrt(double(n));
  std::printf("%6lld %10.1f %10.1f %10.1f %8.2f %8.3f %6zu %5zu  %s\n",
              static_cast<long long>(n), 1e6 * first, 1e6 * middle,
              1e6 * reference_middle, 1e6 * (middle - reference_middle),
              middle / reference_middle, info.operations, info.devices.size(),
              right ? "right" : "WRONG");
  std::fflush(stdout);
}

void run_on_gpu(const std::string& topology) {
  Context context{options_for(topology)};
  cublasHandle_t handle = nullptr;
  check(cublasCreate(&handle), "creating a cuBLAS handle");
  std::printf(
      "f64, matrices on GPU 0, machine '%s' with %zu GPUs\n%6s %10s %10s %10s %8s %8s "
      "%6s %5s\n",
      context.topology_name().c_str(), context.devices().size(), "n", "first us",
      "ours us", "cuBLAS us", "more us", "ratio", "ops", "GPUs");
  for (const int64_t n : {64, 128, 256, 512, 1024, 2048, 3072, 4096})
    compare_on_gpu(context, handle, n);
  cublasDestroy(handle);
}

/// Ordinary memory, with huge pages if the system provides them on demand, like arrays of
/// numpy.
struct Deleter {
  void operator()(double* data) const { std::free(data); }
};
using Memory = std::unique_ptr<double[], Deleter>;
Memory ordinary(int64_t count, bool huge_pages) {
  constexpr size_t page = 2 << 20;
  const size_t bytes = (size_t(count) * sizeof(double) + page - 1) / page * page;
  Memory memory{static_cast<double*>(std::aligned_alloc(page, bytes))};
  madvise(memory.get(), bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return memory;
}

class HostCase {
 public:
  HostCase(int64_t n, double* a, double* b, double* c, std::string name)
      : n_{n}, a_{a}, b_{b}, c_{c}, name_{std::move(name)} {
    fill_randomly(a, n * n, 1), fill_randomly(b, n * n, 2), fill_randomly(c, n * n, 3);
  }
  double time(Context& context, int calls, double beta, double reference) {
    const std::vector<double> before(c_, c_ + n_ * n_);
    GemmTimes parts;
    GemmOptions options;
    options.times = &parts;
    const auto call = [&] {
      gemm(context, 'N', 'N', n_, n_, n_, 1.0, a_, n_, b_, n_, beta, c_, n_, options);
    };
    const double first = seconds(call);
    const bool right = passes(before, beta);
    std::vector<double> times, memory;
    for (int i = 0; i < calls; ++i)
      times.push_back(seconds(call)), memory.push_back(parts.memory);
    const double middle = median(times);
    std::printf("%-32s %10.2f %10.2f %10.2f %8.3f  %s\n", name_.c_str(), 1e3 * first,
                1e3 * middle, 1e3 * median(memory),
                middle / (reference > 0 ? reference : middle), right ? "right" : "WRONG");
    std::fflush(stdout);
    return middle;
  }

 private:
  bool passes(const std::vector<double>& before, double beta) const {
    GemmProblem p;
    p.m = p.n = p.k = n_, p.beta = beta;
    const auto bytes = [](const double* x) {
      return reinterpret_cast<const std::byte*>(x);
    };
    return check_rows(checked(p), {bytes(a_), bytes(b_), bytes(before.data()), bytes(c_)},
                      64, 9)
        .passed();
  }
  int64_t n_;
  double *a_, *b_, *c_;
  std::string name_;
};

void run_pageable(const std::string& topology, int64_t n, int calls) {
  Context context{options_for(topology)};
  for (const double beta : {0.0, 1.0}) {
    std::printf(
        "f64, %lld^3, beta %.0f, matrices in host memory, %d calls\n%-32s %10s %10s %10s "
        "%8s\n",
        static_cast<long long>(n), beta, calls, "", "first ms", "median ms", "memory ms",
        "ratio");
    std::vector<double*> matrices;
    for (int i = 0; i < 3; ++i)
      matrices.push_back(static_cast<double*>(context.allocate_host(n * n * 8)));
    const double pinned =
        HostCase{n, matrices[0], matrices[1], matrices[2], "page-locked"}.time(
            context, calls, beta, 0);
    for (double* matrix : matrices) context.free_host(matrix);
    for (const bool huge : {true, false}) {
      const Memory a = ordinary(n * n, huge), b = ordinary(n * n, huge),
                   c = ordinary(n * n, huge);
      const std::string pages = huge ? "pageable, huge pages" : "pageable";
      context.set_pageable(Pageable::copied);
      HostCase{n, a.get(), b.get(), c.get(), pages}.time(context, calls, beta, pinned);
      context.set_pageable(Pageable::registered);
      HostCase{n, a.get(), b.get(), c.get(), pages + ", locked"}.time(context, calls,
                                                                      beta, pinned);
    }
  }
}

void run_kept(const std::string& topology, int64_t n, int calls) {
  Context context{options_for(topology)};
  std::vector<double*> matrices;
  for (int i = 0; i < 3; ++i)
    matrices.push_back(static_cast<double*>(context.allocate_host(n * n * 8)));
  double *const a = matrices[0], *const b = matrices[1], *const c = matrices[2];
  for (const double beta : {0.0, 1.0}) {
    std::printf(
        "f64, %d products of %lld^3 with one A, beta %.0f, page-locked host memory, %zu "
        "GPUs\n",
        calls, static_cast<long long>(n), beta, context.devices().size());
    HostCase one{n, a, b, c, "a call, A at home"};
    const double at_home = one.time(context, calls, beta, 0);
    const double keeping = seconds([&] { context.keep(a, n, n, n); });
    HostCase kept{n, a, b, c, "a call, A kept"};  // reuses the matrices
    const double taken = kept.time(context, calls, beta, at_home);
    std::printf("%-32s %10.2f ms\n%-32s %10.2f times as fast, A's copies included\n",
                "to keep A", 1e3 * keeping, "the sequence",
                calls * at_home / (keeping + calls * taken));
    context.release(a);
  }
  for (double* matrix : matrices) context.free_host(matrix);
}

void compare_handed_over(Context& context, cublasHandle_t handle, cudaStream_t stream,
                         int64_t n, int calls) {
  const DeviceDoubles a{n * n, 1}, b{n * n, 2}, ours{n * n, 3}, theirs{n * n, 4};
  const double one = 1, zero = 0;
  const auto call_ours = [&](bool wait) {
    GemmOptions options;
    options.stream = stream, options.wait = wait;
    gemm(context, 'N', 'N', n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, ours.data(), n,
         options);
  };
  const auto each =
      [&](const auto& call) {  // microseconds per call: on the host, and until completion
        call();
        check(cudaStreamSynchronize(stream), "warming up");
        double held = 0;
        const double all = seconds([&] {
          held = seconds([&] {
            for (int i = 0; i < calls; ++i) call();
          });
          check(cudaStreamSynchronize(stream), "a product");
        });
        return std::array{1e6 * held / calls, 1e6 * all / calls};
      };
  const auto waited = each([&] { call_ours(true); });
  const auto handed = each([&] { call_ours(false); });
  const auto cublas = each([&] {
    check(cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), n,
                         b.data(), n, &zero, theirs.data(), n),
          "cublasDgemm");
  });
  std::printf("%6lld %10.1f %10.1f %10.1f %10.1f %10.1f %8.3f  %s\n",
              static_cast<long long>(n), waited[1], handed[0], handed[1], cublas[0],
              cublas[1], handed[1] / cublas[1],
              ours.fetched() == theirs.fetched() ? "equal" : "different");
}

void run_handed_over(const std::string& topology) {
  Context context{options_for(topology)};
  cublasHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  check(cublasCreate(&handle), "creating a cuBLAS handle");
  check(cublasSetStream(handle, stream), "binding a cuBLAS handle");
  std::printf(
      "f64, matrices on GPU 0, us a call: until the host goes on, and until all is "
      "done\n%6s %10s %10s %10s %10s "
      "%10s %8s\n",
      "n", "waited", "handed", "done", "cuBLAS", "done", "ratio");
  for (const int64_t n : {64, 256, 512, 1024, 2048})
    compare_handed_over(context, handle, stream, n, 200);
  cublasDestroy(handle);
  cudaStreamDestroy(stream);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "", topology = argc > 2 ? argv[2] : "";
  if ((mode != "gpu" && mode != "handed" && mode != "pageable" && mode != "kept") ||
      argc > 5) {
    std::fputs(
        "usage: bench_cuda_calls gpu|handed [TOPOLOGY] | pageable|kept [TOPOLOGY [N "
        "[CALLS]]]\n"
        "       TOPOLOGY \"\": a machine that is assumed from the devices' properties\n",
        stderr);
    return 2;
  }
  try {
    if (mode == "gpu") run_on_gpu(topology);
    if (mode == "handed") run_handed_over(topology);
    if (mode == "pageable")
      run_pageable(topology, argc > 3 ? std::atoll(argv[3]) : 16384,
                   argc > 4 ? std::atoi(argv[4]) : 5);
    if (mode == "kept")
      run_kept(topology, argc > 3 ? std::atoll(argv[3]) : 8192,
               argc > 4 ? std::atoi(argv[4]) : 10);
  } catch (const HardwareError& error) {
    std::fprintf(stderr, "bench_cuda_calls: %s\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cuda_calls: %s\n", error.what());
    return 2;
  }
}
