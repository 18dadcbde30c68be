#include "api/cuda/pointers.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <vector>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {
namespace {

using PointerGetAttribute = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);

/// The driver's function, without linking against the driver.
PointerGetAttribute pointer_get_attribute() {
  static const PointerGetAttribute function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion(
        "cuPointerGetAttribute", &found, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t status = cudaGetDriverEntryPoint("cuPointerGetAttribute", &found,
                                                       cudaEnableDefault, &result);
#endif
    check(status, "looking for cuPointerGetAttribute in the driver");
    if (found == nullptr || result != cudaDriverEntryPointSuccess)
      throw CudaError{"the driver has no cuPointerGetAttribute"};
    return reinterpret_cast<PointerGetAttribute>(found);
  }();
  return function;
}

/// Nothing if the driver has no allocation at the address, or does not have this
/// attribute.
template <class Value>
std::optional<Value> driver_attribute(CUpointer_attribute which, uintptr_t address) {
  Value value{};
  const CUresult result =
      pointer_get_attribute()(&value, which, static_cast<CUdeviceptr>(address));
  return result == CUDA_SUCCESS ? std::optional{value} : std::nullopt;
}

cudaPointerAttributes attributes_of(uintptr_t address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, reinterpret_cast<const void*>(address)),
        "asking where memory lies");
  return attributes;
}

}  // namespace

int device_of(const void* data) {
  const cudaPointerAttributes attributes =
      attributes_of(reinterpret_cast<uintptr_t>(data));
  return attributes.type == cudaMemoryTypeDevice ? attributes.device : -1;
}

HostMemory host_memory(const api::AddressRange& range) {
  const cudaMemoryType first = attributes_of(range.begin).type,
                       last = attributes_of(range.end - 1).type;
  if (first == cudaMemoryTypeUnregistered && last == cudaMemoryTypeUnregistered)
    return HostMemory::pageable;
  if (first != last) return HostMemory::mixed;
  const auto start =
      driver_attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, range.begin);
  const auto bytes =
      driver_attribute<size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, range.begin);
  if (!start || !bytes || *bytes == 0)
    return HostMemory::pinned;  // both ends are pinned; the driver reports no more
  const api::AddressRange known{uintptr_t(*start), uintptr_t(*start) + *bytes};
  if (!known.contains({range.begin, range.begin + 1}))
    return HostMemory::pinned;  // the attributes are of other addresses
  return known.contains(range) ? HostMemory::pinned : HostMemory::mixed;
}

std::optional<uint64_t> allocation_of(const void* data) {
  const auto id = driver_attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                                       reinterpret_cast<uintptr_t>(data));
  return id == 0ULL ? std::nullopt : std::optional<uint64_t>{id};
}

void allow_pool_access(const void* data, std::span<const int> devices) {
  const auto handle = driver_attribute<cudaMemPool_t>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                                      reinterpret_cast<uintptr_t>(data));
  if (!handle || *handle == nullptr) return;
  const int owner = device_of(data);
  std::vector<cudaMemAccessDesc> missing;
  for (const int device : devices) {
    int reachable = 0;
    if (device != owner)
      check(cudaDeviceCanAccessPeer(&reachable, device, owner), "asking for peer access");
    if (!reachable) continue;
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemAccessFlags now{};
    check(cudaMemPoolGetAccess(&now, *handle, &access.location),
          "asking which devices reach a memory pool");
    if (now != cudaMemAccessFlagsProtReadWrite) missing.push_back(access);
  }
  if (missing.empty()) return;
  check(cudaMemPoolSetAccess(*handle, missing.data(), missing.size()),
        "giving devices access to a memory pool");
}

}  // namespace tilerail::cuda
