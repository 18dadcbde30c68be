#include <algorithm>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"

namespace tilerail::cuda {
namespace {

constexpr int64_t most_pitch =
    (int64_t{1} << 31) - 1;  // bytes; for 2-D copies (cudaDeviceProp::memPitch)

}  // namespace

void copy(const Block& a, const Block& y, int64_t element, cudaStream_t stream) {
  const int64_t width = y.rows * element;
  if (width == 0 || y.cols == 0) return;
  const bool packed = y.cols == 1 || (a.ld == y.rows && y.ld == y.rows);
  if (packed) {
    const auto bytes = size_t(width * y.cols);
    check(cudaMemcpyAsync(y.data, a.data, bytes, cudaMemcpyDefault, stream), "copying");
    return;
  }
  const int64_t pitch_a = a.ld * element, pitch_y = y.ld * element;
  if (std::max(pitch_a, pitch_y) <= most_pitch) {
    check(cudaMemcpy2DAsync(y.data, size_t(pitch_y), a.data, size_t(pitch_a),
                            size_t(width), size_t(y.cols), cudaMemcpyDefault, stream),
          "copying in two dimensions");
    return;
  }
  for (int64_t col = 0; col < y.cols; ++col)
    check(cudaMemcpyAsync(y.data + col * pitch_y, a.data + col * pitch_a, size_t(width),
                          cudaMemcpyDefault, stream),
          "copying a column");
}

}  // namespace tilerail::cuda
