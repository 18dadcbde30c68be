#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/kernels.hpp"

namespace tilerail::cuda {
namespace {

constexpr unsigned threads_per_block = 256;
constexpr int64_t most_blocks_y = 65535;

template <class T>
struct Compute {
  using type = float;
};
template <>
struct Compute<double> {
  using type = double;
};

/// A thread computes elements of one row; blocks stride over the columns.
template <class X, class T, class C>
__global__ void axpby_kernel(const X* x, int64_t ldx, T* y, int64_t ldy, int64_t rows,
                             int64_t cols, C alpha, C beta) {
  const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int64_t col = blockIdx.y; col < cols; col += gridDim.y) {
    C value = 0;
    if (alpha != C{0}) value += alpha * static_cast<C>(x[row + col * ldx]);
    if (beta != C{0}) value += beta * static_cast<C>(y[row + col * ldy]);
    y[row + col * ldy] = static_cast<T>(value);
  }
}

/// A thread copies words of one row; blocks stride over the columns. Several reads of a
/// thread are in flight simultaneously.
template <class Word>
__global__ void copy_kernel(const Word* x, int64_t ldx, Word* y, int64_t ldy,
                            int64_t rows, int64_t cols) {
  constexpr int ahead = 4;
  const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int64_t step = int64_t(gridDim.y) * blockDim.y;
  for (int64_t col = int64_t(blockIdx.y) * blockDim.y + threadIdx.y; col < cols;
       col += ahead * step) {
    Word words[ahead];
    for (int i = 0; i < ahead; ++i)
      if (col + i * step < cols) words[i] = x[row + (col + i * step) * ldx];
    for (int i = 0; i < ahead; ++i)
      if (col + i * step < cols) y[row + (col + i * step) * ldy] = words[i];
  }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)
/// applied to the element's position.
template <class T>
__global__ void random_kernel(T* y, int64_t ldy, int64_t rows, int64_t cols,
                              uint64_t seed) {
  const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int64_t col = blockIdx.y; col < cols; col += gridDim.y) {
    uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (uint64_t(row + col * rows) + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    const double unit = double(z >> 11) * 0x1p-53;
    y[row + col * ldy] =
        static_cast<T>(static_cast<typename Compute<T>::type>(2 * unit - 1));
  }
}

dim3 grid_of(const Block& y) {
  const int64_t x = (y.rows + threads_per_block - 1) / threads_per_block;
  return dim3(unsigned(x), unsigned(std::min(y.cols, most_blocks_y)));
}

template <class X, class T>
void launch_axpby(const Block& x, const Block& y, double alpha, double beta,
                  cudaStream_t stream) {
  using C = typename Compute<T>::type;
  axpby_kernel<X, T, C><<<grid_of(y), threads_per_block, 0, stream>>>(
      reinterpret_cast<const X*>(x.data), x.ld, reinterpret_cast<T*>(y.data), y.ld,
      y.rows, y.cols, static_cast<C>(alpha), static_cast<C>(beta));
}

/// `rows`, `ldx` and `ldy` are in bytes.
template <class Word>
void launch_copy(const std::byte* x, int64_t ldx, std::byte* y, int64_t ldy, int64_t rows,
                 int64_t cols, cudaStream_t stream) {
  constexpr int64_t word = sizeof(Word), columns_of_thread = 4;
  rows /= word;
  unsigned along = 32;  // threads along a column
  while (along < threads_per_block && along < rows) along *= 2;
  const unsigned beside = threads_per_block / along;
  const int64_t of_block = beside * columns_of_thread,
                blocks = (cols + of_block - 1) / of_block;
  const dim3 grid{unsigned((rows + along - 1) / along),
                  unsigned(std::min(blocks, most_blocks_y))};
  copy_kernel<Word><<<grid, dim3{along, beside}, 0, stream>>>(
      reinterpret_cast<const Word*>(x), ldx / word, reinterpret_cast<Word*>(y),
      ldy / word, rows, cols);
}

template <class T>
void launch_random(const Block& y, uint64_t seed, cudaStream_t stream) {
  random_kernel<T><<<grid_of(y), threads_per_block, 0, stream>>>(
      reinterpret_cast<T*>(y.data), y.ld, y.rows, y.cols, seed);
}

/// Calls `launch` with a value of the dtype's C++ type.
template <class Launch>
void with_type(DType dtype, Launch launch) {
  switch (dtype) {
    case DType::f64:
      return launch(double{});
    case DType::f32:
    case DType::tf32:
      return launch(float{});
    case DType::f16:
      return launch(__half{});
    case DType::bf16:
      return launch(__nv_bfloat16{});
  }
}

}  // namespace

void axpby(const Block& x, const Block& y, double alpha, double beta, DType dtype,
           cudaStream_t stream, bool of_sum) {
  if (y.rows == 0 || y.cols == 0) return;
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    of_sum ? launch_axpby<float, T>(x, y, alpha, beta, stream)
           : launch_axpby<T, T>(x, y, alpha, beta, stream);
  });
  check(cudaGetLastError(), "launching axpby");
}

void copy_within(const Block& a, const Block& y, int64_t element, cudaStream_t stream) {
  if (y.rows == 0 || y.cols == 0) return;
  const int64_t rows = y.rows * element, ldx = a.ld * element, ldy = y.ld * element;
  uint64_t all = 16;  // bytes of the longest word
  for (const uint64_t place :
       {reinterpret_cast<uint64_t>(a.data), reinterpret_cast<uint64_t>(y.data),
        uint64_t(rows), uint64_t(ldx), uint64_t(ldy)})
    all |= place;
  switch (all & (~all + 1)) {  // the largest power of two that divides all
    case 16:
      launch_copy<uint4>(a.data, ldx, y.data, ldy, rows, y.cols, stream);
      break;
    case 8:
      launch_copy<uint64_t>(a.data, ldx, y.data, ldy, rows, y.cols, stream);
      break;
    case 4:
      launch_copy<uint32_t>(a.data, ldx, y.data, ldy, rows, y.cols, stream);
      break;
    default:  // the shortest element
      launch_copy<uint16_t>(a.data, ldx, y.data, ldy, rows, y.cols, stream);
  }
  check(cudaGetLastError(), "copying within a device");
}

void fill_random(const Block& y, DType dtype, uint64_t seed, cudaStream_t stream) {
  if (y.rows == 0 || y.cols == 0) return;
  with_type(dtype, [&](auto zero) { launch_random<decltype(zero)>(y, seed, stream); });
  check(cudaGetLastError(), "launching the random fill");
}

}  // namespace tilerail::cuda
