#include <gtest/gtest.h>

#include <array>

#include "model/base/error.hpp"
#include "plan/validate.hpp"
#include "sched/factor/factor_planner.hpp"
#include "sched/factor/factor_tasks.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/plan_draft.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {
namespace {

FactorProblem matrix(int64_t m, int64_t n) {
  return {.kind = FactorProblem::Kind::geqrf, .m = m, .n = n};
}

std::array<int, op_kind_count> kernels_of(int64_t m, int64_t n, int64_t tile) {
  const TaskGraph graph = geqrf_tasks({checked(matrix(m, n)), tile, tile, {}});
  std::array<int, op_kind_count> counts{};
  for (size_t t = 0; t < graph.size(); ++t)
    ++counts[size_t(graph.task(TaskId{t}).op.kind)];
  return counts;
}

void expect_kernels(const std::array<int, op_kind_count>& counts, int geqrt, int ormqr,
                    int tsqrt, int tsmqr) {
  EXPECT_EQ(counts[size_t(OpKind::geqrt)], geqrt);
  EXPECT_EQ(counts[size_t(OpKind::ormqr)], ormqr);
  EXPECT_EQ(counts[size_t(OpKind::tsqrt)], tsqrt);
  EXPECT_EQ(counts[size_t(OpKind::tsmqr)], tsmqr);
}

/// Step k of p x q tiles: one geqrt, q - 1 - k ormqr, p - 1 - k tsqrt, and their product
/// of tsmqr.
TEST(GeqrfTasks, MatchTheCountsOfTheFormulas) {
  expect_kernels(kernels_of(48, 48, 16), 3, 2 + 1, 2 + 1, 4 + 1);
  expect_kernels(kernels_of(60, 31, 16), 2, 1, 3 + 2, 3);
  expect_kernels(kernels_of(16, 40, 16), 1, 2, 0, 0);
  expect_kernels(kernels_of(5, 7, 16), 1, 0, 0, 0);
  expect_kernels(kernels_of(0, 7, 16), 0, 0, 0, 0);
}

/// Tasks of 2 x 2 tiles: 0 geqrt of (0, 0), 1 ormqr of (0, 1), 2 tsqrt of (0, 0) and (1,
/// 0), 3 tsmqr of (0, 1) and (1, 1), 4 geqrt of (1, 1).
TEST(GeqrfTasks, EveryWrittenTileMakesEdges) {
  const TaskGraph graph = geqrf_tasks({checked(matrix(32, 32)), 16, 16, {}});
  ASSERT_EQ(graph.size(), 5u);
  const auto follows = [&](size_t before, size_t after) {
    const auto next = graph.successors(TaskId{before});
    return std::ranges::find(next, TaskId{after}) != next.end();
  };
  EXPECT_TRUE(follows(0, 1)) << "reads V and T";
  EXPECT_TRUE(follows(0, 2)) << "writes R again";
  EXPECT_TRUE(follows(1, 2)) << "read the tile that tsqrt writes";
  EXPECT_TRUE(follows(1, 3)) << "wrote the upper tile";
  EXPECT_TRUE(follows(2, 3)) << "reads V and T";
  EXPECT_TRUE(follows(3, 4)) << "wrote the lower tile";
  EXPECT_FALSE(graph.task(TaskId{0}).last) << "tsqrt writes R";
  EXPECT_TRUE(graph.task(TaskId{0}).also_writes[0].last) << "of T";
  EXPECT_TRUE(graph.task(TaskId{2}).also_writes[1].last) << "of R";
  EXPECT_TRUE(graph.task(TaskId{3}).also_writes[0].last);
  EXPECT_FALSE(graph.task(TaskId{3}).last);
}

Plan plan_of(const FactorProblem& problem, const FactorOptions& options) {
  const Topology machine = test::shipped("two-gpu");
  return plan_factorisation(problem, machine, machine.gpus(), options);
}

/// Operands whose columns, or rows, are determined by the others.
TEST(GeqrfPlan, ViewsOfOtherShapesAreRefused) {
  struct Change {
    OpKind kind;
    size_t operand;
    int64_t View::*extent;
  };
  using enum OpKind;
  for (const Change& change : {Change{geqrt, 0, &View::cols},
                               {geqrt, 1, &View::rows},
                               {geqrt, 1, &View::cols},
                               {ormqr, 0, &View::rows},
                               {ormqr, 0, &View::cols},
                               {ormqr, 1, &View::cols},
                               {ormqr, 2, &View::rows},
                               {tsqrt, 0, &View::cols},
                               {tsqrt, 1, &View::rows},
                               {tsqrt, 1, &View::cols},
                               {tsqrt, 2, &View::cols},
                               {tsmqr, 0, &View::rows},
                               {tsmqr, 0, &View::cols},
                               {tsmqr, 1, &View::cols},
                               {tsmqr, 2, &View::rows},
                               {tsmqr, 2, &View::cols},
                               {tsmqr, 3, &View::rows},
                               {tsmqr, 3, &View::cols}}) {
    Plan plan = plan_of(matrix(32, 32), {.tile = 16, .reflectors = 4});
    validate(plan);
    const auto op = std::ranges::find(plan.ops, change.kind, &Op::kind);
    ASSERT_NE(op, plan.ops.end());
    View& view = operand(plan, size_t(op - plan.ops.begin()), change.operand);
    --(view.*change.extent);
    expect_input_error([&] { validate(plan); }, {"its views have different shapes"});
  }
}

TEST(GeqrfPlan, HalvesAreRefused) {
  Plan plan = plan_of(matrix(16, 16), {.tile = 16});
  std::get<FactorProblem>(plan.problem).dtype = DType::f32;
  for (const DType dtype : {DType::f32, DType::f16}) {
    for (Tensor& tensor : plan.tensors) tensor.dtype = dtype;
    for (Buffer& buffer : plan.buffers) buffer.dtype = dtype;
    if (dtype == DType::f32)
      EXPECT_NO_THROW(validate(plan));
    else
      expect_input_error([&] { validate(plan); }, {"its views have different types"});
  }
}

/// Only Q and R, not what T contained, is copied from the host.
TEST(GeqrfPlan, TIsNeverFetchedBeforeItIsWritten) {
  const Plan plan = plan_of(matrix(64, 64), {.tile = 16});
  int from_host = 0, home = 0;
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::copy || plan.buffer(plan.result(op).buffer).tensor.value != 1)
      continue;
    from_host += int(plan.queue(op.queue).src == MemoryId{0});
    home += int(plan.queue(op.queue).dst == MemoryId{0});
  }
  EXPECT_EQ(from_host, 0);
  EXPECT_EQ(home, 4 + 3 + 2 + 1) << "tiles on and below the diagonal";
}

TEST(GeqrfPlan, BadOptionsAreRefused) {
  expect_input_error([] { plan_of(matrix(64, 64), {.tile = 0}); },
                     {"tile: '0'", "at least 1"});
  expect_input_error([] { plan_of(matrix(64, 64), {.tile = 8, .reflectors = -1}); },
                     {"reflectors: '-1'", "at least 0"});
  expect_input_error([] { plan_of(matrix(1 << 20, 1 << 20), {.tile = 1024}); },
                     {"tile: '1024'", "kernels"});
  FactorProblem half = matrix(64, 64);
  half.dtype = DType::bf16;
  expect_input_error([&] { plan_of(half, {.tile = 8}); },
                     {"dtype: 'bf16'", "f64 or f32"});
  FactorProblem wide{.m = 4, .n = 5};
  expect_input_error([&] { plan_of(wide, {.tile = 8}); }, {"n: '5'", "4, as m"});
}

}  // namespace
}  // namespace tilerail::testing
