#include "api/cuda/registrations.hpp"

#include <fmt/format.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/cuda/pointers.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "model/base/contains.hpp"
#include "model/base/indices.hpp"

namespace tilerail::cuda {

Registrations& Registrations::of_process() {
  static Registrations& registrations =
      *new Registrations;  // outlives every context, also global ones
  return registrations;
}

Registrations::Entry* Registrations::entry_of(const api::AddressRange& range) {
  for (Entry& entry : entries_)
    if (entry.pages.contains(range) && !entry.lease.expired()) return &entry;
  return nullptr;
}

Registrations::Lease Registrations::held(const api::AddressRange& range) {
  const Entry* const entry = entry_of(range);
  return entry ? entry->lease.lock() : Lease{};
}

int Registrations::register_pages(const api::AddressRange& pages, Lease& lease) {
  auto* const begin = reinterpret_cast<void*>(pages.begin);
  const cudaError_t status =
      cudaHostRegister(begin, pages.bytes(), cudaHostRegisterPortable);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return status;
  }
  lease = add(pages, true);
  return cudaSuccess;
}

Registrations::Lease Registrations::add(const api::AddressRange& pages, bool registered) {
  Lease lease{reinterpret_cast<void*>(pages.begin), [this](void*) { end_expired(); }};
  entries_.push_back({pages, lease, registered, ++added_});
  return lease;
}

/// Ends registrations without holders. The last holder and the next query both call it,
/// so that a query does not mistake such a registration for the caller's own.
void Registrations::end_expired() {
  const std::lock_guard lock{mutex_};
  entries_.remove_if([](const Entry& entry) {
    if (!entry.lease.expired()) return false;
    if (entry.registered &&
        cudaHostUnregister(reinterpret_cast<void*>(entry.pages.begin)) != cudaSuccess)
      cudaGetLastError();
    return true;
  });
}

Registrations::Answer Registrations::lease(std::span<const api::AddressRange> ranges) {
  const std::lock_guard lock{mutex_};
  end_expired();
  Answer answer;
  answer.copyable.assign(ranges.size(), true);
  std::vector<api::AddressRange> pageable;
  for (const auto i : indices(ranges)) {
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
    for (const auto i :
         indices(ranges))  // pages inside, or at the ends, are already registered
      if (pages.overlaps(ranges[i]))
        answer.copyable[i] = answer.copyable[i] && bool{held(ranges[i])};
  }
  return answer;
}

Registrations::Lease Registrations::lease_held(const api::AddressRange& range) {
  const std::lock_guard lock{mutex_};
  end_expired();
  return held(range);
}

Registrations::Lease Registrations::lease_lasting(const api::AddressRange& range) {
  const std::lock_guard lock{mutex_};
  end_expired();
  Lease lease = held(range);
  if (!lease) {
    const std::vector<api::AddressRange> one{range};
    const api::AddressRange pages = api::covering_pages(one, api::page_size()).front();
    check(static_cast<cudaError_t>(register_pages(pages, lease)),
          fmt::format("registering {} bytes of host memory", range.bytes()));
  }
  return lasting(range, std::move(lease));
}

Registrations::Lease Registrations::lease_allocated(const api::AddressRange& range) {
  const std::lock_guard lock{mutex_};
  end_expired();
  return lasting(range, add(range, false));
}

/// A lasting lease of the entry that `lease` keeps.
Registrations::Lease Registrations::lasting(const api::AddressRange& range, Lease lease) {
  ++entry_of(range)->lasting;
  void* const begin = lease.get();
  return Lease{begin, [this, lease = std::move(lease)](void*) { end_lasting(lease); }};
}

std::optional<uint64_t> Registrations::number_of(const api::AddressRange& range) {
  const std::lock_guard lock{mutex_};
  const Entry* const entry = entry_of(range);
  return entry && entry->registered && entry->lasting > 0 ? std::optional{entry->number}
                                                          : std::nullopt;
}

/// Waits for the runs that use the pages, also if other registrations last: the caller
/// can free the memory afterwards. Releases the lock meanwhile, because calls that the
/// runs wait for may need it.
void Registrations::end_lasting(const Lease& lease) noexcept {
  std::list<SubmittedRun> users;
  {
    const std::lock_guard lock{mutex_};
    // By owner: locking a weak_ptr here could create the last lease of its entry, whose
    // end would remove the entry during the loop.
    const auto is_of = [&](const Entry& entry) {
      return !entry.lease.owner_before(lease) && !lease.owner_before(entry.lease);
    };
    const auto entry = std::ranges::find_if(entries_, is_of);
    if (entry != entries_.end()) --entry->lasting;
    for (auto run = runs_.begin(); run != runs_.end();) {
      const auto next = std::next(run);
      if (contains(run->leases, lease)) users.splice(users.end(), runs_, run);
      run = next;
    }
  }
  for (const SubmittedRun& run : users)
    if (cudaEventSynchronize(*run.end) != cudaSuccess)
      cudaGetLastError();  // the run's own calls report the error
}

bool Registrations::is_lasting(const api::AddressRange& range) {
  const std::lock_guard lock{mutex_};
  end_expired();
  const bool for_a_call = std::ranges::any_of(entries_, [&](const Entry& entry) {
    return entry.lasting == 0 && entry.pages.overlaps(range);
  });
  return !for_a_call && host_memory(range) == HostMemory::pinned;
}

void Registrations::hold(std::vector<Lease> leases, const StreamOnDevice& stream) {
  if (leases.empty()) return;
  const DeviceScope scope{stream.device};
  auto end = std::make_unique<PlainEvent>();
  check(cudaEventRecord(*end, stream.stream), "recording an event");
  drop_ended();
  const std::lock_guard lock{mutex_};
  runs_.push_back({std::move(leases), std::move(end)});
}

void Registrations::drop_ended() {
  std::list<SubmittedRun> ended;  // their leases end without the lock
  const std::lock_guard lock{mutex_};
  for (auto run = runs_.begin(); run != runs_.end();) {
    const auto next = std::next(run);
    if (const cudaError_t status = cudaEventQuery(*run->end); status != cudaErrorNotReady)
      ended.splice(ended.end(), runs_, run);
    else
      cudaGetLastError();
    run = next;
  }
}

}  // namespace tilerail::cuda
