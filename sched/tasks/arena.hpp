#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "plan/builder.hpp"

namespace tilerail {

/// Plan-time memory of one GPU. If all tiles of a routine fit, every tile has its own
/// memory ("ample"); otherwise the memory is cut in equal slots that are reused
/// ("pooled"). An arena "on demand" is as large as its tiles need: freed memory is reused
/// where a tile fits. Writes to reused memory depend on the last uses of its previous
/// contents.
class Arena {
 public:
  /// `capacity`: bytes for tiles on `memory`, starting at `begin`. `slot_bytes` of 0:
  /// ample.
  Arena(PlanBuilder& builder, MemoryId memory, std::string name, int64_t capacity,
        int64_t slot_bytes, int64_t begin = 0)
      : builder_{&builder},
        memory_{memory},
        name_{std::move(name)},
        capacity_{capacity},
        slot_bytes_{slot_bytes},
        begin_{begin} {}

  static Arena on_demand(PlanBuilder& builder, MemoryId memory) {
    Arena arena{builder, memory, {}, most_matrix_bytes, 0};
    arena.on_demand_ = true;
    return arena;
  }

  struct Slot {
    BufferId buffer;
    int64_t offset = 0, bytes = 0;
    LastUses former;  // last uses of the previous contents
  };

  bool pooled() const { return slot_bytes_ > 0; }
  int64_t slots() const { return capacity_ / slot_bytes_; }
  bool full() const {
    return pooled() && free_.empty() && used_ + slot_bytes_ > capacity_;
  }

  /// Leading dimension of a tile in memory: columns of a kernel's operands should start
  /// at multiples of 64 bytes (docs/model.md#memory).
  static int64_t leading(int64_t rows, int64_t element);

  /// Alignment of a tile's memory in bytes, as CUDA allocations and vector kernels
  /// expect.
  static constexpr int64_t alignment = 256;
  /// Bytes that a tile takes in memory.
  static int64_t bytes(int64_t rows, int64_t cols, DType dtype);

  /// Takes memory for a block of a tensor, at least `least` bytes if it is to be reused.
  /// A full pooled arena calls `make_room`, which frees a slot.
  Slot take(const Buffer& block, const std::function<void()>& make_room,
            int64_t least = 0);
  /// Uses the memory of `slot` for another block that is not larger.
  void reuse(Slot& slot, Buffer block);
  /// Frees memory; its next user waits for `uses`.
  void give_back(const Slot& slot, const LastUses& uses);

  /// High-water mark in bytes.
  int64_t peak() const { return begin_ + used_; }

 private:
  PlanBuilder* builder_;
  MemoryId memory_;
  std::string name_;
  int64_t capacity_, slot_bytes_, begin_, used_ = 0;
  bool on_demand_ = false;
  std::deque<Slot> free_;  // freed longest ago first
};

}  // namespace tilerail
