#include "sched/arena.hpp"

#include <algorithm>

#include "model/error.hpp"

namespace tilerail {

namespace {
constexpr std::int64_t alignment = 256;  // bytes; what CUDA allocations and vector kernels expect
std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }
}  // namespace

Arena::Slot Arena::take(std::int64_t rows, std::int64_t cols, std::int64_t element,
                        const std::function<void()>& make_room) {
  const std::int64_t bytes = pooled() ? slot_bytes_ : aligned(rows * cols * element);
  Slot slot;
  if (used_ + bytes <= capacity_) {
    slot.offset = used_;
    used_ += bytes;
  } else {
    if (free_.empty() && pooled()) make_room();
    if (free_.empty())
      throw InputError{"memory of '" + name_ + "': " + std::to_string(capacity_) + " bytes for tiles are too few for " +
                       std::to_string(bytes) + " more; use a smaller tile or a larger memory-fraction"};
    slot.offset = free_.front().first;
    slot.former = std::move(free_.front().second);
    free_.pop_front();
  }
  reshape(slot, rows, cols);
  return slot;
}

void Arena::reshape(Slot& slot, std::int64_t rows, std::int64_t cols) {
  slot.buffer =
      builder_->add_buffer({Buffer::Kind::tile, memory_, rows, cols, std::max<std::int64_t>(1, rows), slot.offset});
}

void Arena::give_back(const Slot& slot, const LastUses& uses) {
  if (pooled()) free_.emplace_back(slot.offset, uses);
}

}  // namespace tilerail
