#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilerail::cuda {

/// The arena, the streams and the cuBLAS handles of one CUDA device, kept across calls.
/// Everything is created once and kept. Members make the device current for their own
/// duration.
class Device {
 public:
  /// Throws CudaError when the device cannot be used.
  explicit Device(int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int ordinal() const { return ordinal_; }

  /// Until nothing runs, or what ran has failed.
  void wait() const noexcept;

  /// Makes the arena hold at least so many bytes; its old contents are lost. Returns
  /// false when the device has not as much free memory; the arena then is as large as
  /// before, unless others have taken that meanwhile.
  bool reserve(int64_t bytes);
  std::byte* arena() const { return arena_; }
  void fill_arena(int byte, int64_t bytes) const;
  int64_t arena_bytes() const { return arena_bytes_; }
  /// How many arenas there have been.
  uint64_t arena_number() const { return arena_number_; }
  /// Bytes that the arena could grow to now.
  int64_t available_bytes() const;
  /// The same when so many compute streams are open, with a rest left alone that the
  /// driver needs for kernels.
  int64_t room_for_tiles(size_t compute_streams) const;

  /// Makes streams number 0 to count - 1 of each role, where they are not there yet.
  /// Throws MemoryShortage.
  void open_streams(size_t compute, size_t copy);
  size_t compute_streams() const { return compute_.size(); }
  cudaStream_t compute_stream(size_t slot) const { return compute_[slot].stream; }
  cublasHandle_t handle(size_t slot) const { return compute_[slot].handle; }
  /// Memory for one element of any type, for the kernels of this compute stream.
  std::byte* scalar(size_t slot) const { return compute_[slot].scalar; }
  cudaStream_t copy_stream(size_t slot) const { return copy_[slot]; }

  /// A cuBLAS handle of the legacy default stream, made when first asked for. It shares
  /// the memory of compute stream 0, which is there: nothing else may run meanwhile. Null
  /// where the device has no memory for one more handle.
  cublasHandle_t default_stream_handle();

 private:
  struct Compute {
    cudaStream_t stream = nullptr;
    cublasHandle_t handle = nullptr;
    std::byte* workspace = nullptr;
    size_t workspace_bytes = 0;   // less than cuBLAS recommends where memory is short
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
