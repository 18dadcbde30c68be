#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "api/cuda/matrix_access.hpp"
#include "api/cuda/pointers.hpp"
#include "api/cuda/registrations.hpp"
#include "api/hardware.hpp"
#include "backends/cuda/describe/device_topology.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/cuda_plan.hpp"
#include "backends/cuda/run/host_buffer.hpp"
#include "backends/cuda/run/kernels.hpp"
#include "backends/cuda/run/peer_access.hpp"
#include "backends/cuda/run/staging_chunks.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/memory_shortage.hpp"
#include "model/base/text.hpp"

namespace tilerail::api {
namespace {

class CudaBoundPlan final : public BoundPlan {
 public:
  explicit CudaBoundPlan(std::shared_ptr<CudaPlan> bound) : bound_{std::move(bound)} {}
  void set_scalars(double alpha, double beta) override {
    bound_->plan.gemm().alpha = alpha, bound_->plan.gemm().beta = beta;
  }
  CudaPlan& bound() const { return *bound_; }
  /// cuda::may_read_ahead, which compares all copies of C: computed once, and only for
  /// callers with pageable memory. Called by the holder of the lane, like all uses of a
  /// bound plan.
  bool may_stage(const Topology& topology) const {
    if (!may_stage_) may_stage_ = cuda::may_read_ahead(bound_->plan, topology);
    return *may_stage_;
  }

 private:
  mutable std::optional<bool> may_stage_;
  std::shared_ptr<CudaPlan> bound_;
};

constexpr const char* waiting = "waiting for the caller's stream";

/// The devices whose legacy default streams apply to a caller without a stream: the
/// current device, and the devices with matrices.
std::set<int> default_stream_devices(const Matrices& matrices) {
  std::set<int> devices{cuda::current_device()};
  for (const Matrix& matrix : matrices)
    if (matrix.used() && matrix.location) devices.insert(*matrix.location);
  return devices;
}

/// A stream records only events of its own device. (CUDA 12.8 and later have a query
/// for it.)
int device_of(cudaStream_t stream) {
  const int current = cuda::current_device();
  const int count = cuda::device_count();
  for (int i = 0; i < count; ++i) {
    const int device = (current + i) % count;
    const cuda::DeviceScope scope{device};
    const cuda::PlainEvent event;
    if (cudaEventRecord(event, stream) == cudaSuccess) return device;
    cudaGetLastError();
  }
  throw fault_of("stream", "does not belong to a device of this machine");
}

std::vector<cuda::StreamOnDevice> callers(void* stream, const Matrices& matrices) {
  std::vector<cuda::StreamOnDevice> places;
  if (stream == nullptr) {
    for (const int device : default_stream_devices(matrices))
      places.push_back({device, cudaStreamLegacy});
    return places;
  }
  return {
      {device_of(static_cast<cudaStream_t>(stream)), static_cast<cudaStream_t>(stream)}};
}

class CudaLane final : public Lane {
 public:
  explicit CudaLane(const Topology& topology) : executor_{topology} {}

  void reserve(std::span<const MemoryId> gpus, int64_t bytes,
               int compute_streams) override {
    executor_.reserve(gpus, bytes, compute_streams);
    for (const MemoryId user : gpus)
      for (const MemoryId owner : gpus)
        if (user != owner)
          cuda::open_peer_access(executor_.ordinal(user), executor_.ordinal(owner));
  }

  std::unique_ptr<BoundPlan> bind(const Plan& plan) override {
    return std::make_unique<CudaBoundPlan>(executor_.prepare(plan));
  }

  RunSeconds run(BoundPlan& plan, const MemoryAccess& access,
                 const Copies& copies) override {
    const Pointers matrices = access.pointers();
    const auto& access_here = static_cast<const cuda::MatrixAccess&>(access);
    const CudaRunTimes times =
        executor_.run(static_cast<CudaBoundPlan&>(plan).bound(),
                      {matrices[0], matrices[1], matrices[2], copies.a, copies.b},
                      access_here.copied(), access_here.allocations(copies));
    return {times.wall, times.issue};
  }

  RunSeconds submit(BoundPlan& plan, void* stream, const MemoryAccess& access,
                    const Matrices& matrices, const Copies& copies) override {
    const Pointers used = access.pointers();
    const auto& access_here = static_cast<const cuda::MatrixAccess&>(access);
    const std::vector<cuda::StreamOnDevice> streams = callers(stream, matrices);
    const CudaRunTimes times =
        executor_.submit(static_cast<CudaBoundPlan&>(plan).bound(),
                         {used[0], used[1], used[2], copies.a, copies.b}, streams,
                         access_here.allocations(copies));
    try {
      cuda::Registrations::of_process().hold(access_here.leases(), streams.front());
    } catch (...) {
      executor_.wait();  // before the arguments of its runs are destroyed
      throw;
    }
    return {times.wall, times.issue};
  }

  void synchronize() override {
    executor_.wait();
    cuda::Registrations::of_process().drop_ended();
  }

  void free_tiles() override { executor_.free_arenas(); }

  int64_t room_for_tiles(MemoryId gpu, int compute_streams) override {
    return executor_.room_for_tiles(gpu, compute_streams);
  }

  /// In the legacy stream of the GPU with the matrices, the kernel runs after all earlier
  /// work of the caller there.
  RunSeconds run_single(BoundPlan& plan, void* stream,
                        const Matrices& matrices) override {
    if (stream != nullptr)
      cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), waiting);
    else if (matrices[2].location != cuda::current_device())
      cuda::check(cudaStreamSynchronize(cudaStreamLegacy), waiting);
    const CudaRunTimes times = executor_.run_single(
        static_cast<CudaBoundPlan&>(plan).bound(),
        {matrices[0].data, matrices[1].data, matrices[2].data}, stream != nullptr);
    return {times.wall, times.issue};
  }

  std::unique_ptr<MemoryAccess> access(const BoundPlan& plan, const Matrices& matrices,
                                       std::span<const int> users,
                                       Pageable pageable) override {
    const auto& bound = static_cast<const CudaBoundPlan&>(plan);
    if (pageable == Pageable::copied && !bound.may_stage(executor_.topology()))
      pageable = Pageable::registered;
    return std::make_unique<cuda::MatrixAccess>(matrices, users, pageable);
  }

 private:
  CudaExecutor executor_;
};

class CudaHardware final : public Hardware {
 public:
  CudaHardware() : devices_{cuda::device_count()} {
    if (devices_ == 0)
      throw HardwareError{"this machine has no CUDA device, or no driver for it"};
  }

  int devices() const override { return devices_; }
  Topology describe() const override {
    return Topology{cuda::describe(cuda::read_machine_facts())};
  }
  std::unique_ptr<Lane> open_lane(const Topology& topology) override {
    return std::make_unique<CudaLane>(topology);
  }

  std::shared_ptr<void> keep_caller_state() const override {
    return std::make_shared<cuda::DeviceScope>(cuda::current_device());
  }

  void refuse_captured(void* stream) const override {
    if (stream == nullptr) return;
    cudaStreamCaptureStatus capture{};
    cuda::check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &capture),
                "asking about the caller's stream");
    if (capture != cudaStreamCaptureStatusNone)
      throw fault_of("stream", "is captured into a graph", "one that runs");
  }

  Location locate(const void* data) const override {
    const int device = cuda::device_of(data);
    return device < 0 ? Location{} : Location{device};
  }

  bool page_locked(const Matrices& matrices) const override {
    return std::ranges::all_of(matrices, [](const Matrix& matrix) {
      return !matrix.used() || matrix.location ||
             cuda::Registrations::of_process().is_lasting(
                 range_at(matrix.data, matrix.bytes()));
    });
  }

  void wait_for_caller(void* stream, const Matrices& matrices) const override {
    if (stream != nullptr)
      return cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)),
                         waiting);
    for (const int device : default_stream_devices(matrices)) {
      const cuda::DeviceScope scope{device};
      cuda::check(cudaStreamSynchronize(cudaStreamLegacy), waiting);
    }
  }

  std::vector<std::shared_ptr<void>> copies_on(std::span<const int> devices,
                                               const Matrix& matrix,
                                               int64_t ld) override {
    std::vector<std::shared_ptr<void>> copies;
    for (const int device : devices)
      copies.push_back(allocated(device, ld * matrix.cols * matrix.element));
    // Page-locked during the copies, so that they run simultaneously.
    const cuda::MatrixAccess access{{matrix}, devices, Pageable::registered};
    const RunningCopies running{devices};
    const cuda::Block from{static_cast<std::byte*>(access.pointers()[0]), matrix.rows,
                           matrix.cols, matrix.ld};
    for (const auto i : indices(devices)) {
      const cuda::DeviceScope scope{devices[i]};
      cuda::copy(from,
                 {static_cast<std::byte*>(copies[i].get()), matrix.rows, matrix.cols, ld},
                 matrix.element, cudaStreamPerThread);
    }
    running.wait();
    return copies;
  }

  void register_memory(void* data, int64_t bytes) override {
    auto lease = cuda::Registrations::of_process().lease_lasting(range_at(data, bytes));
    const std::lock_guard lock{mutex_};
    registered_[data].swap(lease);  // an earlier lease ends without the lock
  }

  void unregister_memory(void* data) override {
    if (extracted(registered_, data).empty())
      throw fault_of("memory to unregister", "is not registered here");
  }

  void* allocate_host(int64_t bytes, HostPages pages) override {
    cuda::HostBuffer buffer{size_t(bytes), pages};
    void* const data = buffer.data();
    auto lease = cuda::Registrations::of_process().lease_allocated(range_at(data, bytes));
    const std::lock_guard lock{mutex_};
    buffers_.emplace(data, Allocation{std::move(buffer), std::move(lease)});
    return data;
  }

  void free_host(void* data) override {
    if (extracted(buffers_, data).empty())
      throw fault_of("host memory to free", "is not allocated here");
  }

  double host_rate(const void* data, int64_t bytes,
                   std::span<const int> devices) override {
    return cuda::host_buffer_rate(static_cast<const std::byte*>(data), size_t(bytes),
                                  devices);
  }

 private:
  /// Copies to several devices in streams of this thread. Waits for their end before
  /// their memory is freed, even if one fails.
  class RunningCopies {
   public:
    explicit RunningCopies(std::span<const int> devices) : devices_{devices} {}
    ~RunningCopies() { end(); }
    RunningCopies(const RunningCopies&) = delete;
    RunningCopies& operator=(const RunningCopies&) = delete;
    void wait() const { cuda::check(end(), "copying a matrix to keep"); }

   private:
    cudaError_t end() const {
      int before = 0;
      cudaGetDevice(&before);
      cudaError_t worst = cudaSuccess;
      for (const int device : devices_) {
        cudaError_t status = cudaSetDevice(device);
        if (status == cudaSuccess) status = cudaStreamSynchronize(cudaStreamPerThread);
        if (status != cudaSuccess) worst = status;
      }
      cudaSetDevice(before);
      return worst;
    }
    std::span<const int> devices_;
  };

  /// Page-locked memory that was allocated for the caller. The lease is destroyed first,
  /// which waits for all runs that use it.
  struct Allocation {
    cuda::HostBuffer buffer;
    cuda::Registrations::Lease lease;
  };

  static std::shared_ptr<void> allocated(int device, int64_t bytes) {
    const cuda::DeviceScope scope{device};
    void* memory = nullptr;
    if (cudaMalloc(&memory, size_t(bytes)) != cudaSuccess) {
      cudaGetLastError();
      throw MemoryShortage{
          "matrix", bytes_text(double(bytes)),
          fmt::format("does not fit in the free memory of CUDA device {}", device)};
    }
    return {memory, [](void* data) { cudaFree(data); }};
  }

  /// The caller destroys the entry without the lock, because its end waits for runs.
  template <class Map>
  typename Map::node_type extracted(Map& map, void* data) {
    const std::lock_guard lock{mutex_};
    return map.extract(data);
  }

  int devices_;
  std::mutex mutex_;  // protects the following members
  std::map<void*, cuda::Registrations::Lease> registered_;
  std::map<void*, Allocation> buffers_;  // by address
};

}  // namespace

std::unique_ptr<Hardware> cuda_hardware() { return std::make_unique<CudaHardware>(); }

}  // namespace tilerail::api
