// Memory for tiles on hosts, with an allocator of the test.
#include "backends/cuda/run/host_arena.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "plan/buffer_start.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/split_hosts.hpp"

namespace tilerail::cuda {
namespace {

class HostArenaTest : public ::testing::Test {
 protected:
  ~HostArenaTest() override { EXPECT_TRUE(held_.empty()) << "memory was not freed"; }

  HostAllocator allocator() {
    return {[this](int64_t bytes) {
              if (full_) throw std::bad_alloc{};
              void* const memory = std::malloc(size_t(bytes));
              held_[static_cast<std::byte*>(memory)] = bytes;
              return memory;
            },
            [this](void* memory) {
              held_.erase(static_cast<std::byte*>(memory));
              std::free(memory);
            }};
  }

  /// The allocation that contains these bytes.
  const std::byte* owner(const std::byte* begin, int64_t bytes) const {
    for (const auto& [start, size] : held_)
      if (start <= begin && begin + bytes <= start + size) return start;
    return nullptr;
  }

  std::map<std::byte*, int64_t> held_;  // allocations and their bytes
  bool full_ = false;
};

Plan staged_plan(const Topology& machine) {
  GemmProblem p;
  p.m = p.n = p.k = 256;
  p.place_a = machine.gpus()[0], p.place_b = machine.gpus()[2],
  p.place_c = machine.gpus()[1];
  Policy policy = any_preset("cublasxt");
  policy.choices.tile = 64;
  return plan_gemm(p, machine, machine.gpus(), policy);
}

TEST_F(HostArenaTest, TilesOfDifferentHostsAreInDifferentAllocations) {
  for (const int hosts : {2, 3}) {
    const Topology machine{small_machine::split_hosts(hosts)};
    const Plan plan = staged_plan(machine);
    HostArenas arenas{allocator()};
    arenas.reserve(plan, machine);
    std::vector<std::byte*> starts;
    for (size_t m = 0; m < plan.memories.size(); ++m)
      starts.push_back(arenas.data(MemoryId{m}));
    std::map<const std::byte*, MemoryId> owners;
    for (const Buffer& buffer : plan.buffers) {
      if (!buffer.in_arena || !machine.is_host(buffer.memory)) continue;
      const std::byte* const start = start_of(buffer, starts, {});
      const std::byte* const allocation =
          owner(start, buffer.ld * buffer.cols * buffer.element());
      ASSERT_NE(allocation, nullptr);
      EXPECT_EQ(owners.try_emplace(allocation, buffer.memory).first->second,
                buffer.memory);
    }
    EXPECT_GE(owners.size(), 2u);
  }
}

TEST_F(HostArenaTest, AnArenaThatCannotGrowStaysUnchanged) {
  HostArena arena{allocator()};
  arena.reserve(100);
  std::byte* const before = arena.data();
  full_ = true;
  EXPECT_THROW(arena.reserve(200), std::bad_alloc);
  EXPECT_EQ(arena.data(), before);
  EXPECT_EQ(owner(before, 100), before) << "the old memory was freed";
  EXPECT_EQ(arena.number(), 1u);
  EXPECT_NO_THROW(arena.reserve(100));
  full_ = false;
  arena.reserve(200);
  EXPECT_EQ(owner(arena.data(), 200), arena.data());
  EXPECT_EQ(arena.number(), 2u);
  EXPECT_EQ(held_.size(), 1u);
}

}  // namespace
}  // namespace tilerail::cuda
