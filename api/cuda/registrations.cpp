#include "api/cuda/registrations.hpp"

#include <fmt/format.h>

#include <cuda_runtime_api.h>

#include "api/cuda/pointers.hpp"
#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

Registrations& Registrations::of_process() {
  static Registrations& registrations = *new Registrations;  // outlives every context, also global ones
  return registrations;
}

Registrations::Lease Registrations::held(const api::AddressRange& range) {
  for (const Entry& entry : entries_)
    if (entry.pages.contains(range))
      if (Lease lease = entry.lease.lock()) return lease;
  return {};
}

int Registrations::register_pages(const api::AddressRange& pages, Lease& lease) {
  auto* const begin = reinterpret_cast<void*>(pages.begin);
  const cudaError_t status = cudaHostRegister(begin, pages.bytes(), cudaHostRegisterPortable);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return status;
  }
  lease = Lease{begin, [this](void*) { end_expired(); }};
  entries_.push_back({pages, lease});
  return cudaSuccess;
}

/// Whoever comes first, the one that let go last or the next one to ask, ends a registration that nobody holds: asking
/// must not take it for the caller's own.
void Registrations::end_expired() {
  const std::lock_guard lock{mutex_};
  entries_.remove_if([](const Entry& entry) {
    if (!entry.lease.expired()) return false;
    if (cudaHostUnregister(reinterpret_cast<void*>(entry.pages.begin)) != cudaSuccess) cudaGetLastError();
    return true;
  });
}

Registrations::Answer Registrations::lease(std::span<const api::AddressRange> ranges) {
  const std::lock_guard lock{mutex_};
  end_expired();
  Answer answer;
  answer.copyable.assign(ranges.size(), true);
  std::vector<api::AddressRange> pageable;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (Lease lease = held(ranges[i])) {
      answer.leases.push_back(std::move(lease));
      continue;
    }
    const HostMemory memory = host_memory(ranges[i]);
    if (memory == HostMemory::mixed) answer.copyable[i] = false;
    if (memory == HostMemory::pageable) pageable.push_back(ranges[i]);
  }
  for (const api::AddressRange& pages : api::covering_pages(pageable, api::page_size())) {
    Lease lease;
    const int status = register_pages(pages, lease);
    if (lease) answer.leases.push_back(std::move(lease));
    if (status != cudaErrorHostMemoryAlreadyRegistered) continue;
    for (std::size_t i = 0; i < ranges.size(); ++i)  // something inside, or on the pages at the ends, is registered
      if (pages.overlaps(ranges[i])) answer.copyable[i] = answer.copyable[i] && bool{held(ranges[i])};
  }
  return answer;
}

Registrations::Lease Registrations::lease_held(const api::AddressRange& range) {
  const std::lock_guard lock{mutex_};
  end_expired();
  return held(range);
}

Registrations::Lease Registrations::lease_strictly(const api::AddressRange& range) {
  const std::lock_guard lock{mutex_};
  end_expired();
  if (Lease lease = held(range)) return lease;
  Lease lease;
  const std::vector<api::AddressRange> one{range};
  const api::AddressRange pages = api::covering_pages(one, api::page_size()).front();
  check(static_cast<cudaError_t>(register_pages(pages, lease)),
        fmt::format("registering {} bytes of host memory", range.bytes()));
  return lease;
}

}  // namespace tilerail::cuda
