// A plan takes no more memory than predicted: by the plan itself, for every memory, and
// by the planner, when it decided whether tiles fit.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <optional>

#include "model/base/error.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"

namespace tilerail::testing {
namespace {

/// The first and the last operation, in plan order, that use a buffer.
struct Life {
  size_t first, last;
};

std::map<BufferId, Life> lives(const Plan& plan) {
  std::map<BufferId, Life> found;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    for (const View& view : plan.operands_of(op)) {
      if (view.rows * view.cols == 0) continue;
      const auto [life, is_new] = found.try_emplace(view.buffer, Life{i, i});
      life->second.last = i;
    }
  }
  return found;
}

/// Maximum bytes of tiles in a memory at the same operation, and the end of its last
/// tile.
struct Use {
  int64_t live = 0, end = 0;
};

std::vector<Use> uses(const Plan& plan) {
  std::vector<Use> found(plan.memories.size());
  std::vector<std::map<size_t, int64_t>> changes(plan.memories.size());  // by operation
  for (const auto& [id, life] : lives(plan)) {
    const Buffer& buffer = plan.buffer(id);
    if (!buffer.in_arena) continue;
    const int64_t bytes = buffer.ld * buffer.cols * element_size(buffer.dtype);
    Use& use = found[buffer.memory.index()];
    use.end = std::max(use.end, buffer.offset + bytes);
    changes[buffer.memory.index()][life.first] += bytes,
        changes[buffer.memory.index()][life.last + 1] -= bytes;
  }
  for (size_t m = 0; m < found.size(); ++m) {
    int64_t now = 0;
    for (const auto& [op, change] : changes[m])
      now += change, found[m].live = std::max(found[m].live, now);
  }
  return found;
}

/// The plan, or nothing if the planner reported in advance that tiles do not fit.
std::optional<Plan> planned(const Case& c, const Topology& machine) {
  try {
    return plan_gemm(c.problem, machine, c.devices, c.policy);
  } catch (const InputError& error) {
    RC_ASSERT(error.subject != "memory");  // of an arena that is full during planning
    return std::nullopt;
  }
}

TEST(Memory, NoPlanExceedsThePredictedMemory) {
  size_t plans = 0, full = 0;
  EXPECT_TRUE(rc::check("tiles lie within the memory that was predicted for them", [&] {
    const int gpus = *rc::gen::inRange(1, 6);
    Case c = random_case(gpus, {DType::f64, DType::f32, DType::bf16});
    c.policy.effort = Effort::fast;
    RC_LOG() << describe(c) << std::endl;
    std::vector<int64_t> capacities;
    for (int gpu = 0; gpu < gpus; ++gpu)
      capacities.push_back(*rc::gen::inRange<int64_t>(2'000, 10'000));
    c.policy.choices.memory_fraction = pick({0.5, 0.9, 1.0});
    const Topology machine = test_machine(capacities);
    const std::optional<Plan> plan = planned(c, machine);
    if (!plan) return;
    const std::vector<Use> found = uses(*plan);
    for (size_t m = 0; m < found.size(); ++m) {
      RC_ASSERT(found[m].end <= plan->peak_bytes[m]);
      RC_ASSERT(found[m].live <= plan->peak_bytes[m]);
      if (const auto capacity = machine.memories()[m].capacity) {
        RC_ASSERT(double(plan->peak_bytes[m]) <=
                  c.policy.choices.memory_fraction * capacity->value);
        full += double(plan->peak_bytes[m]) >
                0.8 * c.policy.choices.memory_fraction * capacity->value;
      }
    }
    ++plans;
  }));
  EXPECT_GT(20 * full, plans) << "few plans come near what they may take";
}

}  // namespace
}  // namespace tilerail::testing
