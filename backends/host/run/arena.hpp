#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tilerail::host {

/// Bytes for the tiles of one memory. Grows when a plan needs more, never shrinks.
class Arena {
 public:
  /// Makes room for `bytes`; returns whether the memory is new, so that it must be
  /// touched by the threads it is for. Throws std::bad_alloc.
  bool reserve(int64_t bytes);

  std::byte* data() const { return data_.get(); }
  int64_t size() const { return size_; }

  /// Writes `value` to the part-th of `parts` slices: the first write decides which NUMA
  /// node the pages lie on.
  void fill(int part, int parts, unsigned char value);

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t size_ = 0;
};

}  // namespace tilerail::host
