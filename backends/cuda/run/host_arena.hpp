#pragma once

#include <cstddef>
#include <cstdint>

namespace tilerail::cuda {

/// Page-locked memory for tiles on hosts, which lives across calls.
class HostArena {
 public:
  HostArena() = default;
  ~HostArena();
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;

  /// Makes it hold at least so many bytes; its old contents are lost then. Throws CudaError.
  void reserve(std::int64_t bytes);
  std::byte* data() const { return data_; }
  /// Another one whenever the memory is.
  std::uint64_t number() const { return number_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace tilerail::cuda
