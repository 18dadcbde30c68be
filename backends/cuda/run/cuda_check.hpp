#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <string>

#include "model/base/error.hpp"

namespace tilerail::cuda {

/// A call of the CUDA runtime or of cuBLAS that failed, and what it was for.
struct CudaError : ExecutionError {
  using ExecutionError::ExecutionError;
};

/// Throws CudaError "WHAT: text of the status". Clears the runtime's last error, so that
/// the next call starts clean.
void check(cudaError_t status, const std::string& what);
void check(cublasStatus_t status, const std::string& what);

/// The same for a text that costs nothing while the call succeeds.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) check(status, std::string{what});
}
inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) check(status, std::string{what});
}

/// Makes a device current for the life of the object, then restores the one that was.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
};

/// Number of CUDA devices; also 0 where there is no driver.
int device_count();

}  // namespace tilerail::cuda
