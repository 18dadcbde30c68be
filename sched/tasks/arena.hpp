#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "plan/builder.hpp"

namespace tilerail {

/// Plan-time memory of one GPU. While all tiles of a routine fit, every tile gets memory
/// of its own ("ample"); otherwise the memory is cut in equal slots that are taken, given
/// back and taken again ("pooled"). What is written to memory that held something else
/// depends on the last uses of what was there.
class Arena {
 public:
  /// Bytes that tiles may take on `memory`, from `begin` on; `slot_bytes` of 0 makes it
  /// ample.
  Arena(PlanBuilder& builder, MemoryId memory, std::string name, int64_t capacity,
        int64_t slot_bytes, int64_t begin = 0)
      : builder_{&builder},
        memory_{memory},
        name_{std::move(name)},
        capacity_{capacity},
        slot_bytes_{slot_bytes},
        begin_{begin} {}

  struct Slot {
    BufferId buffer;
    int64_t offset = 0;
    LastUses former;  // uses of what the memory held before
  };

  bool pooled() const { return slot_bytes_ > 0; }
  int64_t slots() const { return capacity_ / slot_bytes_; }

  /// Rows that a column of a tile takes in memory: those of a kernel's operands are to
  /// start at multiples of 64 bytes (docs/model.md#memory).
  static int64_t leading(int64_t rows, int64_t element);

  /// What the memory of a tile starts at multiples of, in bytes, as CUDA allocations and
  /// vector kernels expect.
  static constexpr int64_t alignment = 256;
  /// Bytes that a tile takes in memory.
  static int64_t bytes(int64_t rows, int64_t cols, DType dtype);

  /// Memory for a rows x cols tile. A pooled arena that is full calls `make_room`, which
  /// gives a slot back.
  Slot take(int64_t rows, int64_t cols, DType dtype,
            const std::function<void()>& make_room);
  /// A tile of another shape, no larger, in the memory of `slot`.
  void reshape(Slot& slot, int64_t rows, int64_t cols, DType dtype);
  /// Gives memory back; whoever takes it next waits for `uses`.
  void give_back(const Slot& slot, const LastUses& uses);

  /// Bytes of the memory up to the last that was ever taken.
  int64_t peak() const { return begin_ + used_; }

 private:
  PlanBuilder* builder_;
  MemoryId memory_;
  std::string name_;
  int64_t capacity_, slot_bytes_, begin_, used_ = 0;
  std::deque<std::pair<int64_t, LastUses>>
      free_;  // offsets, given back longest ago first
};

}  // namespace tilerail
