#include "sched/tasks/arena.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

class Arenas : public ::testing::Test {
 protected:
  static constexpr MemoryId gpu{1};

  const Topology machine = shipped("two-gpu");
  Plan plan = empty_plan(cube(64), machine);
  PlanBuilder builder{plan};

  static void nothing() {}
  const Buffer& buffer(const Arena::Slot& slot) const { return plan.buffer(slot.buffer); }
  LastUses use(int queue) {
    LastUses uses;
    uses.add(builder.copy_queue(MemoryId{0}, gpu, queue), OpId{queue});
    return uses;
  }
  static Buffer block(int64_t rows, int64_t cols, DType dtype) {
    return {.dtype = dtype, .rows = rows, .cols = cols};
  }
  static std::vector<OpId> ops(const Arena::Slot& slot) {
    std::vector<OpId> found;
    for (const auto& [queue, op] : slot.former.all()) found.push_back(op);
    return found;
  }
};

// A column of 10 doubles has 80 bytes and takes 128, the next multiple of 64; 3 columns
// take 384, hence 512, the next multiple of 256. Columns of up to 8 doubles are not
// padded: 3 columns of 5 take 120 bytes, hence 256.
TEST_F(Arenas, AmpleMemoryPlacesTilesOneBehindTheOther) {
  Arena arena{builder, gpu, "gpu0", 1 << 20, 0};
  EXPECT_FALSE(arena.pooled());
  const Arena::Slot first = arena.take(block(10, 3, DType::f64), nothing),
                    second = arena.take(block(5, 3, DType::f64), nothing),
                    third = arena.take(block(1, 1, DType::f32), nothing);
  EXPECT_EQ(buffer(first).offset, 0);
  EXPECT_EQ(buffer(first).ld, 16);
  EXPECT_EQ(buffer(second).offset, 512);
  EXPECT_EQ(buffer(second).ld, 5);
  EXPECT_EQ(buffer(third).offset, 512 + 256);
  EXPECT_EQ(arena.peak(), 512 + 256 + 256);
  EXPECT_EQ(buffer(third).memory, gpu);
  EXPECT_EQ(buffer(third).dtype, DType::f32);
}

TEST_F(Arenas, AmpleMemoryIsNeverUsedTwice) {
  Arena arena{builder, gpu, "gpu0", 1024, 0};
  const Arena::Slot slot = arena.take(block(8, 8, DType::f64), nothing);  // 512 bytes
  arena.give_back(slot, use(0));
  EXPECT_EQ(arena.take(block(8, 8, DType::f64), nothing).offset, 512);
  expect_input_error([&] { arena.take(block(1, 1, DType::f64), nothing); },
                     {"'gpu0'", "1024 bytes", "256 more"});
}

// Three slots of 1,000 bytes after the first 5,000: the slot freed longest ago is reused
// first.
TEST_F(Arenas, SlotsComeBackInTheOrderInWhichTheyWereGiven) {
  Arena arena{builder, gpu, "gpu0", 3500, 1000, 5000};
  EXPECT_TRUE(arena.pooled());
  EXPECT_EQ(arena.slots(), 3);
  std::vector<Arena::Slot> slots;
  for (int i = 0; i < 3; ++i)
    slots.push_back(arena.take(block(4, 4, DType::f64), nothing));
  EXPECT_EQ(slots[0].offset, 5000);
  EXPECT_EQ(slots[2].offset, 7000);
  EXPECT_TRUE(ops(slots[2]).empty());
  arena.give_back(slots[1], use(1)), arena.give_back(slots[0], use(2));
  const Arena::Slot again = arena.take(block(2, 2, DType::f64), nothing),
                    last = arena.take(block(2, 2, DType::f64), nothing);
  EXPECT_EQ(again.offset, 6000);
  EXPECT_THAT(ops(again), ::testing::ElementsAre(OpId{1}))
      << "waits for the last use of what was there";
  EXPECT_EQ(last.offset, 5000);
  EXPECT_THAT(ops(last), ::testing::ElementsAre(OpId{2}));
  EXPECT_EQ(arena.peak(), 8000);
}

TEST_F(Arenas, AFullPoolRequestsRoomOnce) {
  Arena arena{builder, gpu, "gpu0", 2000, 1000};
  const Arena::Slot first = arena.take(block(4, 4, DType::f64), nothing);
  arena.take(block(4, 4, DType::f64), nothing);
  int asked = 0;
  const auto make_room = [&] { ++asked, arena.give_back(first, use(3)); };
  EXPECT_EQ(arena.take(block(4, 4, DType::f64), make_room).offset, 0);
  EXPECT_EQ(asked, 1);
  EXPECT_THROW(arena.take(block(4, 4, DType::f64), nothing), InputError)
      << "nobody gives any back";
}

TEST_F(Arenas, ATileOfAnotherShapeTakesTheSameMemory) {
  Arena arena{builder, gpu, "gpu0", 4096, 2048};
  Arena::Slot slot = arena.take(block(16, 16, DType::f64), nothing);
  const BufferId before = slot.buffer;
  arena.reuse(slot, block(9, 5, DType::f32));
  EXPECT_NE(slot.buffer, before);
  EXPECT_EQ(buffer(slot).offset, 0);
  EXPECT_EQ(buffer(slot).rows, 9);
  EXPECT_EQ(buffer(slot).ld, 9);  // 36 bytes, below 64
}

}  // namespace
}  // namespace tilerail::testing
