#include "tests/api/gpu/placed_matrix.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backends/cuda/run/cuda_check.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"

namespace tilerail::test {

const char* name_of(MemoryKind kind) {
  constexpr const char* names[] = {"pageable", "pinned",       "registered", "managed",
                                   "device",   "default pool", "own pool"};
  return names[int(kind)];
}

PlacedMatrix::PlacedMatrix(int64_t r, int64_t c, int64_t l, DType type, MemoryKind kind,
                           int device, bool poison, std::mt19937_64& random)
    : rows{r}, cols{c}, ld{l}, dtype{type}, kind_{kind}, device_{device} {
  const int64_t element = element_size(dtype);
  given.assign(size_t(std::max<int64_t>(ld * cols, 1) * element), std::byte{0xFF});
  std::uniform_real_distribution<double> uniform{-1, 1};
  for (int64_t j = 0; j < cols && !poison; ++j)
    for (int64_t i = 0; i < rows; ++i)
      from_double(uniform(random), &given[size_t((i + j * ld) * element)], dtype);
  const cuda::DeviceScope scope{device_};
  allocate(given.size());
  cuda::check(cudaMemcpy(data_, given.data(), given.size(), cudaMemcpyDefault),
              "filling a matrix");
  cuda::check(cudaDeviceSynchronize(), "filling a matrix");
}

void PlacedMatrix::allocate(size_t bytes) {
  switch (kind_) {
    case MemoryKind::pageable:
      data_ = std::malloc(bytes);
      return;
    case MemoryKind::pinned:
      return cuda::check(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable),
                         "allocating");
    case MemoryKind::registered: {  // separate pages: a page can be registered only once
      const auto page = size_t(sysconf(_SC_PAGESIZE));
      data_ = std::aligned_alloc(page, (bytes + page - 1) / page * page);
      return cuda::check(cudaHostRegister(data_, bytes, cudaHostRegisterPortable),
                         "registering");
    }
    case MemoryKind::managed:
      return cuda::check(cudaMallocManaged(&data_, bytes), "allocating");
    case MemoryKind::device:
      return cuda::check(cudaMalloc(&data_, bytes), "allocating");
    case MemoryKind::default_pool:
      return cuda::check(cudaMallocAsync(&data_, bytes, cudaStreamLegacy), "allocating");
    case MemoryKind::own_pool: {
      cudaMemPoolProps properties{};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.location.type = cudaMemLocationTypeDevice;
      properties.location.id = device_;
      cuda::check(cudaMemPoolCreate(&pool_, &properties), "creating a pool");
      return cuda::check(cudaMallocFromPoolAsync(&data_, bytes, pool_, cudaStreamLegacy),
                         "allocating");
    }
  }
}

PlacedMatrix::~PlacedMatrix() {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(device_);
  switch (kind_) {
    case MemoryKind::registered:
      cudaHostUnregister(data_);
      [[fallthrough]];
    case MemoryKind::pageable:
      std::free(data_);
      break;
    case MemoryKind::pinned:
      cudaFreeHost(data_);
      break;
    case MemoryKind::managed:
    case MemoryKind::device:
      cudaFree(data_);
      break;
    case MemoryKind::default_pool:
    case MemoryKind::own_pool:
      cudaFreeAsync(data_, cudaStreamLegacy);
      cudaStreamSynchronize(cudaStreamLegacy);
      if (pool_) cudaMemPoolDestroy(pool_);
      break;
  }
  cudaSetDevice(before);
}

std::vector<std::byte> PlacedMatrix::fetch() const {
  std::vector<std::byte> now(given.size());
  if (kind_ == MemoryKind::pageable ||
      kind_ == MemoryKind::registered) {  // tests can register a part of it
    std::memcpy(now.data(), data_, now.size());
    return now;
  }
  const cuda::DeviceScope scope{
      device_};  // memory of a pool is accessible to its own device only
  cuda::check(cudaMemcpy(now.data(), data_, now.size(), cudaMemcpyDefault),
              "fetching a matrix");
  return now;
}

std::vector<double> PlacedMatrix::values(const std::vector<std::byte>& bytes) const {
  std::vector<double> all;
  all.reserve(size_t(rows * cols));
  for (int64_t j = 0; j < cols; ++j)
    for (int64_t i = 0; i < rows; ++i)
      all.push_back(to_double(&bytes[size_t((i + j * ld) * element_size(dtype))], dtype));
  return all;
}

}  // namespace tilerail::test
