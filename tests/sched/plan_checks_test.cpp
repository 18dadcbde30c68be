// Invalid inputs of planning, and the contents of their errors.
#include "sched/tasks/plan_checks.hpp"

#include <gtest/gtest.h>

#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::testing {
namespace {

TEST(TooManyKernels, NameAGivenTile) {
  const Topology machine = shipped("two-gpu");
  Policy policy = any_preset("gemmex");
  policy.choices.tile = 8;
  expect_error(
      [&] { plan_gemm(cube(8192), machine, machine.gpus(), policy); },
      {.subject = "tile", .value = "8", .expected = "at most 8388608 in a plan"});
  EXPECT_NO_THROW(check_kernel_count(8388608, 8, 8));
}

/// Some megabytes have room only for tiles of 64: 256^3 kernels.
TEST(TooManyKernels, NameTheGpusIfTheirMemoryHoldsOnlySmallTiles) {
  auto description = shipped("two-gpu").description();
  for (const size_t gpu : {1, 2}) description.memories[gpu].capacity = Bytes{0.5e6};
  const Topology machine{std::move(description)};
  expect_input_error(
      [&] { plan_gemm(cube(16384), machine, machine.gpus(), any_preset("gemmex")); },
      {"devices: tiles of 64", "make 16777216 kernels", "a larger tile"});
}

}  // namespace
}  // namespace tilerail::testing
