#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilerail::cuda {

/// The arena, the streams and the cuBLAS handles of one CUDA device, created once and
/// kept across calls. Members make the device current while they run.
class Device {
 public:
  /// Throws CudaError if the device cannot be used.
  explicit Device(int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const { return ordinal_; }

  /// Waits until nothing runs, or the work has failed.
  void wait() const noexcept;

  /// Resizes the arena to at least `bytes`; its old contents are lost. Returns false if
  /// the device has too little free memory; the arena then keeps its size, unless other
  /// programs have taken the memory meanwhile.
  bool reserve(int64_t bytes);
  /// Frees the arena. Throws CudaError.
  void free_arena();
  std::byte* arena() const { return arena_; }
  void fill_arena(int byte, int64_t bytes) const;
  int64_t arena_bytes() const { return arena_bytes_; }
  /// Number of arenas so far.
  uint64_t arena_number() const { return arena_number_; }
  /// Bytes to which the arena could grow now.
  int64_t available_bytes() const;
  /// The same if so many compute streams are open, minus a reserve that the driver needs
  /// for kernels.
  int64_t room_for_tiles(size_t compute_streams) const;

  /// Creates the missing streams among 0 to count - 1 of each role. Throws
  /// MemoryShortage.
  void open_streams(size_t compute, size_t copy);
  size_t compute_streams() const { return compute_.size(); }
  cudaStream_t compute_stream(size_t slot) const { return compute_[slot].stream; }
  cublasHandle_t handle(size_t slot) const { return compute_[slot].handle; }
  /// Memory for one element of any type, for the kernels of this compute stream.
  std::byte* scalar(size_t slot) const { return compute_[slot].scalar; }
  cudaStream_t copy_stream(size_t slot) const { return copy_[slot]; }

  /// A cuBLAS handle of the legacy default stream, created on first use. It shares the
  /// memory of compute stream 0, which must exist: nothing else must run meanwhile. Null
  /// if the device lacks memory for another handle.
  cublasHandle_t default_stream_handle();

 private:
  struct Compute {
    cudaStream_t stream = nullptr;
    cublasHandle_t handle = nullptr;
    std::byte* workspace = nullptr;
    size_t workspace_bytes = 0;   // less than cuBLAS recommends if memory is short
    std::byte* scalar = nullptr;  // behind the workspace, in the same allocation
  };
  bool allocate_arena(int64_t bytes);
  Compute open_compute() const;
  static void bind(cublasHandle_t handle, cudaStream_t stream, const Compute& memory);

  int ordinal_;
  std::byte* arena_ = nullptr;
  int64_t arena_bytes_ = 0;
  uint64_t arena_number_ = 0;
  std::vector<Compute> compute_;
  std::vector<cudaStream_t> copy_;
  cublasHandle_t default_handle_ = nullptr;
};

}  // namespace tilerail::cuda
