#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <string>

#include "model/base/error.hpp"

namespace tilerail::cuda {

/// A failed call of the CUDA runtime or of cuBLAS, and its purpose.
struct CudaError : ExecutionError {
  using ExecutionError::ExecutionError;
};

/// Throws CudaError "WHAT: text of the status". Clears the runtime's last error, so that
/// the next call starts without an error.
void check(cudaError_t status, const std::string& what);
void check(cublasStatus_t status, const std::string& what);

/// The same; the string is made only if the call failed.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) check(status, std::string{what});
}
inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) check(status, std::string{what});
}

/// Makes a device current for the lifetime of the object, then restores the previous one.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_;
};

int current_device();

/// Number of CUDA devices; 0 without a driver.
int device_count();

}  // namespace tilerail::cuda
