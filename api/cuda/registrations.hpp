#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "api/page_ranges.hpp"
#include "backends/cuda/run/stream_on_device.hpp"
#include "backends/cuda/run/timed_event.hpp"

namespace tilerail::cuda {

/// Host memory that TileRail registered with the driver or allocated. Registrations
/// belong to the process, not to a context: two contexts that use one matrix
/// simultaneously share one, and the last to finish ends it.
class Registrations {
 public:
  static Registrations& of_process();

  /// Keeps registrations alive; the last one to let go of a range ends it.
  using Lease = std::shared_ptr<void>;
  struct Answer {
    std::vector<Lease> leases;
    std::vector<bool> copyable;  // by range: a copy may span it; false where only parts
                                 // of it are registered
  };

  /// Registers the ranges that are neither registered nor pinned. A range that the driver
  /// refuses to register stays pageable, which copies can use, too. Throws CudaError.
  Answer lease(std::span<const api::AddressRange> ranges);

  /// Of a range that was registered here; null where it was not.
  Lease lease_held(const api::AddressRange& range);

  /// Registers the pages of one range until the lease ends, which then waits for the runs
  /// of `hold` that use it. Throws CudaError when the driver refuses.
  Lease lease_lasting(const api::AddressRange& range);

  /// The same for memory that was allocated page-locked: nothing is registered.
  Lease lease_allocated(const api::AddressRange& range);

  /// The unique number of the registration by `lease_lasting` that contains a range, or
  /// nothing if no registration contains it.
  std::optional<uint64_t> number_of(const api::AddressRange& range);

  /// Whether a range is page-locked until its owner ends that: by `lease_lasting`, or by
  /// the caller. What is locked for a call, of another context, say, is not.
  bool is_lasting(const api::AddressRange& range);

  /// Keeps leases until a run has ended: what a stream holds now. Throws CudaError.
  void hold(std::vector<Lease> leases, const StreamOnDevice& stream);

  /// Lets go of the leases of runs that have ended.
  void drop_ended();

 private:
  struct Entry {
    api::AddressRange pages;
    std::weak_ptr<void> lease;
    bool registered = true;  // by lease_allocated: false
    uint64_t number = 0;     // differs for all entries
    int lasting = 0;         // leases of lease_lasting and lease_allocated
  };
  /// Of a run that was handed over.
  struct Held {
    std::vector<Lease> leases;
    std::unique_ptr<PlainEvent> end;
  };

  Entry* entry_of(const api::AddressRange& range);
  Lease held(const api::AddressRange& range);
  Lease add(const api::AddressRange& pages, bool registered);
  Lease lasting(const api::AddressRange& range, Lease lease);
  void end_lasting(const Lease& lease) noexcept;
  int register_pages(const api::AddressRange& pages, Lease& lease);  // a cudaError_t
  void end_expired();

  std::recursive_mutex mutex_;  // a lease that ends while another is made comes back in
  std::list<Entry> entries_;
  uint64_t added_ = 0;
  std::list<Held> runs_;
};

}  // namespace tilerail::cuda
