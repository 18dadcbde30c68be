#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"

namespace tilerail::cuda {
namespace {

template <class T>
struct Vector {
  const T* data;
  int64_t step;
};

/// The one column of op(b), or of op(a) transposed: contiguous, or along a row.
template <class T>
Vector<T> vector_of(const Block& block, bool is_column) {
  return {reinterpret_cast<const T*>(block.data), is_column ? 1 : block.ld};
}

template <class T>
void gemv(cublasHandle_t handle, const GemmCall& call) {
  const bool stored = call.trans_a == Trans::no;
  const int64_t rows = stored ? call.y.rows : call.k,
                cols = stored ? call.k : call.y.rows;
  const auto alpha = static_cast<T>(call.alpha), beta = static_cast<T>(call.beta);
  const auto x = vector_of<T>(call.b, call.trans_b == Trans::no);
  const auto* a = reinterpret_cast<const T*>(call.a.data);
  auto* y = reinterpret_cast<T*>(call.y.data);
  const cublasOperation_t op = stored ? CUBLAS_OP_N : CUBLAS_OP_T;
  if constexpr (sizeof(T) == sizeof(double))
    check(cublasDgemv_64(handle, op, rows, cols, &alpha, a, call.a.ld, x.data, x.step,
                         &beta, y, 1),
          "multiplying");
  else
    check(cublasSgemv_64(handle, op, rows, cols, &alpha, a, call.a.ld, x.data, x.step,
                         &beta, y, 1),
          "multiplying");
}

/// Keeps results on the device during its lifetime. By default results go to the host,
/// which waits for them.
class DevicePointers {
 public:
  explicit DevicePointers(cublasHandle_t handle) : handle_{handle} {
    check(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE),
          "choosing where results go");
  }
  ~DevicePointers() { cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_HOST); }
  DevicePointers(const DevicePointers&) = delete;
  DevicePointers& operator=(const DevicePointers&) = delete;

 private:
  cublasHandle_t handle_;
};

template <class T>
void dot(cublasHandle_t handle, const GemmCall& call) {
  const auto x = vector_of<T>(call.a, call.trans_a == Trans::yes),
             y = vector_of<T>(call.b, call.trans_b == Trans::no);
  auto* result = reinterpret_cast<T*>(call.scalar);
  const DevicePointers pointers{handle};
  if constexpr (sizeof(T) == sizeof(double))
    check(cublasDdot_64(handle, call.k, x.data, x.step, y.data, y.step, result),
          "multiplying");
  else
    check(cublasSdot_64(handle, call.k, x.data, x.step, y.data, y.step, result),
          "multiplying");
}

}  // namespace

void gemv(cublasHandle_t handle, const GemmCall& call) {
  call.dtype == DType::f64 ? gemv<double>(handle, call) : gemv<float>(handle, call);
}

void dot(cublasHandle_t handle, const GemmCall& call) {
  call.dtype == DType::f64 ? dot<double>(handle, call) : dot<float>(handle, call);
  cudaStream_t stream = nullptr;
  check(cublasGetStream(handle, &stream), "asking for a stream");
  axpby({call.scalar, 1, 1, 1}, call.y, call.alpha, call.beta, call.dtype, stream);
}

}  // namespace tilerail::cuda
