#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "plan/plan.hpp"

namespace tilerail::cuda {

/// Allocates host memory and frees it. `allocate` throws if there is too little.
struct HostAllocator {
  std::function<void*(int64_t bytes)> allocate;
  std::function<void(void*)> free;
};

/// Host memory for tiles or slots, which lives across calls.
class HostArena {
 public:
  explicit HostArena(HostAllocator allocator) : allocator_{std::move(allocator)} {}
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  /// Provides at least so many bytes. A larger arena is allocated before the old one is
  /// freed, so that plans which use the old one can still run if `allocate` throws. New
  /// memory does not have the contents of the old.
  void reserve(int64_t bytes);
  std::byte* data() const { return data_; }
  /// Differs for every allocation of this arena.
  uint64_t number() const { return number_; }

 private:
  HostAllocator allocator_;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  uint64_t number_ = 0;
};

/// The arenas of all hosts. Each host has its own, because the offsets of tiles count
/// from the start of their memory.
class HostArenas {
 public:
  explicit HostArenas(HostAllocator allocator) : allocator_{std::move(allocator)} {}

  /// Provides the bytes that the tiles of the plan need on each host. Throws what
  /// `allocate` throws.
  void reserve(const Plan& plan, const Topology& topology);
  /// Null for a host without tiles.
  std::byte* data(MemoryId host) const;
  uint64_t number(MemoryId host) const;

 private:
  HostAllocator allocator_;
  std::map<MemoryId, HostArena> arenas_;
};

}  // namespace tilerail::cuda
