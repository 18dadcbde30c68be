#include "backends/cuda/run/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/cuda/run/cuda_check.hpp"
#include "model/base/memory_shortage.hpp"

namespace tilerail::cuda {
namespace {

constexpr size_t workspace_bytes = size_t{32}
                                   << 20;  // recommended for cuBLAS from Hopper on
constexpr size_t small_workspace_bytes = size_t{4} << 20;
// Memory of a handle, including the kernels that the first one loads; measured on an
// H200.
constexpr size_t handle_bytes = size_t{96} << 20;
constexpr int64_t share_of_driver = 16,
                  most_of_driver = int64_t{256} << 20;  // share of the free memory, and
                                                        // its maximum

}  // namespace

Device::Device(int ordinal) : ordinal_{ordinal} {
  const DeviceScope scope{ordinal_};
  check(cudaFree(nullptr), "creating the context of device " + std::to_string(ordinal));
}

Device::~Device() {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(ordinal_);
  for (const Compute& compute : compute_) {
    cublasDestroy(compute.handle);
    cudaStreamDestroy(compute.stream);
    cudaFree(compute.workspace);
  }
  if (default_handle_) cublasDestroy(default_handle_);
  for (const cudaStream_t stream : copy_) cudaStreamDestroy(stream);
  cudaFree(arena_);
  cudaSetDevice(before);
}

void Device::wait() const noexcept {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(ordinal_);
  cudaDeviceSynchronize();
  cudaSetDevice(before);
  cudaGetLastError();
}

bool Device::reserve(int64_t bytes) {
  if (bytes <= arena_bytes_) return true;
  const DeviceScope scope{ordinal_};
  const int64_t before = arena_bytes_;
  free_arena();
  if (allocate_arena(bytes)) return true;
  if (before > 0) allocate_arena(before);
  return false;
}

void Device::free_arena() {
  const DeviceScope scope{ordinal_};
  check(cudaFree(std::exchange(arena_, nullptr)), "freeing an arena");
  arena_bytes_ = 0;
}

bool Device::allocate_arena(int64_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, size_t(bytes)) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  arena_ = static_cast<std::byte*>(memory);
  arena_bytes_ = bytes;
  ++arena_number_;
  return true;
}

void Device::fill_arena(int byte, int64_t bytes) const {
  const DeviceScope scope{ordinal_};
  check(cudaMemset(arena_, byte, size_t(bytes)), "filling an arena");
  check(cudaDeviceSynchronize(), "filling an arena");
}

int64_t Device::available_bytes() const {
  const DeviceScope scope{ordinal_};
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  return int64_t(free) + arena_bytes_;
}

int64_t Device::room_for_tiles(size_t compute_streams) const {
  const size_t missing = compute_streams - std::min(compute_streams, compute_.size());
  const auto workspaces = int64_t(missing * (workspace_bytes + handle_bytes));
  const int64_t left = available_bytes() - workspaces;
  return std::max<int64_t>(0, left - std::min(left / share_of_driver, most_of_driver));
}

void Device::open_streams(size_t compute, size_t copy) {
  const DeviceScope scope{ordinal_};
  while (compute_.size() < compute) compute_.push_back(open_compute());
  while (copy_.size() < copy) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    copy_.push_back(stream);
  }
}

Device::Compute Device::open_compute() const {
  Compute made;
  check(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking),
        "creating a stream");
  const cublasStatus_t status = cublasCreate(&made.handle);
  if (status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED) {
    cudaGetLastError();
    cudaStreamDestroy(made.stream);
    throw MemoryShortage{"CUDA device", std::to_string(ordinal_),
                         "has no memory for a cuBLAS handle"};
  }
  check(status, "creating a cuBLAS handle");
  void* memory = nullptr;
  for (const size_t bytes : {workspace_bytes, small_workspace_bytes, size_t{0}}) {
    if (cudaMalloc(&memory, bytes + sizeof(double)) == cudaSuccess) {
      made.workspace_bytes = bytes;
      break;
    }
    cudaGetLastError();
  }
  if (memory == nullptr) {
    cublasDestroy(made.handle);
    cudaStreamDestroy(made.stream);
    throw MemoryShortage{"CUDA device", std::to_string(ordinal_),
                         "has no memory for a cuBLAS workspace"};
  }
  made.workspace = static_cast<std::byte*>(memory);
  made.scalar = made.workspace + made.workspace_bytes;
  bind(made.handle, made.stream, made);
  return made;
}

void Device::bind(cublasHandle_t handle, cudaStream_t stream, const Compute& memory) {
  check(cublasSetStream(handle, stream), "binding a cuBLAS handle");
  check(cublasSetWorkspace(handle, memory.workspace, memory.workspace_bytes),
        "binding a cuBLAS workspace");
  check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST),
        "binding a cuBLAS handle");
  // If cuBLAS splits a sum of halves, its partial sums stay in single precision: in
  // halves their error can exceed the result.
  check(cublasSetMathMode(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION),
        "binding a cuBLAS handle");
}

cublasHandle_t Device::default_stream_handle() {
  if (default_handle_) return default_handle_;
  const DeviceScope scope{ordinal_};
  cublasHandle_t made = nullptr;
  if (cublasCreate(&made) != CUBLAS_STATUS_SUCCESS) return nullptr;
  try {
    bind(made, cudaStreamLegacy, compute_.front());
  } catch (const CudaError&) {
    cublasDestroy(made);
    throw;
  }
  return default_handle_ = made;
}

}  // namespace tilerail::cuda
