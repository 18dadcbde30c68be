#include "backends/cuda/run/cuda_check.hpp"

#include <fmt/format.h>

namespace tilerail::cuda {

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw CudaError{fmt::format("{}: {}", what, cudaGetErrorString(status))};
}

void check(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CudaError{fmt::format("{}: {}", what, cublasGetStatusString(status))};
}

DeviceScope::DeviceScope(int device) : before_{current_device()} {
  check(cudaSetDevice(device), "choosing device " + std::to_string(device));
}

DeviceScope::~DeviceScope() { cudaSetDevice(before_); }

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "reading the current device");
  return device;
}

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

}  // namespace tilerail::cuda
