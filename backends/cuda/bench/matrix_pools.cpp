#include "backends/cuda/bench/matrix_pools.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/host_buffer.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "check/row_check.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "model/machine/layout_text.hpp"

namespace tilerail::cuda {
namespace {

size_t aligned(int64_t bytes) { return (size_t(bytes) + 255) / 256 * 256; }

struct Sizes {
  size_t a, b, c;
  explicit Sizes(const GemmProblem& p) {
    const int64_t element = element_size(p.dtype);
    a = aligned(p.lda * p.cols_a() * element), b = aligned(p.ldb * p.cols_b() * element),
    c = aligned(p.ldc * p.n * element);
  }
};

constexpr size_t border = 64 << 10;  // sizes of pools are multiples of it
constexpr size_t borders_before_c = 2;

/// Places of a plan's matrices: A at the start of a memory, B one border after the start
/// or behind A, C at the end, at least two borders from the start. So the matrices also
/// differ if they lie in separate memories, which have the same contents.
struct PoolPlaces {
  Sizes sizes;
  std::vector<MemoryId> of_a,
      of_b;                    // the memories: several if participating GPUs have copies
  size_t start_of_b = border;  // in each memory

  explicit PoolPlaces(const Plan& plan) : sizes{plan.gemm()} {
    const auto memories = [&](const Layout& place) {
      return place.is_whole() ? std::vector<MemoryId>{place.home()} : plan.devices;
    };
    of_a = memories(plan.gemm().place_a), of_b = memories(plan.gemm().place_b);
    if (std::ranges::find_first_of(of_a, of_b) != of_a.end()) start_of_b = sizes.a;
  }

  std::map<MemoryId, size_t> bytes(MemoryId home_of_c) const {
    std::map<MemoryId, size_t> ends;
    for (const MemoryId memory : of_a) ends[memory] = sizes.a;
    for (const MemoryId memory : of_b) ends[memory] = start_of_b + sizes.b;
    ends[home_of_c] += sizes.c;
    return ends;
  }
};

std::vector<std::byte> fetched(const void* matrix, size_t bytes) {
  std::vector<std::byte> copy(bytes);
  cuda::check(cudaMemcpy(copy.data(), matrix, bytes, cudaMemcpyDefault),
              "fetching a matrix");
  return copy;
}

}  // namespace

/// One block of memory full of random numbers: A and B start at its start, C ends at its
/// end.
class MatrixPools::Pool {
 public:
  Pool(size_t bytes, int device, HostPages pages) : bytes_{bytes}, device_{device} {
    if (device < 0) {
      host_ = HostBuffer{bytes, pages};
      data_ = host_.data();
      return;
    }
    const DeviceScope scope{device};
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
      cudaGetLastError();
      throw InputError{
          "place", bytes_text(double(bytes)),
          fmt::format("of matrices do not fit in the free memory of GPU {}", device),
          "smaller sizes"};
    }
    data_ = static_cast<std::byte*>(memory);
  }
  ~Pool() {
    if (device_ >= 0) cudaFree(data_);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  /// A GPU generates the random numbers, including the numbers for host memory.
  void fill(DType dtype, uint64_t seed) {
    if (filled_ == std::pair{dtype, seed}) return;
    constexpr size_t piece = size_t{256} << 20;
    const DeviceScope scope{std::max(device_, 0)};
    void* staged = nullptr;
    if (device_ < 0)
      cuda::check(cudaMalloc(&staged, std::min(piece, bytes_)),
                  "allocating device memory");
    for (size_t at = 0, number = 0; at < bytes_; at += piece, ++number) {
      const size_t size = std::min(piece, bytes_ - at);
      std::byte* target = staged ? static_cast<std::byte*>(staged) : data_ + at;
      const auto rows = int64_t(size) / element_size(dtype);
      fill_random({target, rows, 1, rows}, dtype, seed * 1000003 + number, nullptr);
      if (staged)
        cuda::check(cudaMemcpy(data_ + at, staged, size, cudaMemcpyDeviceToHost),
                    "filling host memory");
    }
    cuda::check(cudaDeviceSynchronize(), "filling memory");
    if (staged) cudaFree(staged);
    filled_ = {dtype, seed};
  }

  /// Makes the last bytes NaN in every type. Only the device of the memory is guaranteed
  /// to reach it.
  void poison_end(size_t bytes) const {
    const DeviceScope scope{std::max(device_, 0)};
    cuda::check(cudaMemset(data_ + bytes_ - bytes, 0xFF, bytes), "poisoning C");
    cuda::check(cudaDeviceSynchronize(), "poisoning C");
  }

 private:
  size_t bytes_;
  int device_;  // -1: host
  HostBuffer host_;
  std::byte* data_ = nullptr;
  std::pair<DType, uint64_t> filled_{DType::f64, ~uint64_t{0}};
};

namespace {

void refuse_blocks(const GemmProblem& p, const Topology& topology, size_t plan) {
  for (const Layout* place : {&p.place_a, &p.place_b, &p.place_c})
    if (!place->is_whole() && !place->is_replicated())
      throw PlanError{plan,
                      {"place", layout_text(*place, topology),
                       "is in blocks, which the CUDA backend does not have",
                       "h, h*, a GPU number or the name of a memory"}};
}

/// C is never replicated.
MemoryId home_of_c(const GemmProblem& p) { return p.place_c.home(); }

}  // namespace

HostPages MatrixPools::pages_of(MemoryId memory) const {
  return executor_.topology().memory(memory).over.empty() ? pages_ : HostPages::spread;
}

MatrixPools::MatrixPools(const CudaExecutor& executor, std::span<const Plan* const> plans,
                         std::span<const MemoryId> readers, HostPages pages)
    : executor_{executor}, pages_{pages} {
  struct Most {
    size_t bytes = 0, plan = 0;
  };
  std::map<MemoryId, Most> most;
  for (const auto i : indices(plans)) {
    const GemmProblem& p = plans[i]->gemm();
    refuse_blocks(p, executor.topology(), i);
    for (const auto& [memory, size] : PoolPlaces{*plans[i]}.bytes(home_of_c(p)))
      if (Most& there = most[memory]; size > there.bytes) there = {size, i};
  }
  for (const auto& [memory, needed] : most) {
    const int device =
        executor.topology().is_host(memory) ? -1 : executor.ordinal(memory);
    const size_t bytes =
        ((needed.bytes + border - 1) / border + borders_before_c) * border;
    try {
      pools_[memory] = std::make_unique<Pool>(bytes, device, pages_of(memory));
    } catch (const InputError& error) {
      throw PlanError{needed.plan, error};
    }
  }
  for (const MemoryId gpu : readers) readers_.push_back(executor.ordinal(gpu));
}

MatrixPools::~MatrixPools() = default;

Matrices MatrixPools::of(const Plan& plan, uint64_t seed) {
  const GemmProblem& p = plan.gemm();
  for (const auto& [memory, pool] : pools_)
    pool->fill(p.dtype, seed);  // equal numbers at equal offsets
  const PoolPlaces places{plan};
  const auto pool = [&](MemoryId memory) -> const Pool& { return *pools_.at(memory); };
  const Pool& of_c = pool(home_of_c(p));
  std::byte* const c = of_c.data() + of_c.bytes() - places.sizes.c;
  plan_ = &plan, seed_ = seed;
  matrices_ = {pool(places.of_a.front()).data(),
               pool(places.of_b.front()).data() + places.start_of_b, c};
  if (p.place_a.is_replicated())
    for (const MemoryId gpu : places.of_a)
      matrices_.copies_of_a.push_back({gpu, pool(gpu).data()});
  if (p.place_b.is_replicated())
    for (const MemoryId gpu : places.of_b)
      matrices_.copies_of_b.push_back({gpu, pool(gpu).data() + places.start_of_b});
  return matrices_;
}

/// C can contain the results of earlier calls. If it must not be read, it becomes NaN.
void MatrixPools::reset_c() {
  const GemmProblem& p = plan_->gemm();
  const Sizes sizes{p};
  c_before_.clear();
  if (p.beta != 0) {
    c_before_ = fetched(matrices_.c, sizes.c);
    return;
  }
  pools_.at(home_of_c(p))->poison_end(sizes.c);
}

CheckResult MatrixPools::check() {
  const GemmProblem& p = plan_->gemm();
  const Sizes sizes{p};
  const auto a = fetched(matrices_.a, sizes.a), b = fetched(matrices_.b, sizes.b),
             c = fetched(matrices_.c, sizes.c);
  const RowCheck checked = check_rows(p, {a.data(), b.data(), c_before_.data(), c.data()},
                                      std::clamp<int64_t>(plan_->tile, 1, 256), seed_);
  return {checked.passed(), checked.residual, 1, checked.summary()};
}

std::string MatrixPools::host_memory() const {
  const GemmProblem& p = plan_->gemm();
  for (const MemoryId place : homes_of(p))
    if (executor_.topology().is_host(place)) {
      const Pool& pool = *pools_.at(place);
      const double rate = host_buffer_rate(pool.data(), pool.bytes(), readers_);
      return fmt::format("{} pages, read by {} GPU{} at {:.0f} GB/s",
                         pages_of(place) == HostPages::spread ? "spread" : "plain",
                         readers_.size(), readers_.size() == 1 ? "" : "s", rate / 1e9);
    }
  return "none used";
}

}  // namespace tilerail::cuda
