#include "sched/tasks/arena.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/extents.hpp"
#include "model/base/infeasible_error.hpp"

namespace tilerail {

namespace {
constexpr int64_t column_alignment =
    64;  // bytes; below it cuBLAS is slower, f64 down to 0.7 at odd sizes
}  // namespace

int64_t Arena::leading(int64_t rows, int64_t element) {
  const int64_t unit = column_alignment / element;
  return rows <= unit ? std::max<int64_t>(1, rows) : ceil_div(rows, unit) * unit;
}

int64_t Arena::bytes(int64_t rows, int64_t cols, DType dtype) {
  const int64_t element = element_size(dtype);
  return ceil_div(leading(rows, element) * cols * element, alignment) * alignment;
}

Arena::Slot Arena::take(const Buffer& block, const std::function<void()>& make_room,
                        int64_t least) {
  const int64_t size = pooled()
                           ? slot_bytes_
                           : std::max(least, bytes(block.rows, block.cols, block.dtype));
  auto freed = free_.end();
  if (on_demand_)
    freed = std::ranges::find_if(free_, [&](const Slot& s) { return s.bytes >= size; });
  Slot slot;
  if (freed == free_.end() && used_ + size <= capacity_) {
    slot.offset = begin_ + used_, slot.bytes = size;
    used_ += size;
  } else {
    if (free_.empty() && pooled()) make_room();
    if (free_.empty())
      throw InfeasibleError{
          "memory", name_,
          fmt::format("has {} bytes for tiles, too few for {} more", capacity_, size),
          "a smaller tile or a larger memory fraction"};
    if (!on_demand_) freed = free_.begin();
    slot = std::move(*freed);
    free_.erase(freed);
  }
  reuse(slot, block);
  return slot;
}

void Arena::reuse(Slot& slot, Buffer block) {
  block.memory = memory_;
  block.ld = leading(block.rows, block.element());
  block.offset = slot.offset;
  slot.buffer = builder_->add_buffer(block);
}

void Arena::give_back(const Slot& slot, const LastUses& uses) {
  if (pooled() || on_demand_) free_.push_back({{}, slot.offset, slot.bytes, uses});
}

}  // namespace tilerail
