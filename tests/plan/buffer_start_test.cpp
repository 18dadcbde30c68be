// Addresses of buffers: offsets are relative to the start of each memory.
#include "plan/buffer_start.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/split_hosts.hpp"

namespace tilerail {
namespace {

/// Product with A on the first GPU, B on the third (of the second host), and C on the
/// second.
Plan staged_plan(const Topology& machine, const std::string& preset_name,
                 const std::string& override = "") {
  GemmProblem p;
  p.m = p.n = p.k = 256;
  p.place_a = machine.gpus()[0], p.place_b = machine.gpus()[2],
  p.place_c = machine.gpus()[1];
  Policy policy = any_preset(preset_name);
  policy.effort = Effort::fast, policy.choices.tile = 64;
  if (!override.empty()) apply_override(policy, override);
  return plan_gemm(p, machine, machine.gpus(), policy);
}

struct Range {
  const std::byte *begin, *end;
};

/// Tiles of different memories never overlap, and every tile is in the arena of its own
/// memory.
void expect_own_arenas(const Plan& plan) {
  std::vector<std::vector<std::byte>> memories;
  std::vector<std::byte*> arenas;
  for (const int64_t bytes : plan.peak_bytes)
    arenas.push_back(bytes == 0 ? nullptr : memories.emplace_back(size_t(bytes)).data());
  for (const Buffer& buffer : plan.buffers) {
    if (!buffer.in_arena) continue;
    const std::byte* const arena = arenas[buffer.memory.index()];
    const std::byte* const start = start_of(buffer, arenas, {});
    ASSERT_GE(start, arena);
    ASSERT_LE(start + buffer.ld * buffer.cols * buffer.element(),
              arena + plan.peak_bytes[buffer.memory.index()]);
  }
}

TEST(BufferStart, TilesLieInTheArenaOfTheirOwnMemory) {
  for (const int hosts : {2, 3}) {
    const Topology machine{small_machine::split_hosts(hosts)};
    for (const char* preset_name : {"cublasxt", "xkblas", "blasx", "tilerail"}) {
      SCOPED_TRACE(std::to_string(hosts) + " hosts, " + preset_name);
      expect_own_arenas(staged_plan(machine, preset_name, "peer-copies=staged"));
    }
  }
}

TEST(BufferStart, PlansOfTwoHostsStageTilesOnBoth) {
  const Topology machine{small_machine::split_hosts(2)};
  const Plan plan = staged_plan(machine, "cublasxt");
  for (const MemoryId host : machine.hosts()) EXPECT_GT(plan.peak_bytes[host.index()], 0);
}

TEST(BufferStart, BuffersOfMatricesStartAtTheirOffsetInTheMatrix) {
  std::array<std::byte, 3> matrices{};
  const Matrices places{&matrices[0], &matrices[1], &matrices[2]};
  for (const TensorId tensor : {tensor_a, tensor_b, tensor_c}) {
    const Buffer buffer{.tensor = tensor, .in_arena = false, .offset = 16};
    EXPECT_EQ(start_of(buffer, {}, places), &matrices[tensor.index()] + 16);
    EXPECT_EQ(start_of(buffer, {}, {}), nullptr);
  }
}

TEST(BufferStart, AMemoryReadsItsCopyOfAnInput) {
  std::array<std::byte, 2> whole{}, copy{};
  const Matrices places{whole.data(), nullptr, nullptr, {{MemoryId{2}, copy.data()}}, {}};
  Buffer replica{.tensor = tensor_a, .in_arena = false, .memory = MemoryId{2}};
  EXPECT_EQ(start_of(replica, {}, places), copy.data());
  replica.memory = MemoryId{1};
  EXPECT_EQ(start_of(replica, {}, places), whole.data());
}

}  // namespace
}  // namespace tilerail
