#include "backends/cuda/run/staging.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <span>

#include "model/base/error.hpp"
#include "model/base/threads.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/plan_facts.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::cuda {
namespace {

GemmProblem on_host(int64_t m, int64_t n, int64_t k) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k, p.beta = 1;
  p.lda = m + 5, p.ldb = k + 1, p.ldc = m + 3;
  return checked(p);
}

Plan planned(const GemmProblem& problem, const std::string& tile = "tile=48") {
  const Topology machine = test::shipped("two-gpu");
  GemmProblem placed = problem;
  placed.place_a = placed.place_b = placed.place_c = machine.hosts().front();
  Policy policy = any_preset("tilerail");
  policy.effort = Effort::fast;
  apply_override(policy, tile);
  return plan_gemm(placed, machine, machine.gpus(), policy);
}

/// Runs only the copies of a plan, in its order: a fetched tile is compared with the
/// matrix, a tile that is written back contains the number of its operation.
class Copies {
 public:
  Copies(const GemmProblem& problem, size_t slots, int64_t slot_bytes)
      : plan{planned(problem)}, slot_bytes_{slot_bytes}, slots_{slots} {
    std::mt19937_64 random{7};
    for (const Buffer& buffer : plan.buffers) {
      auto& memory = memories_.emplace_back(size_t(buffer.ld * buffer.cols));
      for (double& x : memory) x = std::uniform_real_distribution<double>{-1, 1}(random);
      starts_.push_back(reinterpret_cast<std::byte*>(memory.data()));
    }
    given_ = memories_;
    ring_.resize(2 * slots * size_t(slot_bytes));
  }

  void run(std::array<size_t, 2> threads, size_t stop_after = ~size_t{0}) {
    const StagingChunks chunks{plan, {true, true, true}, starts_, slot_bytes_};
    const auto bytes = size_t(slot_bytes_);
    Staging staging{chunks,
                    {StagingRing{ring_.data(), slots_, bytes},
                     {ring_.data() + slots_ * bytes, slots_, bytes}},
                    [this](Direction, size_t) { return ++waits, true; },
                    threads};
    size_t issued = 0;
    for (size_t i = 0; i < plan.ops.size(); ++i) {
      const StagingChunks::Part part = chunks.of(OpId{i});
      for (size_t c = part.begin; c < part.end; ++c) {
        if (++issued > stop_after) return;
        const StagingChunk& chunk = chunks.of(part.direction)[c];
        EXPECT_LE(chunk.width() * chunk.cols, slot_bytes_);
        auto* const slot = reinterpret_cast<double*>(staging.await(part.direction, c));
        part.direction == Direction::in ? arrive(OpId{i}, chunk, slot)
                                        : leave(OpId{i}, chunk, slot);
        staging.issued(part.direction, c);
      }
    }
    staging.finish();
    expect_c_written();
  }

  std::span<std::byte* const> starts() const { return starts_; }

  Plan plan;
  std::atomic<int> waits{0};
  size_t arrived = 0, wrong = 0;

 private:
  void arrive(OpId op, const StagingChunk& chunk, const double* slot) {
    const View& view = plan.operands_of(plan.op(op))[0];
    const Buffer& buffer = plan.buffer(view.buffer);
    const auto& matrix = given_[view.buffer.index()];
    for (int64_t j = 0; j < chunk.cols; ++j)
      for (int64_t i = 0; i < chunk.rows; ++i, ++arrived)
        wrong += slot[i + j * chunk.rows] !=
                 matrix[size_t(view.row + chunk.row + i +
                               (view.col + chunk.col + j) * buffer.ld)];
  }
  void leave(OpId op, const StagingChunk& chunk, double* slot) {
    const View& view = plan.result(plan.op(op));
    const Buffer& buffer = plan.buffer(view.buffer);
    auto& expected = written_[view.buffer.index()];
    for (int64_t j = 0; j < chunk.cols; ++j)
      for (int64_t i = 0; i < chunk.rows; ++i) {
        slot[i + j * chunk.rows] = double(op.value);
        expected[view.row + chunk.row + i + (view.col + chunk.col + j) * buffer.ld] =
            double(op.value);
      }
  }
  void expect_c_written() {
    const auto& [buffer, expected] = *written_.begin();
    EXPECT_EQ(int64_t(expected.size()), plan.gemm().m * plan.gemm().n)
        << "all of C goes back";
    for (size_t at = 0; at < memories_[buffer].size(); ++at) {
      const auto found = expected.find(int64_t(at));
      ASSERT_EQ(memories_[buffer][at],
                found == expected.end() ? given_[buffer][at] : found->second)
          << at;
    }
  }

  int64_t slot_bytes_;
  size_t slots_;
  std::vector<std::vector<double>> memories_, given_;
  std::vector<std::byte*> starts_;
  std::vector<std::byte> ring_;
  std::map<size_t, std::map<int64_t, double>> written_;  // by buffer
};

TEST(Staging, EveryTileArrivesAndReturnsWithAnyNumberOfSlotsAndThreads) {
  for (const size_t slots : {1u, 2u, 5u, 64u})
    for (const size_t threads : {1u, 4u})
      for (const int64_t slot_bytes : {64, 200, 4096, 1 << 20}) {
        Copies copies{on_host(100, 130, 70), slots, slot_bytes};
        copies.run({threads, threads});
        EXPECT_EQ(copies.wrong, 0u) << slots << " slots of " << slot_bytes;
        EXPECT_GE(copies.arrived, size_t(100 * 70 + 70 * 130 + 100 * 130));
      }
}

TEST(Staging, ASlotIsFilledAgainOnlyAfterItsCopyHasEnded) {
  Copies copies{on_host(100, 130, 70), 3, 4096};
  const StagingChunks chunks{copies.plan, {true, true, true}, copies.starts(), 4096};
  copies.run({2, 2});
  const size_t in = chunks.of(Direction::in).size(),
               out = chunks.of(Direction::out).size();
  EXPECT_EQ(size_t(copies.waits), in - 3 + out);
}

TEST(Staging, EndsWithARunThatStopsHalfway) {
  for (const size_t stop : {0u, 1u, 7u, 20u}) {
    Copies copies{on_host(100, 130, 70), 2, 4096};
    copies.run({3, 3}, stop);
    EXPECT_EQ(copies.wrong, 0u);
  }
}

TEST(Staging, OneFillerAndOneEmptierAreEnough) {
  for (const int started : {2, 3, 5}) {
    Copies copies{on_host(100, 130, 70), 2, 4096};
    const ThreadLimit few{started};
    copies.run({4, 4});
    EXPECT_EQ(copies.wrong, 0u) << started << " threads";
  }
  for (const int started : {0, 1}) {
    Copies copies{on_host(100, 130, 70), 2, 4096};
    const ThreadLimit few{started};
    EXPECT_THROW(copies.run({4, 4}), ThreadShortage) << started << " threads";
  }
}

TEST(Staging, AnErrorOfAThreadEndsTheRun) {
  Copies copies{on_host(100, 130, 70), 2, 4096};
  const StagingChunks chunks{copies.plan, {true, true, true}, copies.starts(), 4096};
  std::vector<std::byte> ring(4 * 4096);
  Staging staging{
      chunks,
      {StagingRing{ring.data(), 2, 4096}, {ring.data() + 8192, 2, 4096}},
      [](Direction, size_t) -> bool { throw ExecutionError{"the copy failed"}; },
      {2, 2}};
  const auto run = [&] {
    for (size_t c = 0; c < chunks.of(Direction::in).size(); ++c)
      staging.await(Direction::in, c), staging.issued(Direction::in, c);
    staging.finish();
  };
  EXPECT_THROW(run(), ExecutionError);
}

TEST(Staging, OnlyMatricesInPageableMemoryAreChunked) {
  const Copies copies{on_host(100, 130, 70), 1, 4096};
  const auto bytes = [&](PageableMatrices pageable, Direction direction) {
    int64_t all = 0;
    const StagingChunks chunks{copies.plan, pageable, copies.starts(), 4096};
    for (const StagingChunk& chunk : chunks.of(direction))
      all += chunk.width() * chunk.cols;
    return all;
  };
  EXPECT_EQ(bytes({false, false, true}, Direction::out), 100 * 130 * 8);
  EXPECT_EQ(bytes({true, true, false}, Direction::out), 0);
  EXPECT_EQ(bytes({true, false, false}, Direction::in) +
                bytes({false, true, true}, Direction::in),
            bytes({true, true, true}, Direction::in));
}

TEST(Staging, IsRefusedForPlansThatReadWrittenPartsOfC) {
  const Topology machine = test::shipped("two-gpu");
  Plan plan = planned(on_host(100, 130, 70));
  EXPECT_TRUE(may_read_ahead(plan, machine));
  const auto back = std::find_if(plan.ops.begin(), plan.ops.end(), [&](const Op& op) {
    return op.kind == OpKind::copy &&
           testing::is_of(plan.buffer(plan.result(op).buffer), tensor_c);
  });
  ASSERT_NE(back, plan.ops.end());
  Op again = *back;
  again.first = uint32_t(plan.operands.size());
  const View to = plan.result(*back), from = plan.operands_of(*back)[0];
  add_operand(plan, to), add_operand(plan, from);
  plan.ops.push_back(again);
  EXPECT_FALSE(may_read_ahead(plan, machine));
}

}  // namespace
}  // namespace tilerail::cuda
