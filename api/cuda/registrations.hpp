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
/// belong to the process, not to a context: if two contexts use one matrix
/// simultaneously, they share one registration, and the last to finish ends it.
class Registrations {
 public:
  static Registrations& of_process();

  /// Keeps a registration alive; the last lease of a range ends it.
  using Lease = std::shared_ptr<void>;
  struct Answer {
    std::vector<Lease> leases;
    std::vector<bool> copyable;  // by range: whether a copy can span it; false if only
                                 // parts are registered
  };

  /// Registers the ranges that are neither registered nor pinned. If the driver refuses a
  /// range, it stays pageable; copies still work. Throws CudaError.
  Answer lease(std::span<const api::AddressRange> ranges);

  /// A lease of a range that was registered here; null for other ranges.
  Lease lease_held(const api::AddressRange& range);

  /// Registers the pages of one range until the lease ends; its end waits for the runs of
  /// `hold` that use it. Throws CudaError if the driver refuses.
  Lease lease_lasting(const api::AddressRange& range);

  /// The same for memory that was allocated page-locked: registers nothing.
  Lease lease_allocated(const api::AddressRange& range);

  /// The unique number of the registration by `lease_lasting` that contains a range, or
  /// nothing if no registration contains it.
  std::optional<uint64_t> number_of(const api::AddressRange& range);

  /// Whether a range is page-locked until its owner ends that: by `lease_lasting`, or by
  /// the caller. False for locks that last only for a call, for example of another
  /// context.
  bool is_lasting(const api::AddressRange& range);

  /// Keeps leases until the present work of the stream, a run, has ended. Throws
  /// CudaError.
  void hold(std::vector<Lease> leases, const StreamOnDevice& stream);

  /// Releases the leases of runs that have ended.
  void drop_ended();

 private:
  struct Entry {
    api::AddressRange pages;
    std::weak_ptr<void> lease;
    bool registered = true;  // false for lease_allocated
    uint64_t number = 0;     // unique for each entry
    int lasting = 0;         // leases of lease_lasting and lease_allocated
  };
  /// A run that keeps its leases until `end`.
  struct SubmittedRun {
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

  std::recursive_mutex mutex_;  // recursive: a lease can end while another is created
  std::list<Entry> entries_;
  uint64_t added_ = 0;
  std::list<SubmittedRun> runs_;
};

}  // namespace tilerail::cuda
