// Times of the routines on vectors on two-gpu: a copy of b bytes between host and GPU
// takes 10 us + b / (10 GB/s), a kernel the time of its operands at 1 TB/s, and at least
// 10 us.

#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

double copy(double elements) { return 10 * us + 8 * elements / 10e9; }
double memory(double elements) { return 8 * elements / 1e12; }

double simulated(const GemmProblem& p, int64_t tile,
                 std::vector<MemoryId> devices = {gpu0}) {
  const Topology machine = two_gpu();
  Policy policy = any_preset("gemmex");
  policy.choices.tile = tile, policy.choices.compute_streams = 1,
  policy.choices.c_tiles = CTiles::eager, policy.choices.order = Order::fifo;
  apply_override(policy, "task-us=0"), apply_override(policy, "request-us=0");
  return SimExecutor{machine}
      .execute(plan_gemm(p, machine, devices, policy))
      .makespan()
      .value;
}

constexpr int64_t T = 1 << 22;

TEST(SimRoutines, AxpyIsAsLongAsItsFetchesAndTheLastTile) {
  expect_time(simulated(axpy_problem(2 * T), T), 4 * copy(T) + memory(3.0 * T) + copy(T));
  GemmProblem scaled = axpy_problem(2 * T);
  // |x0|x1 |x kernel|
  //    |k|y0   |y1|
  // The second write-back waits for the first: they take as long as the fetches.
  scaled.beta = 0;
  expect_time(simulated(scaled, T), copy(T) + memory(2.0 * T) + 2 * copy(T));
}

TEST(SimRoutines, AxpyOnTheGpuTakesTheTimeOfItsKernels) {
  GemmProblem p = axpy_problem(2 * T);
  p.place_a = p.place_c = gpu0;
  expect_time(simulated(p, T), 2 * memory(3.0 * T));
}

TEST(SimRoutines, DotWritesOneElementBack) {
  expect_time(simulated(dot_problem(2 * T), T),
              4 * copy(T) + memory(2.0 * T + 2) + copy(1));
}

TEST(SimRoutines, DotOnTwoGpusSharesTheLinkOfTheHost) {
  // 12 GB/s for both: 10 us + 8 T / (6 GB/s) per copy. Then 8 bytes from GPU 1 at 40 GB/s
  // after 5 us, and an addition.
  const double shared = 10 * us + 8.0 * T / 6e9, sum = 5 * us + 8 / 40e9,
               launch = 10 * us;
  expect_time(simulated(dot_problem(2 * T), T, {gpu0, gpu1}),
              2 * shared + memory(2.0 * T + 2) + sum + launch + copy(1));
}

TEST(SimRoutines, GemvIsAsLongAsTheFetchesOfItsMatrix) {
  constexpr double side = 2048;
  const double kernel = memory(side * side + 3 * side);
  for (const Trans trans : {Trans::no, Trans::yes})
    expect_time(simulated(gemv_problem(4096, 4096, trans), 2048),
                4 * copy(side * side) + 4 * copy(side) + kernel + copy(side));
}

}  // namespace
}  // namespace tilerail::testing
