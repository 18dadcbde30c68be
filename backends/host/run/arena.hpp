#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tilerail::host {

/// Storage for the tiles of one memory. Grows if a plan needs more, never shrinks.
class Arena {
 public:
  /// Reserves `bytes`; returns whether the memory is new, so that its threads must touch
  /// it first. Throws std::bad_alloc.
  bool reserve(int64_t bytes);

  std::byte* data() const { return data_.get(); }
  int64_t size() const { return size_; }

  /// Writes `value` to the part-th of `parts` slices: the first write determines the NUMA
  /// node of the pages.
  void fill(int part, int parts, unsigned char value);

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t size_ = 0;
};

}  // namespace tilerail::host
