#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "plan/plan.hpp"

namespace tilerail::cuda {

/// Allocates and frees host memory. `allocate` throws if there is too little memory.
struct HostAllocator {
  std::function<void*(int64_t bytes)> allocate;
  std::function<void(void*)> free;
};

/// Host memory for tiles or slots; it lives across calls.
class HostArena {
 public:
  explicit HostArena(HostAllocator allocator) : allocator_{std::move(allocator)} {}
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  /// Provides at least `bytes`. A larger arena is allocated before the old one is freed,
  /// so that plans that use the old one can still run if `allocate` throws. The contents
  /// are not copied to new memory.
  void reserve(int64_t bytes);
  std::byte* data() const { return data_; }
  /// Unique for every allocation of this arena.
  uint64_t number() const { return number_; }

 private:
  HostAllocator allocator_;
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
  uint64_t number_ = 0;
};

/// The arenas of all hosts. Each host has a separate arena, because the offsets of tiles
/// count from the start of their memory.
class HostArenas {
 public:
  explicit HostArenas(HostAllocator allocator) : allocator_{std::move(allocator)} {}

  /// Provides the bytes for the plan's tiles on each host. Throws the errors of
  /// `allocate`.
  void reserve(const Plan& plan, const Topology& topology);
  /// Null for a host without tiles.
  std::byte* data(MemoryId host) const;
  uint64_t number(MemoryId host) const;

 private:
  HostAllocator allocator_;
  std::map<MemoryId, HostArena> arenas_;
};

}  // namespace tilerail::cuda
