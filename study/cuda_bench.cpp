#include "model/base/error.hpp"
#include "study/bench_run.hpp"

#ifdef TILERAIL_HAVE_CUDA

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "backends/cuda/measure/power_watch.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/host_buffer.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "check/row_check.hpp"
#include "model/base/text.hpp"

namespace tilerail::study {
namespace {

using cuda::check;
using Clock = std::chrono::steady_clock;

std::size_t aligned(std::int64_t bytes) { return (static_cast<std::size_t>(bytes) + 255) / 256 * 256; }

struct Sizes {
  std::size_t a, b, c;
  explicit Sizes(const GemmProblem& p) {
    const std::int64_t element = element_size(p.dtype);
    a = aligned(p.lda * p.cols_a() * element), b = aligned(p.ldb * p.cols_b() * element),
    c = aligned(p.ldc * p.n * element);
  }
};

/// How often an element of C is stored on its way, at most. Sums that several GPUs make of a dot product are no larger
/// than two of those that one would have, which counts for two.
std::int64_t stored_results(const Plan& plan) {
  if (plan.problem.routine == Routine::dot) return 2 * static_cast<std::int64_t>(plan.ops.size());
  const std::int64_t tile = std::max<std::int64_t>(1, plan.tile);
  return (plan.problem.k + tile - 1) / tile;
}

/// What the matrices of a plan take of each memory.
std::map<MemoryId, std::size_t> bytes_by_memory(const GemmProblem& p) {
  const Sizes sizes{p};
  std::map<MemoryId, std::size_t> bytes;
  bytes[p.place_a] += sizes.a, bytes[p.place_b] += sizes.b, bytes[p.place_c] += sizes.c;
  return bytes;
}

constexpr std::size_t border = 64 << 10;  // C, at the end of a pool, is as far from one as a matrix at its start

/// One block of memory full of random numbers, in which the matrices of plan after plan lie: A and B from its start, C
/// at its end.
class Pool {
 public:
  Pool(std::size_t bytes, int device, HostPages pages) : bytes_{bytes}, device_{device} {
    if (device < 0) {
      host_ = cuda::HostBuffer{bytes, pages};
      data_ = host_.data();
      return;
    }
    const cuda::DeviceScope scope{device};
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      cudaGetLastError();
      throw InputError{
          fmt::format("--place: matrices of {} do not fit in the free memory of GPU {}; take smaller sizes",
                      bytes_text(static_cast<double>(bytes)), device)};
    }
    data_ = static_cast<std::byte*>(memory);
  }
  ~Pool() {
    if (device_ >= 0) cudaFree(data_);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Random numbers come from a GPU, also those of host memory.
  void fill(DType dtype, std::uint64_t seed) {
    if (filled_ == std::pair{dtype, seed}) return;
    constexpr std::size_t piece = std::size_t{256} << 20;
    const cuda::DeviceScope scope{std::max(device_, 0)};
    void* staged = nullptr;
    if (device_ < 0) check(cudaMalloc(&staged, std::min(piece, bytes_)), "allocating device memory");
    for (std::size_t at = 0, number = 0; at < bytes_; at += piece, ++number) {
      const std::size_t size = std::min(piece, bytes_ - at);
      std::byte* target = staged ? static_cast<std::byte*>(staged) : data_ + at;
      const auto rows = static_cast<std::int64_t>(size) / element_size(dtype);
      cuda::fill_random({target, rows, 1, rows}, dtype, seed * 1000003 + number, nullptr);
      if (staged) check(cudaMemcpy(data_ + at, staged, size, cudaMemcpyDeviceToHost), "filling host memory");
    }
    check(cudaDeviceSynchronize(), "filling memory");
    if (staged) cudaFree(staged);
    filled_ = {dtype, seed};
  }

 private:
  std::size_t bytes_;
  int device_;  // -1: host
  cuda::HostBuffer host_;
  std::byte* data_ = nullptr;
  std::pair<DType, std::uint64_t> filled_{DType::f64, ~std::uint64_t{0}};
};

class CudaRunner final : public BenchRunner {
 public:
  CudaRunner(const Topology& topology, const std::vector<const Plan*>& plans, const RunSettings& settings)
      : topology_{topology}, executor_{topology} {
    std::map<MemoryId, std::size_t> most;
    std::int64_t tiles = 0;
    std::vector<MemoryId> gpus;
    for (const Plan* plan : plans) {
      for (const auto& [memory, bytes] : bytes_by_memory(plan->problem)) most[memory] = std::max(most[memory], bytes);
      for (const MemoryId gpu : plan->devices) {
        tiles = std::max(tiles, plan->peak_bytes[gpu.index()]);
        if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
      }
    }
    executor_.reserve(gpus, tiles, 1);
    for (const auto& [memory, bytes] : most) {
      if (bytes == 0) continue;
      const std::size_t whole = (bytes + border - 1) / border * border;
      const int device = topology.is_host(memory) ? -1 : executor_.ordinal(memory);
      pools_[memory] = std::make_unique<Pool>(whole, device, settings.pages);
    }
    for (const MemoryId gpu : gpus) devices_.push_back(executor_.ordinal(gpu));
  }

  RunResult run(const Plan& plan, const RunSettings& settings) override {
    for (const auto& [memory, pool] : pools_) pool->fill(plan.problem.dtype, settings.seed);
    const Matrices matrices = place(plan.problem);
    RunResult result;
    GpuRunFacts& facts = result.gpu.emplace();
    const auto begin = Clock::now();
    const auto prepared = executor_.prepare(plan);
    executor_.run(*prepared, matrices);
    facts.first_s = std::chrono::duration<double>(Clock::now() - begin).count();
    for (int i = 1; i < settings.warmup; ++i) executor_.run(*prepared, matrices);
    for (int i = 0; i < settings.iterations; ++i) {
      const CudaRunTimes times = executor_.run(*prepared, matrices);
      result.makespans.push_back(times.wall);
      facts.issue_per_op += times.issue_per_op / settings.iterations;
    }
    CudaRunTimes traced;
    for (int i = 0; i < 2; ++i)
      result.timeline = executor_.run_traced(*prepared, matrices, &traced);  // the first warms up
    facts.traced_s = traced.wall, facts.clock_skew = traced.clock_skew, facts.tracer = executor_.tracer();
    facts.host_buffer = describe_host(plan.problem, settings.pages);
    if (settings.check) result.check = checked_run(plan, *prepared, matrices, settings.seed);
    // Last: after thousands of calls C may be too large for its type.
    facts.energy = count_energy(plan, *prepared, matrices, settings.energy_seconds);
    return result;
  }

 private:
  Matrices place(const GemmProblem& p) const {
    const Sizes sizes{p};
    const auto pool = [&](MemoryId memory) -> const Pool& { return *pools_.at(memory); };
    std::byte* a = pool(p.place_a).data();
    std::byte* b = pool(p.place_b).data() + (p.place_b == p.place_a ? sizes.a : 0);
    return {a, b, pool(p.place_c).data() + pool(p.place_c).bytes() - sizes.c};
  }

  /// Calls back to back, at least two and for so long, and as long again as counters take to move before and after.
  std::optional<cuda::CountedEnergy> count_energy(const Plan& plan, CudaPlan& prepared, const Matrices& matrices,
                                                  double seconds) {
    constexpr double steps = 0.25;  // s, two of the slowest counters and a bit
    if (seconds == 0) return std::nullopt;
    std::vector<int> devices;
    for (const MemoryId gpu : plan.devices) devices.push_back(executor_.ordinal(gpu));
    cuda::PowerWatch watch{power_, devices};
    std::vector<double> ends;
    while (ends.size() < 3 || ends.back() - ends.front() < seconds + steps) {
      executor_.run(prepared, matrices);
      ends.push_back(watch.now());
    }
    return cuda::energy_of_calls(watch.stop(), ends);
  }

  std::vector<std::byte> fetched(const void* matrix, std::size_t bytes) const {
    std::vector<std::byte> copy(bytes);
    check(cudaMemcpy(copy.data(), matrix, bytes, cudaMemcpyDefault), "fetching a matrix");
    return copy;
  }

  /// One more run, on a C that is known: NaN where it must not be read.
  CheckResult checked_run(const Plan& plan, CudaPlan& prepared, const Matrices& matrices, std::uint64_t seed) {
    const GemmProblem& p = plan.problem;
    const Sizes sizes{p};
    if (p.beta == 0) {
      check(cudaMemset(matrices.c, 0xFF, sizes.c), "poisoning C");
      check(cudaDeviceSynchronize(), "poisoning C");
    }
    const auto before = p.beta == 0 ? std::vector<std::byte>{} : fetched(matrices.c, sizes.c);
    executor_.run(prepared, matrices);
    const auto a = fetched(matrices.a, sizes.a), b = fetched(matrices.b, sizes.b), c = fetched(matrices.c, sizes.c);
    const std::int64_t tile = std::max<std::int64_t>(1, plan.tile);
    const RowCheck checked = check_rows(p, {a.data(), b.data(), before.data(), c.data()},
                                        std::min<std::int64_t>(tile, 256), stored_results(plan), seed);
    return {checked.passed(), checked.residual, 1, checked.summary()};
  }

  std::string describe_host(const GemmProblem& p, HostPages pages) const {
    for (const MemoryId place : {p.place_a, p.place_b, p.place_c})
      if (topology_.is_host(place)) {
        const Pool& pool = *pools_.at(place);
        const double rate = cuda::host_buffer_rate(pool.data(), pool.bytes(), devices_);
        return fmt::format("{} pages, read by {} GPU{} at {:.0f} GB/s", pages == HostPages::spread ? "spread" : "plain",
                           devices_.size(), devices_.size() == 1 ? "" : "s", rate / 1e9);
      }
    return "none used";
  }

  Topology topology_;
  CudaExecutor executor_;
  std::map<MemoryId, std::unique_ptr<Pool>> pools_;
  std::vector<int> devices_;
  cuda::PowerMeter power_;
};

/// Failures of the hardware are not the user's: exit code 3.
class CudaFailures final : public BenchRunner {
 public:
  explicit CudaFailures(const std::function<std::unique_ptr<BenchRunner>()>& make)
      : runner_{guarded<std::unique_ptr<BenchRunner>>(make)} {}
  RunResult run(const Plan& plan, const RunSettings& settings) override {
    return guarded<RunResult>([&] { return runner_->run(plan, settings); });
  }

 private:
  template <class Result>
  static Result guarded(const std::function<Result()>& work) {
    try {
      return work();
    } catch (const cuda::CudaError& error) {
      throw HardwareError{error.what()};
    }
  }
  std::unique_ptr<BenchRunner> runner_;
};

}  // namespace

std::unique_ptr<BenchRunner> make_cuda_runner(const Topology& topology, const std::vector<const Plan*>& plans,
                                              const RunSettings& settings) {
  return std::make_unique<CudaFailures>([&] { return std::make_unique<CudaRunner>(topology, plans, settings); });
}

}  // namespace tilerail::study

#else

namespace tilerail::study {

std::unique_ptr<BenchRunner> make_cuda_runner(const Topology&, const std::vector<const Plan*>&, const RunSettings&) {
  throw HardwareError{"--backend: this build has no CUDA backend"};
}

}  // namespace tilerail::study

#endif
