#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw CudaError{what + ": " + cudaGetErrorString(status)};
}

void check(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CudaError{what + ": " + cublasGetStatusString(status)};
}

DeviceScope::DeviceScope(int device) {
  check(cudaGetDevice(&before_), "reading the current device");
  check(cudaSetDevice(device), "choosing device " + std::to_string(device));
}

DeviceScope::~DeviceScope() { cudaSetDevice(before_); }

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

}  // namespace tilerail::cuda
