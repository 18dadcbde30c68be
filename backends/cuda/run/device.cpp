#include "backends/cuda/run/device.hpp"

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {
namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what cuBLAS recommends from Hopper on

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
  for (const cudaStream_t stream : copy_) cudaStreamDestroy(stream);
  cudaFree(arena_);
  cudaSetDevice(before);
}

bool Device::reserve(std::int64_t bytes) {
  if (bytes <= arena_bytes_) return true;
  const DeviceScope scope{ordinal_};
  check(cudaFree(arena_), "freeing an arena");
  arena_ = nullptr;
  arena_bytes_ = 0;
  void* memory = nullptr;
  if (cudaMalloc(&memory, static_cast<std::size_t>(bytes)) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  arena_ = static_cast<std::byte*>(memory);
  arena_bytes_ = bytes;
  return true;
}

std::int64_t Device::available_bytes() const {
  const DeviceScope scope{ordinal_};
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  return static_cast<std::int64_t>(free) + arena_bytes_;
}

void Device::open_streams(std::size_t compute, std::size_t copy) {
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
  check(cudaStreamCreateWithFlags(&made.stream, cudaStreamNonBlocking), "creating a stream");
  check(cublasCreate(&made.handle), "creating a cuBLAS handle");
  void* memory = nullptr;
  check(cudaMalloc(&memory, workspace_bytes + sizeof(double)), "allocating a cuBLAS workspace");
  made.workspace = static_cast<std::byte*>(memory);
  made.scalar = made.workspace + workspace_bytes;
  check(cublasSetStream(made.handle, made.stream), "binding a cuBLAS handle");
  check(cublasSetWorkspace(made.handle, made.workspace, workspace_bytes), "binding a cuBLAS workspace");
  check(cublasSetPointerMode(made.handle, CUBLAS_POINTER_MODE_HOST), "binding a cuBLAS handle");
  return made;
}

}  // namespace tilerail::cuda
